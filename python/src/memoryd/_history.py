"""The items of a framework in a session of memoryd, each in a field of an event of its own.

memoryd reads the content of the event, and the framework the field, which comes back to the
letter. Events without the field are of others, and no items.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._core import new_id, segment
from ._errors import AlreadyExists, NotFound, Unreachable
from ._steps import Call, Steps


class History:
    """The items in one session of a user.

    Args:
        user: The user.
        session: The session. It is made with its first item.
        field: The field of an event that has the item.
        remember: Whether memories are made of the items.
    """

    def __init__(self, user: str, session: str, field: str, *, remember: bool) -> None:
        segment("user", user)
        segment("session", session)
        self._user, self._session, self._field = user, session, field
        self._remember = remember

    def read(self, limit: int | None = None) -> Steps[list[Any]]:
        """The items in order, or the last of them."""
        events = yield from self._events(limit)
        return [e[self._field] for e in events]

    def add(self, items: Sequence[tuple[Any, Mapping[str, Any]]]) -> Steps[None]:
        """Append items, each with the fields of its event that memoryd reads, all or none."""
        events: list[dict[str, Any]] = []
        for item, read in items:
            id = new_id()
            # An invocation of its own lets pop take back this item alone.
            events.append({"id": id, "invocationId": id, **read, self._field: item})
        if events and self._remember:
            yield self._call("ingest", events)
        elif events:
            yield from append(self._user, self._session, events)

    def pop(self) -> Steps[Any]:
        """Take back the last item, with the memories made of it. None if there is none."""
        while True:
            last = yield from self._events(1)
            if not last:
                return None
            item, mine = last[0], new_id()
            # A rewind right behind the item, by its time and as ids order events of one time: it
            # takes back this item, and none that another caller adds meanwhile. Of several
            # callers one stores the event of this id, and the others look again.
            taken = {
                "id": f"pop-{item['id']}",
                "author": "system",
                "timestamp": item["timestamp"],
                "invocationId": f"pop-{item['id']}",
                "popId": mine,
                "actions": {"rewindBeforeInvocationId": item["invocationId"]},
            }
            stored = yield self._call("append_events", [taken])
            if stored["events"][0].get("popId") != mine:
                continue
            if self._remember:
                yield self._call("add_session")
            return item[self._field]

    def clear(self) -> Steps[None]:
        """Delete the session. Memories stay."""
        yield self._call("delete_session")

    def _events(self, limit: int | None) -> Steps[list[Any]]:
        """The events with an item that hold, the last ones if there is a limit."""
        most = limit
        while True:
            # Events of others and those that were taken back leave fewer items than events.
            most = None if most is None else 2 * most + 8
            try:
                session = yield self._call("get_session", num_recent_events=most)
            except NotFound:
                return []
            events = session["events"]
            whole = most is None or len(events) < most
            kept = _holding(events, whole)
            if kept is not None:
                kept = [e for e in kept if self._field in e]
                if whole or limit is None or len(kept) >= limit:
                    return kept[-limit:] if limit else ([] if limit == 0 else kept)

    def _call(self, method: str, *args: Any, **named: Any) -> Call:
        return Call(method, (self._session, *args), named, self._user)


def arguments(text: str) -> dict[str, Any]:
    """The arguments that a model gave a call, as an object that memoryd takes. A model may write
    anything: text that is no such object is a field of one."""
    try:
        args = json.loads(text or "{}")
        if isinstance(args, dict) and not _deep(args):
            # Python reads NaN, 1e999 and half a character, which a request cannot have.
            json.dumps(args, ensure_ascii=False, allow_nan=False).encode()
            return args
    except (ValueError, RecursionError):
        pass
    return {"arguments": text}


def _deep(args: Any) -> bool:
    """Whether a value nests deeper than 48, as with the event around it a request nests 72 deep
    at most."""
    level = [args]
    for _ in range(48):
        level = [
            inner
            for value in level
            if isinstance(value, (dict, list))
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def append(user: str, session: str, events: Sequence[Mapping[str, Any]]) -> Steps[None]:
    """Append events with ids to a session, which is made with its first ones."""
    for last in (False, True):
        try:
            yield Call("append_events", (session, events), user=user)
            return
        except NotFound:
            pass
        try:
            yield Call("create_session", (session,), {"events": events}, user)
            return
        except (AlreadyExists, Unreachable):
            # Another caller was faster, or the answer was lost and the session may be there.
            # Events are stored once by their ids.
            if last:
                raise


def _holding(events: list[Any], whole: bool) -> list[Any] | None:
    """The events that no rewind has taken back: one takes back what came before it, from the
    first event of an invocation on. None if that may lie before the first of the events."""
    firsts: dict[str, int] = {}
    for i, e in enumerate(events):
        firsts.setdefault(e.get("invocationId", ""), i)
    kept: list[Any] = []
    i = len(events) - 1  # from the end, as a rewind may be taken back itself
    while i >= 0:
        invocation = (events[i].get("actions") or {}).get("rewindBeforeInvocationId")
        kept.append(events[i])
        if invocation and invocation not in firsts and not whole:
            return None
        first = firsts.get(invocation, i) if invocation else i
        i = min(first, i) - 1
    kept.reverse()
    return kept
