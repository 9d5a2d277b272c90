// What a request is made of, and which answers are errors.

import {
  Incompatible,
  InvalidArgument,
  kinds,
  MemorydError,
  ResourceExhausted,
  Unavailable,
  Unreachable,
} from "./errors.ts";
import type { NewEvent } from "./types.ts";
import { version } from "./version.ts";

/** The wait before the second try of a call, in ms. It doubles, and each one is varied by up to a half. */
const firstWait = 100;
const longestWait = 2_000;
/** A Retry-After beyond this many seconds ends the tries: the caller decides. */
const longestRetryAfter = 5;

/** A value of the environment, where there is one that the program may read. */
export function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno without --allow-env
  }
}

/** Whether this is a web page or a worker of one, where a program cannot set User-Agent. */
function inBrowser(): boolean {
  return !("process" in globalThis);
}

/**
 * Refuses an option that nothing reads: a program without types would not be told of a misspelt one.
 *
 * @param of What takes the options, as the error has it.
 * @param known The options that there are, with any values.
 */
export function checkOptions<T extends object>(of: string, options: T, known: Record<keyof Required<T>, unknown>): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known).join(", ");
    throw new InvalidArgument(`${of} has no option ${JSON.stringify(name)}: it has ${names}`);
  }
}

/** The options of a client, checked. */
export class Settings {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeout: number;
  readonly retries: number;

  constructor(url: string, key: string | undefined, timeout: number, retries: number) {
    this.url = checkedURL(url);
    if (key !== undefined && !/^[!-~]*$/.test(key)) {
      throw new InvalidArgument("the key has characters that no key has");
    }
    this.timeout = checkedTimeout(timeout);
    if (!(retries >= 0)) throw new InvalidArgument(`retries ${retries}: want a number, 0 or more`);
    this.retries = retries;
    this.headers = { Accept: "application/json" };
    if (!inBrowser()) this.headers["User-Agent"] = `memoryd-typescript/${version}`;
    if (key) this.headers["Authorization"] = `Bearer ${key}`;
  }
}

/** The longest time of a timer, in ms: a longer one would end at once. */
export const longestTimer: number = 2 ** 31 - 1;

/** A timeout in ms, as a timer takes it. */
export function checkedTimeout(timeout: number): number {
  if (!(timeout > 0)) throw new InvalidArgument(`timeout ${timeout}: want a number of milliseconds above 0`);
  return Math.min(timeout, longestTimer);
}

/** A URL of memoryd without the slash at its end. No error shows the credentials in one. */
function checkedURL(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidArgument(`memoryd's URL ${shown(text)}: want one such as http://127.0.0.1:8080`);
  }
  if (url.username || url.password) {
    const at = `${url.protocol}//${url.host}`;
    throw new InvalidArgument(`memoryd's URL at ${at} has credentials: give the key as an option or in MEMORYD_KEY`);
  }
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new InvalidArgument(`memoryd's URL ${shown(text)}: want one such as http://127.0.0.1:8080`);
  }
  return url.href.replace(/\/+$/, "");
}

/** A URL in an error: what stands before an @ may be a password. */
function shown(text: string): string {
  return JSON.stringify(String(text).replace(/^.*@/s, "…@"));
}

/** A new UUID of version 4. crypto.randomUUID is missing in pages that come over plain HTTP. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Events with ids, by which memoryd knows those of a repeated call. */
export function identified(events: NewEvent | readonly NewEvent[] | undefined): NewEvent[] | undefined {
  if (events === undefined) return undefined;
  const all: readonly NewEvent[] = Array.isArray(events) ? events : [events as NewEvent];
  return all.map((event) => {
    if (typeof event !== "object" || event === null) {
      const what = event === null ? "null" : `a ${typeof event}`; // "Hello" would be spread into letters
      throw new InvalidArgument(`an event is ${what}: want an object such as {"content": "Hello"}`);
    }
    return event.id ? event : { ...event, id: newId() };
  });
}

/** A question cut to 4,000 UTF-16 units, which memoryd takes in any language. It ends with a whole character. */
export function question(text: string): string {
  return text.slice(0, 4000).replace(/[\ud800-\udbff]$/, ""); // the first half of a character
}

/** An id as a part of a path. */
export function segment(kind: string, id: string): string {
  if (typeof id !== "string") throw new InvalidArgument(`the id of ${kind} is ${String(id)}: want a string`);
  if (["", ".", ".."].includes(id) || id.includes("/")) {
    throw new InvalidArgument(`${JSON.stringify(id)} cannot be the id of ${kind}`); // it would name another path
  }
  try {
    return encodeURIComponent(id);
  } catch {
    throw new InvalidArgument(`${JSON.stringify(id)} cannot be the id of ${kind}: it has half a character`);
  }
}

