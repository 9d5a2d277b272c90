// Two sessions: the agent recalls in the second a fact from the first.

import { BaseLlm, LlmAgent, LOAD_MEMORY, Runner } from "@google/adk";
import type { LlmRequest, LlmResponse } from "@google/adk";
import { MemoryService, SessionService } from "@memoryd/client/adk";

/** A scripted model: it searches memory for each question and repeats the user's first match. */
class Script extends BaseLlm {
  async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const part = request.contents.at(-1)!.parts![0]!;
    if (part.functionResponse) {
      const { memories } = part.functionResponse.response as any;
      const found = memories.find((memory: any) => memory.author === "user");
      yield says({ text: found ? `You told me: ${found.content}` : "I don't know." });
    } else if (part.text!.endsWith("?")) {
      yield says({ functionCall: { name: "load_memory", args: { query: part.text } } });
    } else {
      yield says({ text: "I'll keep that in mind." });
    }
  }

  connect(): never {
    throw new Error("there is no live connection");
  }
}

const says = (part: object): LlmResponse => ({ content: { role: "model", parts: [part] } });

const sessionService = new SessionService();
const memoryService = new MemoryService(undefined, { wait: true });
const agent = new LlmAgent({ name: "assistant", model: new Script({ model: "script" }), tools: [LOAD_MEMORY] });
const runner = new Runner({ appName: "demo", agent, sessionService, memoryService });

for (const text of ["My daughter Ines is allergic to peanuts.", "What is Ines allergic to?"]) {
  const owner = { appName: "demo", userId: "nora@example.com" };
  const { id: sessionId, userId, appName } = await sessionService.createSession(owner);
  console.log("user:", text);
  for await (const event of runner.runAsync({ userId, sessionId, newMessage: { role: "user", parts: [{ text }] } })) {
    const part = event.content?.parts?.[0];
    if (part?.functionCall) console.log(`${event.author} looks up:`, part.functionCall.args!["query"]);
    if (part?.text) console.log(`${event.author}:`, part.text);
  }
  await memoryService.addSessionToMemory((await sessionService.getSession({ appName, userId, sessionId }))!);
}
