// The store of LangGraph.js against a real memoryd.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { END, InMemoryStore, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { Client, InvalidArgument, NotFound } from "@memoryd/client";
import { memoryTools, MemorydStore } from "@memoryd/client/langgraph";
import { error, newApp, serving } from "./server.ts";
import type { Answer, Seen } from "./server.ts";

const client = new Client();
const keys = (items: { key: string }[]) => items.map(({ key }) => key).sort().join("");

test("items are put, read, changed and deleted", async () => {
  const app = newApp();
  const store = new MemorydStore(app, { client });
  const namespace = ["ann", "memories"];
  assert.equal(await store.get(namespace, "k"), null);
  const value = { text: "Ann lives in Porto.", deep: { list: [1, null, { a: "ä" }] }, no: null, yes: true };
  await store.put(namespace, "k", value);
  const first = (await store.get(namespace, "k"))!;
  assert.deepEqual([first.key, first.namespace, first.value], ["k", namespace, value]);
  assert.ok(first.createdAt instanceof Date && first.updatedAt >= first.createdAt);
  for (const text of ["Ann lives in Lisbon.", "Ann lives in Porto.", "Ann lives in Porto."]) {
    await store.put(namespace, "k", { text });
    assert.deepEqual((await store.get(namespace, "k"))!.value, { text });
  }
  assert.deepEqual((await store.get(namespace, "k"))!.createdAt, first.createdAt);
  for (const other of [["ann"], ["ann", "memories", "k"], ["bob", "memories"], ["ann", "mem/ories"]]) {
    assert.equal(await store.get(other, "k"), null);
  }
  await store.delete(namespace, "k");
  await store.delete(namespace, "k");
  assert.equal(await store.get(namespace, "k"), null);
  await store.put(namespace, "k", { text: "again" });
  assert.deepEqual((await store.get(namespace, "k"))!.value, { text: "again" });
  const user = client.user(app, "ann");
  const [memory] = await user.listMemories().toArray();
  const actions = (await user.listRevisions(memory!.id).toArray()).map(({ action, fact }) => [action, fact]);
  // No revision since the deletion has the deleted value.
  assert.equal(actions[0]![1], "again");
  assert.equal(actions[1]![0], "DELETED");
});

test("a put of an item that is there is sent again if its answer is lost", async () => {
  const answer = (n: number): Answer => {
    if (n === 1) return [409, {}, error(409, "ALREADY_EXISTS")];
    return n === 2 ? undefined : [200, {}, { id: "m1" }];
  };
  await serving(answer, async (url, seen) => {
    await new MemorydStore("shop", { client: new Client(url) }).put(["ann"], "k", { n: 1 });
    assert.deepEqual(seen.map(({ method }) => method), ["POST", "PATCH", "PATCH"]);
    assert.deepEqual(seen[1]!.body, seen[2]!.body);
  });
});

test("a put of a deleted item whose revisions have expired fails", async () => {
  const answer = (n: number, { path }: Seen): Answer => {
    if (path.split("?")[0]!.endsWith("/revisions")) {
      return [200, {}, { revisions: [{ revision: 2, action: "DELETED" }] }];
    }
    return n === 1 ? [409, {}, error(409, "ALREADY_EXISTS")] : [404, {}, error(404, "NOT_FOUND")];
  };
  await serving(answer, async (url) => {
    await assert.rejects(new MemorydStore("shop", { client: new Client(url) }).put(["ann"], "k", { n: 1 }), NotFound);
  });
});

test("entries that a filter leaves out here fill no pages of their own", async () => {
  await serving(
    () => [200, {}, { memories: [] }],
    async (url, seen) => {
      const store = new MemorydStore("shop", { client: new Client(url) });
      await store.search(["ann"], { limit: 3 });
      await store.search(["ann"], { limit: 3, filter: { n: { $ne: 1 } } });
      assert.deepEqual(seen.map(({ path }) => /pageSize=(\d+)/.exec(path)?.[1]), ["3", "1000"]);
    },
  );
});

test("ids are those of the package for Python", async () => {
  const app = newApp();
  await new MemorydStore(app, { client }).put(["ann", "ä😀'"], "k", { text: "x" });
  const [memory] = await client.user(app, "ann").listMemories().toArray();
  // hashlib.sha256(json.dumps(["ann", "ä😀'", "k"]).encode()).hexdigest()
  assert.equal(memory!.id, "langgraph-889d57ff203a3543f3088db51f1a6bc7a354fa2b58ac3527d394b1234239553d");
  assert.equal(memory!.metadata!["langgraph.namespace"], "ann/%C3%A4%F0%9F%98%80%27/");
});

test("a search by meaning, with filters, leaves nothing out", async () => {
  const store = new MemorydStore(newApp(), { client });
  await store.put(["ann", "food"], "a", { text: "Ann is allergic to peanuts.", age: 3, tags: ["x"] });
  await store.put(["ann", "food"], "b", { text: "Ann loves pasta.", age: 7, meta: { kind: "taste" } });
  await store.put(["ann", "foods"], "c", { text: "Ann has a car.", age: 3 });
  await store.put(["ann", "food"], "d", { text: "Ann is allergic to peanuts too." }, false);
  const found = await store.search(["ann"], { query: "What is Ann allergic to?" });
  assert.equal(found[0]!.key, "a");
  assert.ok(found[0]!.score! > 0);
  assert.equal(keys(found), "abcd");
  assert.equal(found.find(({ key }) => key === "d")!.score, 0);
  for (const [filter, want] of [
    [{ age: 3 }, "ac"],
    [{ age: { $gt: 3 } }, "b"],
    [{ age: { $gte: 3, $lt: 7 } }, "ac"],
    [{ age: { $ne: 3 } }, "bd"],
    [{ meta: { kind: "taste" } }, "b"],
    [{ tags: ["x"] }, "a"],
    [{ text: 'with "quotes" \\ in it' }, ""],
  ] as const) {
    assert.equal(keys(await store.search(["ann"], { filter })), want, JSON.stringify(filter));
    assert.equal(keys(await store.search(["ann"], { filter, query: "Ann" })), want, JSON.stringify(filter));
  }
  assert.equal(keys(await store.search(["ann", "food"])), "abd");
  const all = (await store.search(["ann"])).map(({ key }) => key);
  assert.deepEqual((await store.search(["ann"], { limit: 2, offset: 1 })).map(({ key }) => key), all.slice(1, 3));
  await assert.rejects(store.search(["ann"], { filter: { age: { $near: 3 } } }), InvalidArgument);
});

