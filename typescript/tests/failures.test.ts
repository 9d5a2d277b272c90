// What a client does when memoryd fails, is slow, or is another server.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import * as memoryd from "@memoryd/client";
import { error, listen, serving } from "./server.ts";
import type { Answer } from "./server.ts";

const found: Answer = [200, {}, { memories: [] }];
const away: Answer = [503, { "Retry-After": "0" }, error(503, "UNAVAILABLE")];

/** The error with which a call fails. */
async function failed<T extends Error>(kind: new (...args: any[]) => T, call: Promise<unknown>): Promise<T> {
  const reason: unknown = await call.then(
    () => assert.fail("the call did not fail"),
    (error: unknown) => error,
  );
  assert.ok(reason instanceof kind, String(reason));
  return reason;
}

const ann = (url: string, options?: memoryd.ClientOptions) => new memoryd.Client(url, options).user("shop", "ann");

test("a memoryd that is not there", async () => {
  const server = createServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await new memoryd.Client(url).alive(), false);
  const reason = await failed(memoryd.Unreachable, ann(url, { retries: 1 }).search("anything"));
  assert.equal(reason.sent, false);
  assert.match(reason.message, new RegExp(`POST ${url}/v1/apps/shop/users/ann/memories/search: memoryd cannot be`));
  assert.equal(reason.name, "Unreachable");
});

test("retries, as often as the client says", async () => {
  await serving(
    (n) => (n < 3 ? away : found),
    async (url, seen) => {
      assert.deepEqual(await ann(url).search("anything"), []);
      assert.equal(seen.length, 3);
    },
  );
  await serving(
    () => away,
    async (url, seen) => {
      await failed(memoryd.Unavailable, ann(url, { retries: 1 }).search("anything"));
      assert.equal(seen.length, 2);
    },
  );
});

test("Retry-After replaces the wait, and is for the caller if it is long", async () => {
  await serving(
    (n) => (n === 1 ? [429, { "Retry-After": "1" }, error(429, "RESOURCE_EXHAUSTED")] : [201, {}, { id: "m1" }]),
    async (url, seen) => {
      const begun = performance.now();
      await ann(url).addMemory("I am allergic to peanuts.");
      assert.ok(performance.now() - begun >= 950); // timers round
      assert.equal(seen.length, 2);
    },
  );
  await serving(
    () => [429, { "Retry-After": "60" }, error(429, "RESOURCE_EXHAUSTED")],
    async (url, seen) => {
      const reason = await failed(memoryd.ResourceExhausted, ann(url).search("anything"));
      assert.equal(reason.retryAfter, 60);
      assert.equal(seen.length, 1);
    },
  );
});

