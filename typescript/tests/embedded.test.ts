// A memoryd of a test's own: the program that MEMORYD_BINARY names.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Client } from "@memoryd/client";
import { embedded, StartError } from "@memoryd/client/embedded";

test("it keeps what it is told, and ends when it is closed", async () => {
  const data = mkdtempSync(join(tmpdir(), "memoryd-"));
  for (const known of [0, 1]) {
    const server = await embedded(data);
    const ann = server.client({ key: "" }).user("shop", "ann");
    assert.equal((await ann.listMemories().toArray()).length, known);
    if (known === 0) await ann.addMemory("I live in Porto.");
    await server.close(Infinity);
    assert.equal((server as any).process.signalCode, null); // it was not killed
    await server.close();
    assert.equal(await new Client(server.url).alive(), false);
  }
  rmSync(data, { recursive: true });
});

test("it ends with the process that has started it", async () => {
  for (const how of ["done", "killed"]) {
    const args = [...process.execArgv, join(import.meta.dirname, "start.ts"), how]; // with Node 20, tsx is among them
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
    const client = new Client(stdout.trim(), { key: "" });
    while (await client.alive()) await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test("one that does not start says why", async () => {
  await assert.rejects(embedded(":memory:", { binary: "no-such-program" }), (error: Error) => {
    return error instanceof StartError && error.message.includes("no-such-program");
  });
  await assert.rejects(embedded(":memory:", { arg: [] } as object), /embedded has no option "arg": it has binary/);
  await assert.rejects(embedded(":memory:", { args: ["-embedder=none"] }), (error: Error) => {
    return error instanceof StartError && /memoryd ended with \d[^]*-embedder/.test(error.message);
  });
});
