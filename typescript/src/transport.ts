// Sends the requests of a client, and reads the answers.

import {
  checkedTimeout,
  checkOptions,
  encode,
  encodeQuery,
  failure,
  incompatible,
  pause,
  Settings,
  suspect,
  unreachable,
} from "./core.ts";
import { AlreadyExists, Incompatible, MemorydError, NotFound, Unavailable, Unreachable } from "./errors.ts";

/** What each call takes beside its own options. */
export interface CallOptions {
  /** Ends the call: it then fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How many milliseconds one try may take, in place of those of the client. */
  timeout?: number | undefined;
}

/** A request. */
export interface CallRequest extends CallOptions {
  /** A field that the answer must have. */
  needs?: string;
  query?: object;
  /** A body whose names are the package's own. */
  body?: object;
  /** A body that is the caller's. */
  whole?: unknown;
  /** Whether it can be sent twice without a further effect. */
  repeatable?: boolean;
  /** Whether the id in the body is one that the method has made, of what a POST creates at its path. */
  fresh?: boolean;
  /** Whether a later try that finds nothing follows one that may have deleted it: such a call has succeeded. */
  gone?: boolean;
}

/** A page of a list. nextPageToken is absent on the last one. */
export interface Page<T> {
  items: T[];
  nextPageToken?: string;
}

/** An answer whose body is still to come, and the time that it has. */
interface Opened {
  response: Response;
  /** Gives the next part the whole time. */
  renew(): void;
  /** Stops the clock, while the caller has its turn. */
  hold(): void;
  /** Lets go of the clock and of the caller's signal. */
  done(): void;
}

/** An answer that was read. */
interface Answer {
  status: number;
  text: string;
}

/** The requests of a Client. */
export class Transport {
  readonly settings: Settings;
  private readonly fetch: typeof fetch;

  constructor(settings: Settings, fetcher: typeof fetch) {
    this.settings = settings;
    this.fetch = fetcher;
  }

  /** The answer to a call. Without a body that is undefined. */
  async call<T>(method: string, path: string, request: CallRequest = {}): Promise<T> {
    const { status, text } = await this.retried(method, path, request);
    const { needs } = request;
    if (text === "" && needs === undefined) return undefined as T;
    try {
      const answer = JSON.parse(text) as T;
      if (needs === undefined || Object.hasOwn(answer as object, needs)) return answer;
    } catch {
      // It is not JSON, or null.
    }
    const url = this.settings.url + path;
    const missing = needs === undefined ? "" : `it has no ${JSON.stringify(needs)}: `;
    const detail = `the answer is not one of memoryd: ${missing}${text.slice(0, 200).trim()}`;
    throw new Incompatible(detail, { method, url, statusCode: status });
  }

  /** The answer to a call, as text. */
  async text(method: string, path: string, request: CallRequest = {}): Promise<string> {
    return (await this.retried(method, path, request)).text;
  }

  private async retried(method: string, path: string, request: CallRequest): Promise<Answer> {
    const { needs, query, body, whole, repeatable = false, fresh, gone, ...options } = request;
    // Of a call without other options: those of the others are in its query or its body, where memoryd names one
    // that it does not know.
    checkOptions(`${method} ${path}`, options, { signal: true, timeout: true });
    const url = this.settings.url + path + encodeQuery(query);
    const sent = body ?? whole;
    const content = sent === undefined ? undefined : encode(sent);
    let lost = false; // whether an earlier try may have been carried out
    for (let tries = 1; ; tries++) {
      try {
        return await this.once(method, url, content, options);
      } catch (error) {
        if (!(error instanceof MemorydError)) throw error;
        if (fresh && tries > 1 && error instanceof AlreadyExists) {
          // An earlier try has created it, and its answer was lost.
          const { id } = body as { id: string };
          return await this.retried("GET", `${path}/${id}`, { repeatable: true, ...options });
        }
        await this.refuseOther(error, request);
        if (gone && lost && error instanceof NotFound) return { status: error.statusCode!, text: "" };
        lost ||= error instanceof Unavailable || (error instanceof Unreachable && error.sent);
        const wait = pause(error, tries, repeatable);
        if (wait === undefined || tries > this.settings.retries) throw error;
        await rest(wait, options.signal);
      }
    }
  }

  /** One try of a call. */
  async once(
    method: string,
    url: string,
    content: string | undefined,
    options: CallOptions,
  ): Promise<Answer> {
    const opened = await this.open(method, url, content, options.timeout ?? this.settings.timeout, options.signal);
    try {
      return { status: opened.response.status, text: await opened.response.text() };
    } catch (error) {
      throw this.unread(method, url, error, options.signal);
    } finally {
      opened.done();
    }
  }

