// Sessions of the Agents SDK, with a scripted model, against a real memoryd.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, run, RunContext, setTracingDisabled, Usage } from "@openai/agents";
import type { AgentInputItem, Model, ModelRequest, ModelResponse } from "@openai/agents";
import { Client } from "@memoryd/client";
import { memoryTools, MemorydSession } from "@memoryd/client/openai-agents";
import { newApp } from "./server.ts";

setTracingDisabled(true);
const client = new Client();
const says = (text: string): AgentInputItem => ({ role: "user", content: text });

test("items come back as they were added, and the last one can be taken back", async () => {
  const app = newApp();
  const session = new MemorydSession(app, "ann", "s1", { client });
  assert.equal(await session.getSessionId(), "s1");
  assert.deepEqual(await session.getItems(), []);
  assert.equal(await session.popItem(), undefined);
  const items: AgentInputItem[] = [
    says("I live in Porto."),
    { type: "function_call", callId: "c1", name: "weather", arguments: '{"city":"Porto"}' },
    { type: "function_call_result", callId: "c1", name: "weather", status: "completed", output: "sunny" },
    { role: "assistant", status: "completed", content: [{ type: "output_text", text: "It is sunny." }] },
  ];
  await session.addItems(items);
  await session.addItems([]);
  assert.deepEqual(await session.getItems(), items);
  assert.deepEqual(await session.getItems(2), items.slice(2));
  assert.deepEqual(await session.getItems(0), []);
  assert.deepEqual(await session.popItem(), items[3]);
  assert.deepEqual(await session.popItem(), items[2]);
  await session.addItems([says("Thank you.")]);
  assert.deepEqual(await session.getItems(), [...items.slice(0, 2), says("Thank you.")]);
  assert.deepEqual(await session.getItems(1), [says("Thank you.")]);
  const other = new MemorydSession(app, "bob", "s1", { client });
  assert.deepEqual(await other.getItems(), []);
  const found = await client.user(app, "ann").search("Where do I live?");
  assert.match(found[0]!.memory.fact, /Porto/);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
});

test("a session of which nothing is remembered", async () => {
  const app = newApp();
  const session = new MemorydSession(app, "ann", "s1", { client, remember: false });
  await session.addItems([says("I live in Porto.")]);
  await session.addItems([says("I love the trams.")]);
  assert.deepEqual(await session.popItem(), says("I love the trams."));
  assert.deepEqual(await session.getItems(), [says("I live in Porto.")]);
  assert.deepEqual(await client.user(app, "ann").search("Where do I live?"), []);
});

test("several that take back at once get an item each", async () => {
  const session = new MemorydSession(newApp(), "ann", "s1", { client, remember: false });
  const items = ["0", "1", "2", "3"].map(says);
  await session.addItems(items);
  const taken = await Promise.all([session.popItem(), session.popItem(), session.popItem()]);
  assert.deepEqual(taken.map((item) => JSON.stringify(item)).sort(), items.slice(1).map((i) => JSON.stringify(i)));
  assert.deepEqual(await session.getItems(), items.slice(0, 1));
});

/** A scripted model, which answers with the number of items that it is shown. */
class Script implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const text = typeof input === "string" ? "1" : String(input.length);
    return {
      usage: new Usage(),
      output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }],
    };
  }

  getStreamedResponse(): never {
    throw new Error("there is no stream");
  }
}

test("an agent goes on with its session in another run", async () => {
  const app = newApp();
  const agent = new Agent({ name: "assistant", model: new Script() });
  for (const [said, seen] of [["I live in Porto.", "1"], ["Where do I live?", "3"]] as const) {
    const session = new MemorydSession(app, "ann", "s1");
    const { finalOutput } = await run(agent, said, { session });
    assert.equal(finalOutput, seen);
  }
});

test("a model remembers and searches with tools", async () => {
  const app = newApp();
  const all = (await client.listTools()).tools;
  const tools = await memoryTools(client, app, "ann", { names: all.map(({ function: f }) => f.name) });
  const declared = all.map(({ function: f }) => [f.name, f.description, f.parameters]);
  assert.deepEqual(tools.map(({ name, description, parameters }) => [name, description, parameters]), declared);
  const call = async (name: string, args: object): Promise<any> => {
    const tool = tools.find((t) => t.name === name)!;
    return JSON.parse((await tool.invoke(new RunContext(), JSON.stringify(args))) as string);
  };
  await call("remember", { fact: "I am allergic to peanuts." });
  assert.match(JSON.stringify(await call("load_memory", { query: "allergies" })), /I am allergic to peanuts/);
  assert.deepEqual(await client.user(app, "bob").listMemories().toArray(), []);
  // The model is told which argument is wrong.
  assert.match((await call("remember", { fact: "" })).error, /fact/);
  assert.match((await call("load_memory", { quest: "allergies" })).error, /quest|query/);
});

test("options that there are none of are refused", async () => {
  const options = { remembers: false } as object;
  assert.throws(() => new MemorydSession("shop", "ann", "s1", options), /MemorydSession has no option "remembers"/);
  await assert.rejects(memoryTools(client, "shop", "ann", { name: [] } as object), /memoryTools has no option "name"/);
});
