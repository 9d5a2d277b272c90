// Two chats with the AI SDK: the model is told in the second what the user said in the first.

import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Client } from "@memoryd/client";
import { preloadMemory } from "@memoryd/client/ai";

/** A scripted model, which repeats the first memory that it is told. Put your own in its place. */
const scripted = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const [first] = prompt.at(-1)!.content as { text: string }[];
    const known = /^user: (.*)$/m.exec(first!.text)?.[1];
    return {
      content: [{ type: "text", text: known ? `You told me: ${known}` : "I'll keep that in mind." }],
      finishReason: { unified: "stop", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    };
  },
});

const mia = new Client().user("demo", "mia@example.com");
const model = wrapLanguageModel({ model: scripted, middleware: preloadMemory(mia) });

for (const [chat, prompt] of Object.entries({ c1: "I am allergic to peanuts.", c2: "What am I allergic to?" })) {
  console.log("user:", prompt);
  const { text } = await generateText({ model, prompt });
  console.log("assistant:", text);
  const turns = [
    { author: "user", content: prompt },
    { author: "assistant", content: { role: "model", parts: [{ text }] } },
  ];
  await mia.ingest(chat, turns, { wait: true });
}