test("repeats only what may be repeated", async () => {
  const lost = (n: number): Answer => (n === 1 ? undefined : [200, {}, { id: "m1" }]);
  await serving(lost, async (url, seen) => {
    const reason = await failed(memoryd.Unreachable, ann(url).addMemory("I am allergic to peanuts."));
    assert.equal(reason.sent, true);
    assert.equal(seen.length, 1);
  });
  await serving(lost, async (url, seen) => {
    await ann(url).addMemory("I am allergic to peanuts.", { id: "form-17" });
    assert.equal(seen.length, 2);
  });
  await serving(lost, async (url, seen) => {
    await ann(url).appendEvents("s1", { content: "I live in Porto." });
    const [first, second] = seen.map(({ body }) => body.events[0].id as string);
    assert.match(first!, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(first, second);
  });
  await serving(lost, async (url, seen) => {
    await ann(url).createSession();
    assert.equal(seen[0]!.body.id, seen[1]!.body.id);
  });
  await serving(lost, async (url, seen) => {
    await failed(memoryd.Unreachable, ann(url).createSession("s1"));
    assert.equal(seen.length, 1);
  });
  const tool = (n: number): Answer => (n === 1 ? undefined : [200, {}, { result: { memories: [] } }]);
  await serving(tool, async (url, seen) => {
    await ann(url).callTool("load_memory", { query: "peanuts" });
    assert.equal(seen.length, 2);
  });
  await serving(tool, async (url, seen) => {
    await failed(memoryd.Unreachable, ann(url).callTool("remember", { fact: "I am allergic." }));
    assert.equal(seen.length, 1);
  });
});

test("a deletion whose answer was lost", async () => {
  const missing: Answer = [404, {}, error(404, "NOT_FOUND")];
  await serving(
    (n) => (n === 1 ? undefined : missing),
    async (url, seen) => {
      await ann(url).deleteMemory("m1");
      assert.equal(seen.length, 2);
      await failed(memoryd.NotFound, ann(url).deleteMemory("m1"));
    },
  );
});

test("created though the answer was lost: the try after it finds the id in use, and is no failure", async () => {
  const taken: Answer = [409, {}, error(409, "ALREADY_EXISTS")];
  await serving(
    (n, { path }) => (n === 1 ? undefined : n === 2 ? taken : [200, {}, { id: path.split("/").at(-1), state: { n: 1 } }]),
    async (url, seen) => {
      const made = await ann(url).createSession(undefined, { state: { n: 1 } });
      assert.deepEqual(made, { id: seen[0]!.body.id, state: { n: 1 } });
      assert.deepEqual(seen.map(({ method }) => method), ["POST", "POST", "GET"]);
    },
  );
  await serving(
    () => taken, // an id of the caller may be in use by another session
    async (url, seen) => {
      await failed(memoryd.AlreadyExists, ann(url).createSession("s1"));
      assert.equal(seen.length, 1);
    },
  );
});

test("a memoryd of another version", async () => {
  const answers: [Answer, string][] = [
    [[404, {}, error(404, "NOT_FOUND", "there is no route for POST /x")], "no such call"],
    [[400, {}, error(400, "INVALID_ARGUMENT", 'invalid argument: unknown field "query"')], 'not know "query"'],
  ];
  for (const [answer, words] of answers) {
    await serving(
      (_, { path }) => (path === "/openapi.json" ? [200, {}, { info: { version: "v0.0.9" } }] : answer),
      async (url) => {
        const { message } = await failed(memoryd.Incompatible, ann(url).search("anything"));
        for (const part of [`the memoryd at ${url} is version v0.0.9`, memoryd.version, words]) {
          assert.ok(message.includes(part), message);
        }
      },
    );
  }
  await serving(
    () => answers[0]![0],
    async (url) => {
      await failed(memoryd.Incompatible, new memoryd.Client(url).follow("o1").next());
    },
  );
});

test("a field of the caller's own is not another version", async () => {
  await serving(
    () => [400, {}, error(400, "INVALID_ARGUMENT", 'invalid argument: unknown field "colour"')],
    async (url) => {
      const config = new memoryd.Client(url).app("shop").putConfig({ colour: "red" } as memoryd.NewConfig);
      await failed(memoryd.InvalidArgument, config);
    },
  );
});

test("no memoryd", async () => {
  for (const status of [200, 404, 302]) {
    await serving(
      () => [status, { "Content-Type": "text/html", Location: "/elsewhere" }, "<h1>Hello</h1>"],
      async (url) => {
        assert.equal(await new memoryd.Client(url).alive(), false);
        const { message } = await failed(memoryd.Incompatible, ann(url).search("anything"));
        assert.ok(message.includes(url) && message.includes("Hello"), message);
      },
    );
  }
});

test("an answer of a server that is no memoryd, though it is JSON", async () => {
  for (const body of ['{"ok":true}', "null", "[]", ""]) {
    await serving(
      () => [200, {}, body],
      async (url) => {
        const { message } = await failed(memoryd.Incompatible, ann(url).search("anything"));
        assert.match(message, /it has no "memories"/);
        await failed(memoryd.Incompatible, ann(url).listMemories().toArray());
      },
    );
  }
});

test("a proxy in between", async () => {
  await serving(
    () => [502, {}, "bad gateway"],
    async (url, seen) => {
      const { message } = await failed(memoryd.Unavailable, ann(url, { retries: 1 }).search("anything"));
      assert.match(message, /bad gateway/);
      assert.equal(seen.length, 2);
    },
  );
});

test("an answer that is cut off", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"));
  });
  const url = await listen(server);
  const reason = await failed(memoryd.Unreachable, ann(url, { retries: 0 }).search("anything"));
  assert.equal(reason.sent, true);
  server.close();
});

test("timeouts and signals end a call, and its connection", async () => {
  let open = 0;
  const server = createServer((socket) => {
    open++;
    socket.resume(); // without reading it does not learn of the end
    socket.on("error", () => {});
    socket.on("close", () => open--);
  }); // takes connections, and never answers
  const url = await listen(server);
  const late = await failed(memoryd.Unreachable, ann(url, { timeout: 50, retries: 0 }).search("anything"));
  assert.match(late.message, /timed out: no answer within 50 ms/);
  await failed(memoryd.Unreachable, ann(url, { retries: 0 }).getSession("s1", { timeout: 50 }));

  const stop = new AbortController();
  const call = ann(url).getSession("s1", { signal: stop.signal });
  stop.abort(new Error("the user has left"));
  await assert.rejects(call, /^Error: the user has left$/);
  await assert.rejects(ann(url).getSession("s1", { signal: AbortSignal.abort() }), { name: "AbortError" });
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  server.close();
});