  /** The answer to one try of a call, read in parts. silence is how many ms may be between them. */
  async *parts(
    method: string,
    path: string,
    request: CallRequest,
    accept: string,
    silence: number,
  ): AsyncGenerator<Uint8Array, void> {
    const url = this.settings.url + path + encodeQuery(request.query);
    let opened: Opened;
    try {
      opened = await this.open(method, url, undefined, silence, request.signal, accept);
    } catch (error) {
      if (error instanceof MemorydError) await this.refuseOther(error, request);
      throw error;
    }
    const reader = opened.response.body?.getReader();
    try {
      for (;;) {
        opened.renew();
        const part = await reader?.read();
        opened.hold();
        if (!part || part.done) return;
        yield part.value;
      }
    } catch (error) {
      throw this.unread(method, url, error, request.signal);
    } finally {
      opened.done();
      await reader?.cancel().catch(() => {}); // its connection ends
    }
  }

  /** Sends a request. An answer that is an error is thrown. */
  private async open(
    method: string,
    url: string,
    content: string | undefined,
    timeout: number,
    signal: AbortSignal | undefined,
    accept?: string,
  ): Promise<Opened> {
    timeout = checkedTimeout(timeout);
    signal?.throwIfAborted();
    const ended = new AbortController();
    const words = `timed out: no answer within ${timeout} ms`;
    const late = () => ended.abort(new DOMException(words, "TimeoutError"));
    const stop = () => ended.abort(signal?.reason);
    let timer = setTimeout(late, timeout);
    signal?.addEventListener("abort", stop);
    const hold = () => clearTimeout(timer);
    const done = () => {
      hold();
      signal?.removeEventListener("abort", stop);
    };
    const renew = () => {
      hold();
      timer = setTimeout(late, timeout);
    };
    const headers = { ...this.settings.headers };
    if (content !== undefined) headers["Content-Type"] = "application/json";
    if (accept !== undefined) headers["Accept"] = accept;
    // memoryd never redirects: an answer that does is another server's.
    const init: RequestInit = { method, headers, signal: ended.signal, redirect: "manual" };
    if (content !== undefined) init.body = content;
    try {
      const response = await this.fetch.call(globalThis, url, init);
      if (response.status >= 300 || response.status === 0) {
        const text = response.status === 0 ? "it leads elsewhere" : await response.text();
        throw failure(method, url, response, text);
      }
      return { response, renew, hold, done };
    } catch (error) {
      done();
      throw this.unread(method, url, error, signal);
    }
  }

  /** The error of an answer that did not come, or not whole. One of the caller's signal stays as it is. */
  private unread(method: string, url: string, error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    return error instanceof MemorydError ? error : unreachable(method, url, error);
  }

  /** Throws Incompatible in place of an error that tells of a memoryd of another version. */
  private async refuseOther(error: MemorydError, request: CallRequest): Promise<void> {
    const reason = suspect(error, request.body);
    if (reason === undefined) return;
    throw incompatible(error, reason, this.settings.url, await this.version(request));
  }

  /** The version of memoryd, as far as it can be had. */
  private async version(options: CallOptions): Promise<string> {
    try {
      const { text } = await this.once("GET", `${this.settings.url}/openapi.json`, undefined, options);
      const { info } = JSON.parse(text) as { info: { version: unknown } };
      return String(info.version);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      return "unknown";
    }
  }
}

/** Waits, and fails with the reason of the signal if that comes first. */
export async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop);
  });
}

/** The entries of a list, read a page at a time as they are asked for: for await has them. */
export class Pages<T> implements AsyncIterable<T> {
  private readonly transport: Transport;
  private readonly path: string;
  private readonly field: string;
  private readonly request: CallRequest;

  constructor(transport: Transport, path: string, field: string, request: CallRequest) {
    this.transport = transport;
    this.path = path;
    this.field = field;
    this.request = request;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const page of this.byPage()) yield* page.items;
  }

  /** The pages. A page of a list with a filter may have no entries. */
  async *byPage(): AsyncGenerator<Page<T>, void> {
    let query: object = this.request.query ?? {};
    for (;;) {
      const request = { ...this.request, query, repeatable: true, needs: this.field };
      const answer = await this.transport.call<Record<string, unknown>>("GET", this.path, request);
      const items = answer[this.field] as T[];
      const token = answer["nextPageToken"];
      if (typeof token !== "string" || token === "") {
        yield { items };
        return;
      }
      yield { items, nextPageToken: token };
      query = { ...query, pageToken: token };
    }
  }

  /** All entries, in one list. */
  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const item of this) all.push(item);
    return all;
  }
}
