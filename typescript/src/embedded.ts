// A memoryd that this process starts and ends. It needs Node, Deno or Bun.

import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { Client } from "./client.ts";
import type { ClientOptions } from "./client.ts";
import { checkOptions, environment, longestTimer } from "./core.ts";
import { MemorydError } from "./errors.ts";
import { rest } from "./transport.ts";

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

const serves = "memoryd serves ";
/** The lines of its log that an error shows. */
const shown = 5;

/** memoryd did not start. The message has the end of its log. */
export class StartError extends MemorydError {}

/** What embedded takes. */
export interface EmbeddedOptions {
  /** The program. Without one it is MEMORYD_BINARY, or memoryd of the PATH. */
  binary?: string | undefined;
  /** More flags of memoryd. */
  args?: readonly string[] | undefined;
  /** How many milliseconds it may take to be ready: 30,000 by default. */
  timeout?: number | undefined;
}

/** A memoryd that embedded has started. It ends with close, and with this process. */
export class Embedded {
  readonly url: string;
  /** The id of its process. */
  readonly pid: number;
  private readonly process: Process;
  private readonly ended: Promise<unknown>;

  constructor(url: string, process: Process, ended: Promise<unknown>) {
    this.url = url;
    this.pid = process.pid ?? 0;
    this.process = process;
    this.ended = ended;
  }

  /** A client of this memoryd. */
  client(options: ClientOptions = {}): Client {
    return new Client(this.url, options);
  }

  /** Ends it: it finishes what it has begun. After timeout ms it is killed. A second call does nothing. */
  async close(timeout = 30_000): Promise<void> {
    this.process.stdin.end(); // it watches for that
    const timer = setTimeout(() => this.process.kill("SIGKILL"), Math.min(timeout, longestTimer));
    await this.ended;
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts a memoryd on a free port of this machine, and waits until its stores answer.
 *
 * It ends with this process, also if that is killed: memoryd watches a pipe. It does not keep this process
 * from ending.
 *
 * @param data The directory of its data, which no other memoryd may use meanwhile, or ":memory:" to keep
 *   nothing. Without one it is memoryd's own default.
 */
export async function embedded(data?: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const { binary = environment("MEMORYD_BINARY") ?? "memoryd", args = [], timeout = 30_000 } = options;
  checkOptions("embedded", options, { binary, args, timeout });
  const own = ["-listen=127.0.0.1:0", "-until-eof", ...(data === undefined ? [] : [`-data=${data}`])];
  const process = spawn(binary, [...own, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // an interrupt of the terminal is this process's
    windowsHide: true,
  });
  process.stdin.on("error", () => {}); // it has ended before its pipe
  const log: string[] = [];
  let state = "";
  const ended = new Promise<void>((resolve) => {
    process.once("error", (error) => {
      state = `there is no program ${binary} that can be run: ${error.message}`;
      resolve();
    });
    process.once("close", (code, signal) => {
      state ||= `memoryd ended with ${code ?? signal}`;
      resolve();
    });
  });
  let url = "";
  createInterface({ input: process.stdout }).on("line", (line) => {
    if (line.startsWith(serves)) url = line.slice(serves.length).trim();
  });
  createInterface({ input: process.stderr }).on("line", (line) => {
    if (log.push(line) > shown) log.shift();
  });
  const until = performance.now() + timeout;
  while (!state && performance.now() < until) {
    if (url && (await ready(url, log))) {
      release(process);
      return new Embedded(url, process, ended);
    }
    await Promise.race([rest(20, undefined), ended]);
  }
  if (!state) process.kill("SIGKILL");
  const reason = state || "memoryd was not ready in time";
  await ended;
  throw new StartError([reason, ...log].join("\n"));
}

async function ready(url: string, log: string[]): Promise<boolean> {
  try {
    await new Client(url, { key: "", retries: 0, timeout: 5_000 }).ready();
    return true;
  } catch (error) {
    log.push(String(error));
    return false;
  }
}

/** Lets this process end while memoryd runs: the end of its pipe then ends memoryd. */
function release(process: Process): void {
  process.unref();
  for (const stream of [process.stdin, process.stdout, process.stderr]) {
    (stream as { unref?: () => void }).unref?.();
  }
}
