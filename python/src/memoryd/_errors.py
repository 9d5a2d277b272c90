"""The errors of memoryd, a class for each kind."""

from __future__ import annotations


class MemorydError(Exception):
    """A call that failed.

    method and url are those of the request. status_code is that of HTTP, and status
    memoryd's word for it, such as NOT_FOUND; both are empty where there is no answer.
    message is memoryd's. retry_after is the number of seconds after which memoryd wants the
    call again, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        method: str = "",
        url: str = "",
        status_code: int | None = None,
        status: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.method = method
        self.url = url
        self.status_code = status_code
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        call = f"{self.method} {self.url}: " if self.url else ""
        code = f"{self.status_code} {self.status}".strip() + ": " if self.status_code else ""
        return call + code + self.message

    def __reduce__(self) -> tuple[object, ...]:  # arguments by name do not survive pickle
        return _rebuilt, (type(self), self.message, self.__dict__)


def _rebuilt(kind: type[MemorydError], message: str, state: dict[str, object]) -> MemorydError:
    error = kind(message)
    error.__dict__.update(state)
    return error


class Unreachable(MemorydError):
    """There was no answer. If sent is False the request did not arrive, and nothing was
    stored; otherwise it may have been."""

    def __init__(self, message: str, *, sent: bool = True, method: str = "", url: str = "") -> None:
        super().__init__(message, method=method, url=url)
        self.sent = sent


class Incompatible(MemorydError):
    """The server is a memoryd of another version than this package needs, or none at all."""


class Closed(MemorydError):
    """The client was closed before the call."""


class InvalidArgument(MemorydError, ValueError):
    """The request is wrong: the same one will fail again. The message names the field."""


class PayloadTooLarge(InvalidArgument):
    """The body is larger than memoryd takes."""


class Unauthenticated(MemorydError):
    """There is no key, or none that is valid."""


class PermissionDenied(MemorydError):
    """The key is not for this app, user or verb, or the host is not served."""


class NotFound(MemorydError):
    """There is nothing of that name in this scope."""


class AlreadyExists(MemorydError):
    """The id is in use."""


class Aborted(MemorydError):
    """Another writer was faster."""


class Gone(MemorydError):
    """The request to confirm has lapsed, or memoryd has been closed."""


class ResourceExhausted(MemorydError):
    """A limit is reached. retry_after says when to try again."""


class Unavailable(MemorydError):
    """memoryd or one of its stores is away. retry_after says when to try again."""


class Internal(MemorydError):
    """A defect of memoryd: its log has the details."""


class ProtocolError(MemorydError):
    """The request is not the HTTP that memoryd speaks: something between changes it."""


# By the status in the answer.
KINDS: dict[str, type[MemorydError]] = {
    "ABORTED": Aborted,
    "ALREADY_EXISTS": AlreadyExists,
    "EXPECTATION_FAILED": ProtocolError,
    "GONE": Gone,
    "HEADERS_TOO_LARGE": ProtocolError,
    "HTTP_VERSION_NOT_SUPPORTED": ProtocolError,
    "INTERNAL": Internal,
    "INVALID_ARGUMENT": InvalidArgument,
    "METHOD_NOT_ALLOWED": ProtocolError,
    "NOT_FOUND": NotFound,
    "PAYLOAD_TOO_LARGE": PayloadTooLarge,
    "PERMISSION_DENIED": PermissionDenied,
    "REQUEST_TIMEOUT": Unavailable,
    "RESOURCE_EXHAUSTED": ResourceExhausted,
    "UNAUTHENTICATED": Unauthenticated,
    "UNAVAILABLE": Unavailable,
    "UNIMPLEMENTED": ProtocolError,
}
