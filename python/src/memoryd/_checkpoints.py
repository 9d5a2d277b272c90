"""The checkpoints of LangGraph in sessions of memoryd.

A thread has a session for each of its checkpoint namespaces. Each checkpoint and each write
is an event of the system with the time of its checkpoint's id, so that one read finds a
checkpoint with its writes, in whichever order they arrived. All of it is bytes, of which
memoryd makes no memories, which no search finds, and in which redaction replaces nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.base import SerializerProtocol

from ._client import AsyncClient, Client
from ._core import segment
from ._errors import InvalidArgument, NotFound
from ._history import append
from ._steps import Call, Caller, Steps
from ._times import parse_time

PREFIX = "langgraph-"  # of the ids of sessions, by which lists find them
# memoryd leaves bytes of this type alone, whatever the app has redacted.
BYTES = "application/octet-stream"

# A checkpoint mostly has few writes, and all events of a page are whole checkpoints: a read
# begins with few events and goes on with more where they are not enough.
FEW = 4
MORE = 4
PAGE = 1000  # events, the most of a page

Sessions = list[tuple[str, str]]  # each with its user

GREGORIAN = datetime(1582, 10, 15, tzinfo=timezone.utc)  # where the times of UUIDs begin


@dataclass
class Saved:
    """A checkpoint as it is stored, before its bytes are read."""

    id: str
    time: datetime
    header: dict[str, Any]
    data: list[tuple[str, bytes]]  # the checkpoint and its metadata
    # By task and index.
    writes: dict[tuple[str, int], tuple[str, tuple[str, bytes]]] = field(default_factory=dict)


class MemorydSaver(BaseCheckpointSaver[int]):
    """A checkpointer of LangGraph, sync and async.

        graph = builder.compile(checkpointer=MemorydSaver("shop", "ann"))

    A checkpoint has about 23 MiB at most. Threads grow until they are deleted or expire as
    memoryd's sessions do.

    Args:
        app: The app.
        user: The user whose threads these are, or a function that returns the user of a
            thread's id. With a function, a list of all threads takes an admin's key.
        client: For the sync methods.
        async_client: For the async methods. Without either client both follow from MEMORYD_URL
            and MEMORYD_KEY.
        serde: How values become bytes, as in LangGraph's own checkpointers.
    """

    def __init__(
        self,
        app: str,
        user: str | Callable[[str], str],
        *,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        if isinstance(user, str):
            segment("user", user)
        self._user = user
        self._caller = Caller(app, client, async_client)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that config names, or the latest one of the thread. None if there is
        none."""
        return self._caller.run(self._get(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As get_tuple."""
        return await self._caller.arun(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest first. Without a limit all of a thread are read at once."""
        yield from self._caller.run(self._list(config, filter or {}, before, limit))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As list."""
        for found in await self._caller.arun(self._list(config, filter or {}, before, limit)):
            yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, whole, and return the config that names it."""
        return self._caller.run(self._put(config, checkpoint, metadata))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As put."""
        return await self._caller.arun(self._put(config, checkpoint, metadata))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task beside a checkpoint, all or none."""
        self._caller.run(self._put_writes(config, writes, task_id))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As put_writes."""
        await self._caller.arun(self._put_writes(config, writes, task_id))

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints and writes of a thread. Memories stay."""
        self._caller.run(self._delete(str(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        """As delete_thread."""
        await self._caller.arun(self._delete(str(thread_id)))

    def _get(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        thread, ns = _thread(config), _namespace(config)
        of = self._of(thread), _session(thread, ns)
        if id := get_checkpoint_id(config):
            found = yield from self._exact(*of, id)
        else:
            latest = yield from self._newest(*of, 1, lambda saved: True)
            found = latest[0] if latest else None
        return None if found is None else self._tuple(found)

    def _list(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any],
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Steps[Sequence[CheckpointTuple]]:
        wanted = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None

        def keep(saved: Saved) -> bool:
            if wanted and saved.id != wanted or end and saved.id >= end:
                return False
            metadata = self.serde.loads_typed(saved.data[1]) if filter else {}
            return all(metadata.get(name) == value for name, value in filter.items())

        found: list[Saved] = []
        for of in (yield from self._sessions(config)):
            found += yield from self._newest(*of, limit, keep)
        found.sort(key=lambda saved: saved.id, reverse=True)
        return [self._tuple(saved) for saved in found[:limit]]

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Steps[RunnableConfig]:
        thread, ns, id = _thread(config), _namespace(config), checkpoint["id"]
        header = {"thread": thread, "namespace": ns, "parent": get_checkpoint_id(config)}
        data = [
            self.serde.dumps_typed(checkpoint),
            self.serde.dumps_typed(get_checkpoint_metadata(config, metadata)),
        ]
        # If a checkpoint is put again, the later id counts.
        yield from self._append(thread, ns, [_event(f"{id}-{uuid6()}", id, header, data)])
        return _config(thread, ns, id)

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task: str
    ) -> Steps[None]:
        thread, ns, id = _thread(config), _namespace(config), get_checkpoint_id(config)
        if not id:
            raise InvalidArgument("config has no checkpoint_id: writes belong to a checkpoint")
        events: list[dict[str, Any]] = []
        for place, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, place)
            name = f"{id}-{task}-{index}"
            if index < 0:  # of an interrupt or an error the latest counts, of others the first
                name += f"-{uuid6()}"
            header = {"task": task, "index": index, "channel": channel}
            events.append(_event(name, id, header, [self.serde.dumps_typed(value)]))
        if events:
            yield from self._append(thread, ns, events)

    def _append(self, thread: str, ns: str, events: Sequence[dict[str, Any]]) -> Steps[None]:
        yield from append(self._of(thread), _session(thread, ns), events)

    def _delete(self, thread: str) -> Steps[None]:
        for user, session in (yield from self._sessions({"configurable": {"thread_id": thread}})):
            yield Call("delete_session", (session,), user=user)

    def _of(self, thread: str) -> str:
        return self._user if isinstance(self._user, str) else self._user(thread)

    def _sessions(self, config: RunnableConfig | None) -> Steps[Sessions]:
        """The users and ids of the sessions in which config has checkpoints."""
        if config is None:
            users, prefix = (yield from self._users()), PREFIX
        else:
            thread = _thread(config)
            if config.get("configurable", {}).get("checkpoint_ns") is not None:
                return [(self._of(thread), _session(thread, _namespace(config)))]
            users, prefix = [self._of(thread)], _prefix(thread)
        found: Sessions = []
        for user in users:
            named = {"filter": f'id =~ "^{prefix}"', "state": False}
            sessions = yield Call("list_sessions", (), named, user)
            found += [(user, s["id"]) for s in sessions]
        return found

    def _users(self) -> Steps[Sequence[str]]:
        if isinstance(self._user, str):
            return [self._user]
        users = yield Call("list_users")
        return [u["id"] for u in users]

    def _exact(self, user: str, session: str, id: str) -> Steps[Saved | None]:
        """The checkpoint of an id."""
        at = _time(id)
        if at is None:  # no checkpoint has such an id
            return None
        events: list[Any] = []
        named: dict[str, Any] = {"after": at, "state": False, "page_size": FEW}
        while True:
            try:
                page = yield Call("get_session", (session,), named, user)
            except NotFound:
                return None
            events += page["events"]
            token = page.get("nextPageToken")
            if not token or parse_time(events[-1]["timestamp"]) > at:
                return _saved(events).get(id)
            named["page_size"] = min(MORE * named["page_size"], PAGE)
            named["page_token"] = token

    def _newest(
        self, user: str, session: str, limit: int | None, keep: Callable[[Saved], bool]
    ) -> Steps[Sequence[Saved]]:
        """The newest checkpoints for which keep is true, so many at most."""
        if limit is not None and limit <= 0:
            return []
        # The latest checkpoint mostly has no writes yet: the event before it is enough to see that.
        most = None if limit is None else FEW * limit - 2
        while True:
            named = {"num_recent_events": most, "state": False}
            try:
                page = yield Call("get_session", (session,), named, user)
            except NotFound:
                return []
            events = page["events"]
            found = sorted(_saved(events).values(), key=lambda saved: saved.id, reverse=True)
            whole = most is None or len(events) < most
            if not whole:  # writes of the first event's time may lie before it
                first = parse_time(events[0]["timestamp"])
                found = [saved for saved in found if saved.time > first]
            found = [saved for saved in found if keep(saved)]
            if most is None or whole or len(found) >= (limit or 0):
                return found[:limit]
            most *= MORE

    def _tuple(self, saved: Saved) -> CheckpointTuple:
        thread, ns, parent = (saved.header[name] for name in ("thread", "namespace", "parent"))
        writes: list[PendingWrite] = [
            (task, channel, self.serde.loads_typed(value))
            for (task, _), (channel, value) in sorted(saved.writes.items())
        ]
        return CheckpointTuple(
            config=_config(thread, ns, saved.id),
            checkpoint=self.serde.loads_typed(saved.data[0]),
            metadata=self.serde.loads_typed(saved.data[1]),
            parent_config=_config(thread, ns, parent) if parent else None,
            pending_writes=writes,
        )


def _thread(config: RunnableConfig) -> str:
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        raise InvalidArgument("config has no thread_id in configurable")
    return _encodable("thread_id", str(thread))


def _namespace(config: RunnableConfig) -> str:
    return _encodable("checkpoint_ns", str(config.get("configurable", {}).get("checkpoint_ns", "")))


def _encodable(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{name} {text!r} has half a character: {error}") from error
    return text


def _config(thread: str, ns: str, id: str) -> RunnableConfig:
    named = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}
    return {"configurable": named}


def _prefix(thread: str) -> str:
    """How the ids of a thread's sessions begin. Hashes, as ids have 256 bytes at most."""
    return PREFIX + hashlib.sha256(thread.encode()).hexdigest() + "-"


def _session(thread: str, ns: str) -> str:
    return _prefix(thread) + hashlib.sha256(ns.encode()).hexdigest()


def _time(id: str) -> datetime | None:
    """The time in a checkpoint's id, in microseconds: all its events have it. None if there
    is none."""
    try:
        parsed = uuid.UUID(id)
    except ValueError:
        return None
    if parsed.version != 6:
        return None
    number = parsed.int  # 48 bits of the time, 4 of the version, 12 of the time, and others
    steps = (number >> 80 << 12) | (number >> 64 & 0xFFF)  # of 100 ns
    return GREGORIAN + timedelta(microseconds=steps // 10)


def _event(
    name: str, id: str, header: dict[str, Any], data: Sequence[tuple[str, bytes]]
) -> dict[str, Any]:
    """The event of a checkpoint or a write. Its header is bytes too: redaction would change
    texts, such as the id of a thread that reads like a number of a phone."""
    at = _time(id)
    if at is None:
        raise InvalidArgument(f"the id {id!r} of a checkpoint: want a UUID of version 6")
    header = {**header, "types": [kind for kind, _ in data]}
    raw = [json.dumps(header).encode(), *(value for _, value in data)]
    parts = [
        {"inlineData": {"mimeType": BYTES, "data": base64.b64encode(value).decode()}}
        for value in raw
    ]
    content = {"role": "system", "parts": parts}  # nothing of the system's is remembered
    return {"id": name, "invocationId": id, "timestamp": at, "author": "system", "content": content}


def _saved(events: Sequence[Any]) -> dict[str, Saved]:
    """The checkpoints among events, by id, each with those of its writes that are there."""
    found: dict[str, Saved] = {}
    writes: list[tuple[str, tuple[str, int], tuple[str, tuple[str, bytes]]]] = []
    for event in sorted(events, key=lambda event: str(event["id"])):  # later ids count
        id = event.get("invocationId", "")
        if not id or not str(event["id"]).startswith(f"{id}-"):  # a change of state, or of others
            continue
        parts = (event.get("content") or {}).get("parts") or []
        blobs = [part.get("inlineData") or {} for part in parts]
        # Others may give an event such an id too, and then mostly with words.
        if not blobs or any(blob.get("mimeType") != BYTES for blob in blobs):
            continue
        raw, *data = (base64.b64decode(blob["data"]) for blob in blobs)
        header = json.loads(raw)
        typed = list(zip(header["types"], data))
        if "task" in header:
            place = header["task"], header["index"]
            writes.append((id, place, (header["channel"], typed[0])))
        else:
            found[id] = Saved(id, parse_time(event["timestamp"]), header, typed)
    for id, place, write in writes:
        if id in found:
            found[id].writes[place] = write
    return found
