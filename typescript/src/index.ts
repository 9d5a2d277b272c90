/**
 * memoryd from TypeScript: sessions, and the memories made of them.
 *
 * A Client calls a memoryd. Each method is a call of the HTTP API and has its name in /openapi.json. Answers
 * are its JSON.
 */

export { App, User } from "./calls.ts";
export { Client } from "./client.ts";
export type { ClientOptions } from "./client.ts";
export {
  Aborted,
  AlreadyExists,
  Gone,
  Incompatible,
  Internal,
  InvalidArgument,
  MemorydError,
  NotFound,
  PayloadTooLarge,
  PermissionDenied,
  ProtocolError,
  ResourceExhausted,
  Unauthenticated,
  Unavailable,
  Unreachable,
} from "./errors.ts";
export { Pages } from "./transport.ts";
export type { CallOptions, Page } from "./transport.ts";
export type * from "./types.ts";
export { version } from "./version.ts";