/** A body as JSON. */
export function encode(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new InvalidArgument(`the request cannot be written as JSON: ${String(error)}`, { cause: error });
  }
}

/** A query with its question mark, or nothing. */
export function encodeQuery(query: object | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined || one === null) continue;
      params.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const text = params.toString();
  return text && `?${text}`;
}

/** What the runtimes call a connection that was not made: Node, Deno and Bun have their own codes. */
const refusals = new RegExp(
  "ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|" +
    "ConnectionRefused|FailedToOpenSocket",
);

/** The error of a call that got no answer. A browser does not tell whether the request was sent. */
export function unreachable(method: string, url: string, error: unknown): Unreachable {
  const words: string[] = [];
  let codes = "";
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = (e as { code?: unknown }).code;
    if (typeof code === "string") codes += ` ${code}`;
    const word = e.message || (typeof code === "string" ? code : e.name);
    if (!words.includes(word)) words.push(word);
  }
  const sent = !refusals.test(codes) && !/tcp connect error|dns error/.test(words.join());
  const text = `memoryd cannot be reached: ${words.join(": ") || String(error)}`;
  return new Unreachable(text, { method, url, sent, cause: error });
}

/** The error of an answer that is not one below 300, with its body. */
export function failure(method: string, url: string, response: Response, text: string): MemorydError {
  let status = "";
  let message: string;
  try {
    const { error } = JSON.parse(text) as { error: { status: unknown; message: unknown } };
    status = String(error.status);
    message = String(error.message);
  } catch {
    // It is a proxy's, or another server's.
    message = `${response.statusText}: ${text.slice(0, 200).trim()}`.replace(/^: /, "");
  }
  const header = response.headers.get("Retry-After") ?? "";
  const retryAfter = /^\d+$/.test(header) ? Number(header) : undefined;
  let kind = kinds.get(status);
  if (!kind && !status && [502, 503, 504].includes(response.status)) {
    kind = Unavailable;
    status = "UNAVAILABLE";
  }
  kind ??= status ? MemorydError : Incompatible;
  if (kind === Incompatible) message = `the answer is not one of memoryd: ${message}`;
  return new kind(message, { method, url, statusCode: response.status, status, retryAfter });
}

/** Why an error may tell of a memoryd of another version. known are the fields that this package has sent. */
export function suspect(error: MemorydError, known: object | undefined): string | undefined {
  if (error.detail.includes("there is no route for") && [404, 405].includes(error.statusCode ?? 0)) {
    return "it has no such call";
  }
  const found = /unknown (field|query parameter) "([^"]*)"/.exec(error.detail);
  if (error.status !== "INVALID_ARGUMENT" || !found) return undefined;
  const ours = found[1] === "query parameter" || (known !== undefined && found[2]! in known);
  // Without the types of TypeScript a program may send any name.
  return ours ? `it does not know ${JSON.stringify(found[2])}, or the option is misspelt` : undefined;
}

/** The error that takes the place of one that suspect has found. */
export function incompatible(error: MemorydError, reason: string, base: string, found: string): Incompatible {
  return new Incompatible(`the memoryd at ${base} is version ${found}, and this package is ${version}: ${reason}`, {
    method: error.method,
    url: error.url,
    statusCode: error.statusCode,
    status: error.status,
    cause: error,
  });
}

/** The ms before the next try, or undefined if there is to be none. tries counts those that have failed. */
export function pause(error: MemorydError, tries: number, repeatable: boolean): number | undefined {
  const again =
    error instanceof Unreachable
      ? repeatable || !error.sent
      : error.statusCode === 429 || (repeatable && error instanceof Unavailable);
  if (!again) return undefined;
  if (error.retryAfter) return error.retryAfter <= longestRetryAfter ? error.retryAfter * 1000 : undefined;
  return Math.min(firstWait * 2 ** (tries - 1), longestWait) * (0.5 + Math.random());
}

/**
 * The ms before a stream that failed is begun again, or undefined if it is not. tries counts those in a row
 * that have failed. A memoryd that says when it wants the call is waited for, as what the stream tells of
 * goes on meanwhile.
 */
export function resume(error: MemorydError, tries: number, retries: number): number | undefined {
  const refused = error instanceof Unavailable || error instanceof ResourceExhausted;
  if (refused && error.retryAfter !== undefined) return Math.min(Math.max(error.retryAfter * 1000, firstWait), longestTimer);
  return tries <= retries ? pause(error, tries, true) : undefined;
}
