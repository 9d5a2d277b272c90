// Servers that answer what a test wants, and what the tests of a real memoryd share.

import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { randomUUID } from "node:crypto";

/** The status, headers and body of an answer. Without one the connection ends. */
export type Answer = [status: number, headers: Record<string, string>, body: unknown] | undefined;

/** A request that has arrived. */
export interface Seen {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: any;
}

/** Runs a test with a server, whose answers are those of answer to the nth request, from 1. */
export async function serving(
  answer: (n: number, seen: Seen) => Answer,
  test: (url: string, seen: Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (text += part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const now = { method, path: url, headers, body: text && JSON.parse(text) };
      seen.push(now);
      const [status, extra, body] = answer(seen.length, now) ?? [0, {}, ""];
      if (status === 0) return void request.socket.destroy();
      response.writeHead(status, { "Content-Type": "application/json", ...extra });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  const url = await listen(server);
  try {
    await test(url, seen);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Has a server listen at a free port, and returns its URL. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An error of memoryd. */
export function error(code: number, status: string, message = "as the test wants it"): unknown {
  return { error: { code, status, message } };
}

/** An app that no other test has. */
export function newApp(): string {
  return `app-${randomUUID()}`;
}
