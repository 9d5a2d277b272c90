// Two runs of an agent that stores and searches memories by itself.

import { Agent, run, setTracingDisabled, Usage } from "@openai/agents";
import type { Model, ModelRequest, ModelResponse } from "@openai/agents";
import { Client } from "@memoryd/client";
import { memoryTools } from "@memoryd/client/openai-agents";

/** A scripted model, which calls a tool and then tells of its answer. Leave it out to ask OpenAI. */
class Script implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const last = (input as any[]).at(-1);
    if (last.type !== "function_call_result") {
      const asks = last.content.endsWith("?");
      const args = asks ? { query: last.content } : { fact: last.content };
      return answer({ type: "function_call", callId: "c1", name: asks ? "search_memory" : "remember", args });
    }
    const [found] = last.name === "search_memory" ? JSON.parse(last.output.text).memories : [];
    const text = found ? `You told me: ${found.fact}` : "I'll keep that in mind.";
    return answer({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
  }

  getStreamedResponse(): never {
    throw new Error("there is no stream");
  }
}

function answer({ args, ...item }: Record<string, unknown>): ModelResponse {
  const output: any = { status: "completed", ...item, ...(args ? { arguments: JSON.stringify(args) } : {}) };
  return { usage: new Usage(), output: [output] };
}

setTracingDisabled(true);
const tools = await memoryTools(new Client(), "demo", "ida", { names: ["remember", "search_memory"] });
const agent = new Agent({ name: "assistant", model: new Script(), tools });
for (const said of ["My parrot is called Kiko.", "What is my parrot called?"]) {
  console.log("user:", said);
  console.log("assistant:", (await run(agent, said)).finalOutput);
}
