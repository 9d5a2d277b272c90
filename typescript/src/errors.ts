// The errors of memoryd, a class for each kind.

/** The parts of an error beside its text. */
export interface ErrorParts {
  method?: string;
  url?: string;
  statusCode?: number | undefined;
  status?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/**
 * A call that failed. The message names the method and the URL.
 *
 * statusCode is that of HTTP, and status memoryd's word for it, such as NOT_FOUND; both are absent where
 * there is no answer. detail is memoryd's own text. retryAfter is the number of seconds after which memoryd
 * wants the call again.
 */
export class MemorydError extends Error {
  readonly detail: string;
  readonly method: string;
  readonly url: string;
  readonly statusCode: number | undefined;
  readonly status: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(detail: string, parts: ErrorParts = {}) {
    const call = parts.url ? `${parts.method ?? ""} ${parts.url}: `.trimStart() : "";
    const code = parts.statusCode ? `${parts.statusCode} ${parts.status ?? ""}`.trim() + ": " : "";
    super(call + code + detail, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = new.target.name;
    this.detail = detail;
    this.method = parts.method ?? "";
    this.url = parts.url ?? "";
    this.statusCode = parts.statusCode;
    this.status = parts.status || undefined;
    this.retryAfter = parts.retryAfter;
  }
}

/**
 * There was no answer. If sent is false the request did not arrive, and nothing was stored; otherwise it may
 * have been.
 */
export class Unreachable extends MemorydError {
  readonly sent: boolean;

  constructor(detail: string, parts: ErrorParts & { sent?: boolean } = {}) {
    super(detail, parts);
    this.sent = parts.sent ?? true;
  }
}

/** The server is a memoryd of another version than this package needs, or none at all. */
export class Incompatible extends MemorydError {}

/** The request is wrong: the same one will fail again. The message names the field. */
export class InvalidArgument extends MemorydError {}

/** The body is larger than memoryd takes. */
export class PayloadTooLarge extends InvalidArgument {}

/** There is no key, or none that is valid. */
export class Unauthenticated extends MemorydError {}

/** The key is not for this app, user or verb, or the host is not served. */
export class PermissionDenied extends MemorydError {}

/** There is nothing of that name in this scope. */
export class NotFound extends MemorydError {}

/** The id is in use. */
export class AlreadyExists extends MemorydError {}

/** Another writer was faster. */
export class Aborted extends MemorydError {}

/** The request to confirm has lapsed, or memoryd has been closed. */
export class Gone extends MemorydError {}

/** A limit is reached. retryAfter says when to try again. */
export class ResourceExhausted extends MemorydError {}

/** memoryd or one of its stores is away. retryAfter says when to try again. */
export class Unavailable extends MemorydError {}

/** A defect of memoryd: its log has the details. */
export class Internal extends MemorydError {}

/** The request is not the HTTP that memoryd speaks: something between changes it. */
export class ProtocolError extends MemorydError {}

type Kind = new (detail: string, parts?: ErrorParts) => MemorydError;

/** The classes, by the status in the answer. */
export const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["ABORTED", Aborted],
  ["ALREADY_EXISTS", AlreadyExists],
  ["EXPECTATION_FAILED", ProtocolError],
  ["GONE", Gone],
  ["HEADERS_TOO_LARGE", ProtocolError],
  ["HTTP_VERSION_NOT_SUPPORTED", ProtocolError],
  ["INTERNAL", Internal],
  ["INVALID_ARGUMENT", InvalidArgument],
  ["METHOD_NOT_ALLOWED", ProtocolError],
  ["NOT_FOUND", NotFound],
  ["PAYLOAD_TOO_LARGE", PayloadTooLarge],
  ["PERMISSION_DENIED", PermissionDenied],
  ["REQUEST_TIMEOUT", Unavailable],
  ["RESOURCE_EXHAUSTED", ResourceExhausted],
  ["UNAUTHENTICATED", Unauthenticated],
  ["UNAVAILABLE", Unavailable],
  ["UNIMPLEMENTED", ProtocolError],
]);
