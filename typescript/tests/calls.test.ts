// The calls of a real memoryd: that of MEMORYD_URL with MEMORYD_KEY, an admin's of all apps.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AlreadyExists, Client, Incompatible, InvalidArgument, NotFound, Unauthenticated, version } from "@memoryd/client";
import { newApp } from "./server.ts";

const client = new Client();

test("the version is that of the package", () => {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  assert.equal(version, (JSON.parse(text) as { version: string }).version);
});

test("a conversation is remembered", async () => {
  const ann = client.user(newApp(), "ann@example.com");
  const operation = await ann.ingest("s1", [{ author: "user", content: "I moved to Porto. I love the trams." }], {
    wait: true,
  });
  assert.equal(operation.done, true);
  assert.deepEqual(operation.response?.memories?.map(({ action }) => action), ["CREATED", "CREATED"]);
  const [best] = await ann.search("Where does Ann live?", { kinds: ["fact"], topK: 1 });
  assert.equal(best?.memory.fact, "I moved to Porto.");
  assert.match((await ann.context("Where does Ann live?", { maxTokens: 300 })).text, /Porto/);

  const states = [];
  for await (const state of client.follow(operation.id)) states.push(state.done);
  assert.deepEqual(states, [true]);
  assert.equal((await client.getOperation(operation.id)).id, operation.id);
});

test("pages, one after another", async () => {
  const ann = client.user(newApp(), "ann");
  for (let n = 0; n < 5; n++) await ann.addMemory(`Ann's number is ${n}.`, { id: `n${n}` });
  const facts = [];
  for await (const { id } of ann.listMemories({ pageSize: 2 })) facts.push(id);
  assert.deepEqual(facts.sort(), ["n0", "n1", "n2", "n3", "n4"]);
  const sizes = [];
  let second = "";
  for await (const { items, nextPageToken } of ann.listMemories({ pageSize: 2 }).byPage()) {
    sizes.push(items.length);
    second ||= nextPageToken ?? "";
  }
  assert.deepEqual(sizes, [2, 2, 1]);
  assert.equal((await ann.listMemories({ pageSize: 2, pageToken: second }).toArray()).length, 3);
  assert.equal((await ann.listMemories({ kind: ["fact", "turn"], orderBy: "createTime asc" }).toArray()).length, 5);
});

test("sessions, with their state and events", async () => {
  const ann = client.user(newApp(), "ann");
  const { id } = await ann.createSession(undefined, { state: { mood: "good", "user:city": "Porto" } });
  await assert.rejects(ann.createSession(id), AlreadyExists);
  const { events } = await ann.appendEvents(id, [
    { id: "e1", author: "user", content: "Hello!", timestamp: new Date("2026-07-13T08:45:00Z") },
    { author: "assistant", content: { role: "model", parts: [{ text: "Good morning." }] }, timestamp: 1783932310 },
  ]);
  assert.equal(events[0]?.timestamp, "2026-07-13T08:45:00.000000Z");
  await ann.patchSession(id, { stateDelta: { mood: null } });
  const session = await ann.getSession(id, { after: new Date("2026-07-13T08:45:10Z") });
  assert.deepEqual(session.state, { mood: null, "user:city": "Porto" });
  assert.equal(session.events[0]?.author, "assistant");
  assert.equal(await ann.render(id, "I live in {user:city}."), "I live in Porto.");
  assert.equal((await ann.listSessions({ state: false }).toArray()).length, 1);
  await ann.deleteSession(id);
  await assert.rejects(ann.getSession(id), NotFound);
});

test("a memory's corrections, and null, which clears", async () => {
  const ann = client.user(newApp(), "ann");
  const { id } = await ann.addMemory("I live in Porto.", { metadata: { from: "form" }, ttl: "48h" });
  await ann.patchMemory(id, { fact: "I live in Lisbon.", ttl: null });
  assert.equal((await ann.getMemory(id)).expireTime, undefined);
  const revisions = await ann.listRevisions(id).toArray();
  assert.equal(revisions.length, 2);
  assert.equal((await ann.rollbackMemory(id, revisions[1]!.revision)).fact, "I live in Porto.");
  assert.equal(await ann.purge({ filter: "kind = fact", dryRun: true }), 1);
});

test("an app: its shared knowledge, configuration and keys", async () => {
  const app = client.app(newApp());
  await app.addShared("The shop opens at nine.");
  assert.equal((await app.user("ann").search("When does the shop open?", { shared: true })).length, 1);
  const config = await app.getConfig();
  await app.putConfig({ ...config, timeZone: "Europe/Lisbon" });
  assert.equal((await app.getConfig()).timeZone, "Europe/Lisbon");
  const { key, id } = await app.createKey(["read"], { userId: "ann" });
  assert.equal((await app.listKeys().toArray())[0]?.id, id);
  const reader = new Client(client.url, { key }).user(app.name, "ann");
  assert.deepEqual(await reader.search("anything"), []);
  await app.revokeKey(id);
  await assert.rejects(reader.search("anything"), Unauthenticated);
  assert.equal((await app.eraseApp({ dryRun: true })).memories, 1);
  assert.equal((await app.eraseApp()).memories, 1);
});

test("tools and MCP", async () => {
  const ann = client.user(newApp(), "ann");
  await ann.addMemory("Ann is allergic to peanuts.");
  const tools = (await client.listTools()).functionDeclarations.map(({ name }) => name);
  assert.ok(tools.includes("load_memory"), String(tools));
  const result = await ann.callTool("load_memory", { query: "allergies" });
  assert.match(JSON.stringify(result), /peanuts/);
  const answer = await ann.mcp({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.ok(answer?.["result"].tools.length > 0);
  assert.equal(await ann.mcp({ jsonrpc: "2.0", method: "notifications/initialized" }), undefined);
});

test("the memoryd itself", async () => {
  assert.equal(await client.alive(), true);
  assert.equal((await client.ready())["sessions"], "ok");
  assert.match(await client.metrics(), /^memoryd_/m);
  assert.equal((await client.openapi())["info"].title, "memoryd");
});

test("bad input is named", async () => {
  const ann = client.user(newApp(), "ann");
  await assert.rejects(ann.search("anything", { topK: 1000 }), (error: Error) => {
    return error instanceof InvalidArgument && error.message.includes("topK") && error.message.includes(client.url);
  });
  // A program without types has a misspelt option named by memoryd.
  await assert.rejects(ann.search("anything", { topk: 3 } as object), (error: Error) => {
    return error instanceof Incompatible && error.message.includes('"topk", or the option is misspelt');
  });
  await assert.rejects(ann.listMemories({ pagesize: 3 } as object).toArray(), /pagesize/);
  // The package itself knows the options of calls that send none.
  await assert.rejects(ann.deleteMemory("m1", { timout: 3 } as object), (error: Error) => {
    return error instanceof InvalidArgument && /memories\/m1 has no option "timout": it has signal, timeout/.test(error.message);
  });
  await assert.rejects(client.metrics({ timout: 3 } as object), /"timout"/);
  await assert.rejects(client.alive({ timout: 3 } as object), /"timout"/);
  await assert.rejects(client.follow("o1", { timout: 3 } as object).next(), /"timout"/);
  assert.throws(() => client.backup("sessions", { timout: 3 } as object), /"timout"/);
  assert.throws(() => new Client(client.url, { retires: 3 } as object), (error: Error) => {
    const wanted = 'Client has no option "retires": it has key, timeout, retries, fetch';
    return error instanceof InvalidArgument && error.message === wanted;
  });
});
