// Two runs of an agent with one session: the second goes on where the first has ended.

import { Agent, run, setTracingDisabled, Usage } from "@openai/agents";
import type { Model, ModelRequest, ModelResponse } from "@openai/agents";
import { MemorydSession } from "@memoryd/client/openai-agents";

/** A scripted model, which repeats what the user said first. Leave it out to ask OpenAI. */
class Script implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const [first, ...later] = typeof input === "string" ? [] : input;
    const said = first && "content" in first ? first.content : "";
    const text = later.length > 0 ? `You told me: ${said}` : "I'll keep that in mind.";
    const content = [{ type: "output_text" as const, text }];
    return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content }] };
  }

  getStreamedResponse(): never {
    throw new Error("there is no stream");
  }
}

setTracingDisabled(true);
const agent = new Agent({ name: "assistant", model: new Script() });
for (const said of ["My cat is called Luna.", "What is my cat called?"]) {
  const session = new MemorydSession("demo", "eva", "s1");
  console.log("user:", said);
  console.log("assistant:", (await run(agent, said, { session })).finalOutput);
}
