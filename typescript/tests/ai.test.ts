// The AI SDK with scripted models, against a real memoryd.

import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, isStepCount, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Client, InvalidArgument, Unreachable } from "@memoryd/client";
import { memoryTools, preloadMemory } from "@memoryd/client/ai";
import { newApp } from "./server.ts";

type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

const client = new Client();

/** What a model answers: a text, or the call of a tool. */
function answer(part: { text: string } | { tool: string; input: object }): Result {
  const content: Result["content"] =
    "text" in part
      ? [{ type: "text", text: part.text }]
      : [{ type: "tool-call", toolCallId: "c1", toolName: part.tool, input: JSON.stringify(part.input) }];
  return {
    content,
    finishReason: { unified: "text" in part ? "stop" : "tool-calls", raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  };
}

test("a model remembers, and recalls in another conversation", async () => {
  const app = newApp();
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools }) => {
      assert.deepEqual(tools?.map(({ name }) => name), ["load_memory", "remember"]);
      const last = prompt.at(-1)!;
      if (last.role === "tool") return answer({ text: JSON.stringify(last.content) });
      const text = JSON.stringify(last.content);
      return text.includes("?")
        ? answer({ tool: "load_memory", input: { query: "allergies" } })
        : answer({ tool: "remember", input: { fact: "I am allergic to peanuts." } });
    },
  });
  const tools = await memoryTools(client, app, "ann", { names: ["load_memory", "remember"] });
  const ask = async (prompt: string) => (await generateText({ model, tools, prompt, stopWhen: isStepCount(2) })).text;
  await ask("I am allergic to peanuts.");
  assert.match(await ask("What am I allergic to?"), /I am allergic to peanuts/);
  await assert.rejects(memoryTools(client, app, "ann", { names: ["fly"] }), InvalidArgument);
  assert.throws(() => preloadMemory(client.user(app, "ann"), { onerror() {} } as object), /no option "onerror"/);
  assert.deepEqual(Object.keys(await memoryTools(client, app, "ann")), ["search_memory"]);
});

test("memories stand before the user's latest turn", async () => {
  const app = newApp();
  const ann = client.user(app, "ann");
  await ann.addMemory("I am allergic to peanuts.");
  const inner = new MockLanguageModelV4({ doGenerate: async () => answer({ text: "ok" }) });
  const model = wrapLanguageModel({ model: inner, middleware: preloadMemory(ann) });
  const { text } = await generateText({
    model,
    messages: [
      { role: "user", content: "Hello!" },
      { role: "assistant", content: "Good morning." },
      { role: "user", content: "What am I allergic to?" },
    ],
  });
  assert.equal(text, "ok");
  const prompt = inner.doGenerateCalls[0]!.prompt;
  assert.deepEqual(prompt.map(({ role }) => role), ["user", "assistant", "user"]);
  const [first, , last] = prompt.map(({ content }) => content as { type: string; text: string }[]);
  assert.equal(first!.length, 1);
  assert.match(last![0]!.text, /<PAST_CONVERSATIONS>[^]*peanuts[^]*<\/PAST_CONVERSATIONS>/);
  assert.equal(last![1]!.text, "What am I allergic to?");

  // Nothing is put before it if there is nothing to say.
  const other = wrapLanguageModel({ model: inner, middleware: preloadMemory(client.user(app, "bob")) });
  await generateText({ model: other, prompt: "What am I allergic to?" });
  assert.equal((inner.doGenerateCalls[1]!.prompt[0]!.content as unknown[]).length, 1);

  // A long turn is cut between characters.
  await generateText({ model, prompt: "a".repeat(3999) + "😀 and so on" });
});

test("a memoryd that is away", async () => {
  const away = new Client("http://127.0.0.1:1", { retries: 0 }).user("shop", "ann");
  const inner = new MockLanguageModelV4({ doGenerate: async () => answer({ text: "ok" }) });
  const strict = wrapLanguageModel({ model: inner, middleware: preloadMemory(away) });
  await assert.rejects(generateText({ model: strict, prompt: "Hello!", maxRetries: 0 }), Unreachable);
  const errors: unknown[] = [];
  const middleware = preloadMemory(away, { onError: (error) => errors.push(error) });
  const { text } = await generateText({ model: wrapLanguageModel({ model: inner, middleware }), prompt: "Hello!" });
  assert.equal(text, "ok");
  assert.ok(errors[0] instanceof Unreachable);
});