test("namespaces, as LangGraph's own store lists them", async () => {
  const mine = new MemorydStore(newApp(), { client });
  const theirs = new InMemoryStore();
  const all = [["ann", "a"], ["ann", "a", "v1"], ["ann", "b", "v1"], ["bob", "a"]];
  for (const store of [mine, theirs]) for (const namespace of all) await store.put(namespace, "k", { x: 1 });
  for (const options of [
    {},
    { prefix: ["ann"] },
    { suffix: ["v1"] },
    { prefix: ["*", "a"] },
    { prefix: ["ann"], maxDepth: 2 },
    { limit: 2, offset: 1 },
  ]) {
    assert.deepEqual(await mine.listNamespaces(options), await theirs.listNamespaces(options), JSON.stringify(options));
  }
});

test("the user may stand at another place of the namespace", async () => {
  const app = newApp();
  const store = new MemorydStore(app, { client, userLabel: 1, fields: ["title", "parts[*].text"] });
  await store.put(["memories", "ann"], "k", { title: "Trams", parts: [{ text: "yellow" }, { text: "loud" }] });
  const [memory] = await client.user(app, "ann").listMemories().toArray();
  assert.equal(memory!.fact, "Trams\nyellow\nloud");
  assert.equal(keys(await store.search(["memories"], { query: "trams" })), "k");
  await assert.rejects(store.put(["memories"], "k", {}), /no label at place 1/);
  assert.throws(() => new MemorydStore(app, { client, userLabel: -1 }), InvalidArgument);
});

test("a batch reads before it puts, and the last put of a key counts", async () => {
  const store = new MemorydStore(newApp(), { client });
  const namespace = ["ann"];
  const put = (n: number) => ({ namespace, key: "k", value: { n } });
  const results = await store.batch([put(1), { namespace, key: "k" }, put(2), { namespacePrefix: namespace }]);
  assert.deepEqual(results, [undefined, null, undefined, []]);
  assert.deepEqual((await store.get(namespace, "k"))!.value, { n: 2 });
});

test("a graph recalls in one thread what it was told in another", async () => {
  const store = new MemorydStore(newApp(), { client });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", async ({ messages }, config) => {
      const said = messages.at(-1)!.text;
      const [known] = await config.store!.search(["ann"], { query: said, limit: 1 });
      await config.store!.put(["ann"], crypto.randomUUID(), { text: said });
      const model = new FakeListChatModel({ responses: [known ? `You told me: ${known.value["text"]}` : "I see."] });
      return { messages: [await model.invoke(messages)] };
    })
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ store });
  const answers = [];
  for (const content of ["I live in Porto.", "Where do I live?"]) {
    const { messages } = await graph.invoke({ messages: [{ role: "user", content }] });
    answers.push(messages.at(-1)!.text);
  }
  assert.deepEqual(answers, ["I see.", "You told me: I live in Porto."]);
});

test("a model remembers, searches and forgets with tools", async () => {
  const app = newApp();
  const all = (await client.listTools()).tools;
  const tools = await memoryTools(client, app, "ann", { names: all.map(({ function: f }) => f.name) });
  const declared = all.map(({ function: f }) => [f.name, f.description, f.parameters]);
  assert.deepEqual(tools.map(({ name, description, schema }) => [name, description, schema]), declared);
  const call = async (name: string, args: object): Promise<string> => {
    const asked = new AIMessage({ content: "", tool_calls: [{ id: "c1", name, args: { ...args } }] });
    const { messages } = (await new ToolNode(tools).invoke({ messages: [asked] })) as { messages: ToolMessage[] };
    return messages[0]!.text;
  };
  await call("remember", { fact: "I am allergic to peanuts." });
  assert.match(await call("load_memory", { query: "allergies" }), /I am allergic to peanuts/);
  assert.deepEqual(await client.user(app, "bob").listMemories().toArray(), []);
  // The model is told of errors.
  assert.match(await call("remember", { fact: "" }), /fact/);
  assert.match(await call("load_memory", { quest: "allergies" }), /Error/); // LangChain itself checks the schema
  const [one] = await memoryTools(client, app, "ann", { names: ["remember"] });
  assert.equal(one!.name, "remember");
  await assert.rejects(one!.invoke({ fact: "I like tea." }, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

test("options that there are none of are refused", async () => {
  assert.throws(() => new MemorydStore("shop", { userlabel: 1 } as object), /MemorydStore has no option "userlabel"/);
  const options = { name: ["remember"] } as object;
  await assert.rejects(memoryTools(client, "shop", "ann", options), /memoryTools has no option "name": it has names/);
  await assert.rejects(memoryTools(client, "shop", "ann", { names: ["fly"] }), InvalidArgument);
});