test("a signal ends the wait before the next try", async () => {
  const stop = new AbortController();
  await serving(
    () => {
      setTimeout(() => stop.abort(), 10);
      return [503, { "Retry-After": "5" }, error(503, "UNAVAILABLE")];
    },
    async (url, seen) => {
      const begun = performance.now();
      await assert.rejects(ann(url).search("anything", { signal: stop.signal }), { name: "AbortError" });
      assert.ok(performance.now() - begun < 5000); // the wait that Retry-After asks for
      assert.equal(seen.length, 1);
    },
  );
});

test("a stream that breaks or is refused is begun again", async () => {
  const state = (done: boolean) => `: open\n\ndata: ${JSON.stringify({ id: "o1", done })}\n\n`;
  const answers: Answer[] = [
    [200, {}, state(false)],
    [429, { "Retry-After": "0" }, error(429, "RESOURCE_EXHAUSTED")],
    away,
    undefined,
    [200, {}, state(true)],
  ];
  await serving(
    (n) => answers[n - 1],
    async (url) => {
      const seen = [];
      for await (const { done } of new memoryd.Client(url).follow("o1")) seen.push(done);
      assert.deepEqual(seen, [false, true]);
    },
  );
  await serving(
    () => [404, {}, error(404, "NOT_FOUND")],
    async (url) => {
      await failed(memoryd.NotFound, new memoryd.Client(url).follow("o1").next());
    },
  );
  await serving(
    () => [200, {}, ""], // one that is never a stream ends the tries
    async (url, seen) => {
      await failed(memoryd.Unreachable, new memoryd.Client(url, { retries: 1 }).follow("o1").next());
      assert.equal(seen.length, 2);
    },
  );
});

test("a stream that is left ends its connection", async () => {
  const line = `data: ${JSON.stringify({ id: "o1", done: false })}\n\n`;
  let ended = () => {};
  const closed = new Promise<void>((resolve) => (ended = resolve));
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (request) => {
      if (!request.includes("text/event-stream")) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`);
        return;
      }
      socket.on("close", ended);
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${line.length.toString(16)}\r\n${line}\r\n`);
    });
  });
  for await (const { done } of new memoryd.Client(await listen(server)).follow("o1")) {
    assert.equal(done, false);
    break;
  }
  await closed;
  server.close();
});

test("ids that would name another path", () => {
  for (const id of ["", ".", "..", "a/b", "\ud800", undefined as unknown as string]) {
    assert.throws(() => new memoryd.Client().user("shop", id), memoryd.InvalidArgument);
  }
});

test("URLs that are none, or have credentials", () => {
  for (const url of ["127.0.0.1:8080", "ftp://x", "http://", "http://x?y=1", "http://x:y", "http://x#y", ""]) {
    assert.throws(() => new memoryd.Client(url), { name: "InvalidArgument", message: /want one such as/ });
  }
  for (const url of ["http://ann:secret@x", "http://secret@x", "http://ann:secret@x:y"]) {
    assert.throws(
      () => new memoryd.Client(url),
      (error: Error) => error instanceof memoryd.InvalidArgument && !error.message.includes("secret"),
    );
  }
  assert.throws(() => new memoryd.Client("http://ann:secret@x"), /give the key as an option/);
});

test("options that cannot be meant", async () => {
  assert.throws(() => new memoryd.Client("http://x", { key: "two words" }), memoryd.InvalidArgument);
  for (const wrong of [0, -1, NaN]) {
    assert.throws(() => new memoryd.Client("http://x", { timeout: wrong }), memoryd.InvalidArgument);
    await failed(memoryd.InvalidArgument, ann("http://x").search("anything", { timeout: wrong }));
  }
  assert.throws(() => new memoryd.Client("http://x", { retries: NaN }), memoryd.InvalidArgument);
  const round: Record<string, unknown> = {};
  round["self"] = round;
  await failed(memoryd.InvalidArgument, ann("http://x").createSession("s1", { state: round }));
  for (const events of ["Hello", ["Hello"], [null]] as unknown as [][]) {
    const refused = await failed(memoryd.InvalidArgument, ann("http://x").ingest("s1", events));
    assert.match(refused.message, /want an object/);
  }
});

test("a call may take as long as it likes", async () => {
  await serving(
    () => found,
    async (url) => {
      for (const timeout of [Infinity, 2 ** 31]) assert.deepEqual(await ann(url, { timeout }).search("anything"), []);
    },
  );
});

test("the headers", async () => {
  await serving(
    () => found,
    async (url, seen) => {
      await ann(`${url}/memory/`, { key: "memoryd_x" }).search("anything");
      assert.equal(seen[0]!.headers["authorization"], "Bearer memoryd_x");
      assert.equal(seen[0]!.headers["user-agent"], `memoryd-typescript/${memoryd.version}`);
      assert.equal(seen[0]!.path, "/memory/v1/apps/shop/users/ann/memories/search");
    },
  );
});
