// The client, with the calls that are written by hand.

import { ClientCalls } from "./calls.ts";
import { checkOptions, environment, resume, segment, Settings } from "./core.ts";
import { Incompatible, MemorydError, Unreachable } from "./errors.ts";
import { rest, Transport } from "./transport.ts";
import type { CallOptions } from "./transport.ts";
import type { Operation } from "./types.ts";

const defaultURL = "http://127.0.0.1:8080";
/** memoryd sends something every 15 s, so a stream that is silent for longer, in ms, is broken. */
const streamSilence = 60_000;

/** The options of a Client. */
export interface ClientOptions {
  /** What memoryd is shown with each request. Without one it is MEMORYD_KEY of the environment. */
  key?: string | undefined;
  /** How many milliseconds one try of a call may take: 60,000 by default. */
  timeout?: number | undefined;
  /**
   * How often a call is sent again that failed for a passing reason: 5 by default. A call that would take
   * effect twice is sent again only if it cannot have arrived.
   */
  retries?: number | undefined;
  /** Sends the requests, in place of the fetch of the runtime. */
  fetch?: typeof fetch | undefined;
}

/** The calls of one memoryd. It holds no connection: there is nothing to close. */
export class Client extends ClientCalls {
  /** @param url Where memoryd is. Without one it is MEMORYD_URL, or http://127.0.0.1:8080. */
  constructor(url?: string, options: ClientOptions = {}) {
    const { key = environment("MEMORYD_KEY"), timeout = 60_000, retries = 5, fetch: fetcher = fetch } = options;
    checkOptions("Client", options, { key, timeout, retries, fetch: fetcher });
    const at = url ?? environment("MEMORYD_URL") ?? defaultURL;
    super(new Transport(new Settings(at, key, timeout, retries), fetcher));
  }

  /** Where memoryd is. */
  get url(): string {
    return this.transport.settings.url;
  }

  /** Whether a memoryd answers, at the first try. */
  async alive(options: CallOptions = {}): Promise<boolean> {
    checkOptions("alive", options, { signal: true, timeout: true });
    try {
      return (await this.transport.once("GET", `${this.url}/livez`, undefined, options)).text === "ok\n";
    } catch (error) {
      if (error instanceof Unreachable || error instanceof Incompatible) return false;
      throw error;
    }
  }

  /** The metrics, in the text format of Prometheus. */
  async metrics(options: CallOptions = {}): Promise<string> {
    return await this.transport.text("GET", "/metrics", { repeatable: true, ...options });
  }

  /**
   * An embedded file as it is now, in parts. It takes a key with the verb admin for all apps.
   *
   * @param store The store whose file to copy.
   */
  backup(store: "sessions" | "memories" = "sessions", options: CallOptions = {}): AsyncGenerator<Uint8Array, void> {
    const { timeout = streamSilence, signal } = options;
    checkOptions("backup", options, { signal, timeout });
    return this.transport.parts("POST", "/v1/backup", { query: { store }, signal }, "*/*", timeout);
  }

  /**
   * An operation as it is, and again after each change, until it is done.
   *
   * A stream that breaks is begun again, and one that memoryd refuses for the time being once the seconds of
   * Retry-After are over.
   */
  async *follow(operation: string, options: CallOptions = {}): AsyncGenerator<Operation, void> {
    const path = `/v1/operations/${segment("operation", operation)}`;
    const { timeout = streamSilence, signal } = options;
    checkOptions("follow", options, { signal, timeout });
    for (let tries = 0; ; ) {
      let wait: number | undefined;
      try {
        const parts = this.transport.parts("GET", path, { signal }, "text/event-stream", timeout);
        for await (const state of states(parts)) {
          tries = 0;
          yield state;
          if (state.done) return;
        }
        throw new Unreachable("the stream has ended", { method: "GET", url: this.url + path });
      } catch (error) {
        if (!(error instanceof MemorydError)) throw error;
        wait = resume(error, ++tries, this.transport.settings.retries);
        if (wait === undefined) throw error;
      }
      await rest(wait, signal);
    }
  }
}

/** The operations in a stream of server-sent events, each of which is one line. */
async function* states(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Operation, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length)) as Operation;
    }
  }
}
