"""What both clients share: bodies, paths, and which answers are errors."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode, urlsplit

import httpx

from ._errors import (
    KINDS,
    Incompatible,
    InvalidArgument,
    MemorydError,
    ResourceExhausted,
    Unavailable,
    Unreachable,
)
from ._version import __version__

# Waits between the tries of a call, in seconds. Each is varied by up to a half.
FIRST_WAIT = 0.1
LONGEST_WAIT = 2.0
# A Retry-After beyond this many seconds ends the tries: the caller decides.
LONGEST_RETRY_AFTER = 5.0
# A stream sends something every 15 s, so one that is silent for longer is broken.
STREAM_SILENCE = 60.0


class _Absent(Enum):
    ABSENT = "absent"


# The default of what a change may leave as it is, as None clears it.
Absent = Literal[_Absent.ABSENT]
ABSENT: Final = _Absent.ABSENT


class Fields(dict[str, Any]):
    """A body whose names are the package's own and not a caller's."""


def fields(values: dict[str, Any]) -> Fields:
    """A body of the values that were given: None is one that was not."""
    return Fields((k, v) for k, v in values.items() if v is not None)


def changes(values: dict[str, Any]) -> Fields:
    """A body of the values that are to change: None clears one."""
    return Fields((k, v) for k, v in values.items() if v is not ABSENT)


def new_id() -> str:
    return str(uuid.uuid4())


def identified(
    events: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
) -> list[dict[str, Any]] | None:
    """Events with ids, by which memoryd knows those of a repeated call."""
    if events is None:
        return None
    if isinstance(events, Mapping):
        events = [events]
    for e in events:
        if not isinstance(e, Mapping):  # the letters of a text are no events either
            raise InvalidArgument(f"an event is of type {type(e).__name__}: want a dict such as {{'content': 'Hello'}}")
    return [{**e} if e.get("id") else {**e, "id": new_id()} for e in events]


def segment(kind: str, id: str) -> str:
    """An id as a part of a path."""
    if not isinstance(id, str):
        raise InvalidArgument(f"the id of {kind} is {id!r}: want a str")
    if id in ("", ".", "..") or "/" in id:  # it would name another path
        raise InvalidArgument(f"{id!r} cannot be the id of {kind}")
    return quote(id, safe="")


def question(text: str) -> str:
    """A text as a query: memoryd takes 16 KiB, and a character has up to four bytes."""
    return text.strip()[:4000]


def encode(body: Any) -> bytes | None:
    """A body as JSON; None is none."""
    if body is None:
        return None
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, default=_encode_other)
        return text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"the request cannot be written as JSON: {error}") from error


def _encode_other(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _time(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return value.isoformat()


def encode_query(query: Mapping[str, Any] | None) -> str:
    """A query with its question mark, or nothing."""
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        values = value if isinstance(value, (list, tuple)) else [value]
        for v in values:
            if v is None:
                continue
            if isinstance(v, bool):
                v = "true" if v else "false"
            elif isinstance(v, datetime):
                try:
                    v = _time(v)
                except ValueError as error:
                    raise InvalidArgument(f"{name}: {error}") from error
            pairs.append((name, str(v)))
    return "?" + urlencode(pairs) if pairs else ""


class Options:
    """The options of a client, checked."""

    def __init__(self, url: str, key: str | None, retries: int) -> None:
        if "@" in url:  # errors show the URL, and may be logged
            raise InvalidArgument(
                "memoryd's URL has a user, a password or another @ in it: memoryd knows keys "
                "alone, which go into key= or MEMORYD_KEY"
            )
        try:
            parts = urlsplit(url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname)
            good = good and not parts.query and not parts.fragment and parts.port != 0
        except (ValueError, AttributeError):
            good = False
        if not good:
            raise InvalidArgument(f"memoryd's URL {url!r}: want one such as http://127.0.0.1:8080")
        if key and not re.fullmatch(r"[!-~]+", key):
            raise InvalidArgument("the key has characters that no key has")
        self.url = url.rstrip("/")
        self.retries = max(retries, 0)
        self.headers = {
            "Accept": "application/json",
            "User-Agent": f"memoryd-python/{__version__}",
        }
        if key:
            self.headers["Authorization"] = f"Bearer {key}"
        self.body_headers = {**self.headers, "Content-Type": "application/json"}


def unreachable(method: str, url: str, error: Exception) -> Unreachable:
    """The error of a call that got no answer."""
    words = str(error) or type(error).__name__
    refused = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    return Unreachable(
        f"memoryd cannot be reached: {words}", method=method, url=url, sent=not refused
    )


def failure(method: str, url: str, response: httpx.Response) -> MemorydError:
    """The error of an answer that is none below 300. Its body has been read."""
    code, status, message = response.status_code, "", ""
    try:
        detail = response.json()["error"]
        status, message = str(detail["status"]), str(detail["message"])
    except (ValueError, KeyError, TypeError):  # not memoryd's: a proxy's, or another server's
        message = f"{response.reason_phrase}: {response.text[:200].strip()}"
    after: float | None = None
    if (text := response.headers.get("Retry-After", "")).isdecimal():
        after = float(text)
    kind = KINDS.get(status)
    if kind is None and not status and code in (502, 503, 504):
        kind, status = Unavailable, "UNAVAILABLE"
    if kind is None:
        kind = Incompatible if not status else MemorydError
    if kind is Incompatible:
        message = f"the answer is not one of memoryd: {message}"
    return kind(message, method=method, url=url, status_code=code, status=status, retry_after=after)


_UNKNOWN = re.compile(r'unknown (?:field|query parameter) "([^"]*)"')


def suspect(error: MemorydError, body: Any) -> str | None:
    """Why an error may tell of a memoryd of another version: a reason, or None."""
    if isinstance(error, Incompatible):
        return error.message
    if "there is no route for" in error.message and error.status_code in (404, 405):
        return "it has no such call"
    found = _UNKNOWN.search(error.message)
    if error.status == "INVALID_ARGUMENT" and found:
        ours = isinstance(body, Fields) and found[1] in body
        if ours or "query parameter" in found[0]:
            return f"it does not know {found[1]!r}"
    return None


def incompatible(error: MemorydError, reason: str, base: str, version: str) -> Incompatible:
    if version:
        found = f"the memoryd at {base} is version {version}, and this package is {__version__}"
    else:
        found = f"there is no memoryd at {base} that this package, version {__version__}, knows"
    return Incompatible(
        f"{found}: {reason}",
        method=error.method,
        url=error.url,
        status_code=error.status_code,
        status=error.status,
    )


def version_in(response: httpx.Response) -> str:
    """The version in an answer to GET /openapi.json; "" if it is not one of memoryd."""
    try:
        return str(response.json()["info"]["version"])
    except (ValueError, KeyError, TypeError):
        return ""


def decode(method: str, url: str, response: httpx.Response, needs: str = "") -> Any:
    """The JSON of an answer, which is an object with the field needs if that names one."""
    try:
        answer = json.loads(response.content) if response.content else None
        if not needs or (isinstance(answer, dict) and needs in answer):
            return answer
    except ValueError:
        pass
    missing = f"it has no {needs!r}: " if needs else ""
    raise Incompatible(
        f"the answer is not one of memoryd: {missing}{response.text[:200].strip()}",
        method=method,
        url=url,
        status_code=response.status_code,
    )


def pause(error: MemorydError, tries: int, repeatable: bool) -> float | None:
    """The seconds before the next try, or None if there is to be none. tries counts those
    that have failed."""
    if isinstance(error, Unreachable):
        again = repeatable or not error.sent
    else:
        again = error.status_code == 429 or (repeatable and isinstance(error, Unavailable))
    if not again:
        return None
    if error.retry_after is not None and error.retry_after > 0:
        return error.retry_after if error.retry_after <= LONGEST_RETRY_AFTER else None
    wait: float = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_WAIT)
    return wait * random.uniform(0.5, 1.5)


def resume(error: MemorydError, tries: int, retries: int) -> float | None:
    """The seconds before a stream that failed is begun again, or None if it is not. tries counts
    those in a row that have failed. A memoryd that says when it wants the call is waited for,
    as what the stream tells of goes on meanwhile."""
    if isinstance(error, (Unavailable, ResourceExhausted)) and error.retry_after is not None:
        return max(error.retry_after, FIRST_WAIT)
    return pause(error, tries, True) if tries <= retries else None


class Lines:
    """The lines of a text that comes in pieces. A line feed alone ends one: str.splitlines and
    httpx end lines at characters, such as U+2028, that JSON has within its texts."""

    def __init__(self) -> None:
        self._rest: list[str] = []

    def feed(self, piece: str) -> list[str]:
        """The lines that end in this piece."""
        *ended, rest = piece.split("\n")
        if ended:
            ended[0] = "".join([*self._rest, ended[0]])
            self._rest = []
        self._rest.append(rest)
        return ended
