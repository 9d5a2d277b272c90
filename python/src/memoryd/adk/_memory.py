"""ADK's memory services over memoryd."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, Part

from .._client import AsyncClient
from .._core import new_id, question
from .._errors import MemorydError, NotFound
from .._types import Memory
from ._service import Service

# Where events go that come without a session, as in ADK's own service.
_UNKNOWN_SESSION = "__unknown_session_id__"
# A request takes 10,000 events and 32 MiB.
_EVENTS = 1000
# Names in custom_metadata that are arguments of a call, as they are for ADK's service of
# Memory Bank. All others are metadata of the facts.
_OF_INGEST = (
    "allowed_topics",
    "disable_consolidation",
    "force_flush",
    "metadata_merge_strategy",
    "revision_ttl",
    "ttl",
)
_OF_ADD = ("description", "display_name", "expire_time", "revision_ttl", "topics", "ttl")


class MemoryService(Service, BaseMemoryService):
    """ADK's memory in memoryd: that of each user of an app.

    Args:
        uri: Where memoryd is: memoryd://HOST:PORT, memoryds:// for TLS, or http(s)://. Without
            one it is MEMORYD_URL, or memoryd://127.0.0.1:8080. The key is that of MEMORYD_KEY.
        wait: The calls that add wait until facts are made, for up to 30 s. Without it the
            words of events can be found when the call returns, and facts follow.
        client: A client to call memoryd with, in place of one that follows from uri. It stays
            open.
    """

    def __init__(
        self, uri: str | None = None, *, wait: bool = False, client: AsyncClient | None = None
    ) -> None:
        super().__init__(uri, client)
        self._wait = wait

    async def add_session_to_memory(self, session: Session) -> None:
        """Make memories of the events of a session. Those that are known change nothing."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            session_id=session.id,
            events=session.events,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Make memories of events. Both ways of adding may be mixed and repeated.

        custom_metadata is the metadata of the facts, but for ttl, revision_ttl,
        allowed_topics, disable_consolidation, force_flush, metadata_merge_strategy,
        wait_for_completion and metadata, which are what ADK's service of Memory Bank takes
        them for.
        """
        given = dict(custom_metadata or {})
        wait = bool(given.pop("wait_for_completion", self._wait))
        options = {name: given.pop(name) for name in _OF_INGEST if name in given}
        user = self._client.user(app_name, user_id)
        for i in range(0, len(events), _EVENTS):
            await user.ingest(
                session_id or _UNKNOWN_SESSION,
                [_said(event) for event in events[i : i + _EVENTS]],
                wait=wait,
                metadata=_metadata(given) or None,
                **_arguments(options),
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store the text of entries as facts, with their ids and authors.

        custom_metadata is metadata of each, beside its own, but for ttl, revision_ttl,
        expire_time, topics, display_name, description, enable_consolidation and metadata. With
        enable_consolidation a fact is compared with known ones, and has no id of its own.
        """
        given = dict(custom_metadata or {})
        compare = bool(given.pop("enable_consolidation", False))
        options = {name: given.pop(name) for name in _OF_ADD if name in given}
        user = self._client.user(app_name, user_id)
        for entry in memories:
            fact = " ".join(part.text for part in entry.content.parts or [] if part.text)
            metadata = {**_metadata(given), **entry.custom_metadata} or None
            if compare:
                kept = {name: options[name] for name in options if name in _OF_INGEST}
                await user.ingest(
                    facts=[{"fact": fact}], wait=self._wait, metadata=metadata, **_arguments(kept)
                )
                continue
            await user.add_memory(
                fact,
                id=entry.id or new_id(),  # so that a call whose answer was lost can be repeated
                author=entry.author,
                metadata=metadata,
                **_arguments(options),
            )

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete the memory of an entry that a search has found. One that is gone is none."""
        if not memory_id:
            return
        try:
            await self._client.user(app_name, user_id).delete_memory(memory_id)
        except NotFound:
            pass

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """What memory has for a query, best first. A fact and the words that it comes from are
        one entry. No text has characters that a model would read and no person see."""
        if not (query := question(query)):
            return SearchMemoryResponse()
        user = self._client.user(app_name, user_id)
        found: Any = await user.call_tool("load_memory", {"query": query})
        if "error" in found:
            raise MemorydError(
                str(found["error"]), method="POST", url=self._client.url, status="UNAVAILABLE"
            )
        return SearchMemoryResponse(memories=[_entry(m) for m in found["memories"]])


class SharedMemoryService(Service, BaseMemoryService):
    """The shared knowledge of an app, as a memory service of its own: for an agent that has
    another one for the past of the user. It only searches, since admins write that knowledge.

    Args:
        uri: As that of MemoryService.
        top_k: How many entries a search has at most.
        client: As that of MemoryService.
    """

    def __init__(
        self, uri: str | None = None, *, top_k: int = 10, client: AsyncClient | None = None
    ) -> None:
        super().__init__(uri, client)
        self._top_k = top_k

    async def add_session_to_memory(self, session: Session) -> None:
        """Refused: nothing that a user says becomes shared knowledge."""
        raise NotImplementedError(
            "Shared knowledge is not made of sessions: an admin writes it, for example with "
            "client.app(name).put_document."
        )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """The shared knowledge for a query, best first. Each text says where it is from."""
        if not (query := question(query)):
            return SearchMemoryResponse()
        name = user_id.replace("\\", "\\\\").replace('"', '\\"')
        found = await self._client.user(app_name, user_id).search(
            query,
            shared=True,
            filter=f'user_id != "{name}"',
            lines=True,
            top_k=self._top_k,
        )
        return SearchMemoryResponse(
            memories=[_knowledge(m["memory"], m.get("line", m["memory"]["fact"])) for m in found]
        )


def _said(event: Event) -> dict[str, Any]:
    """The JSON of an event without pictures and sound: only text is remembered."""
    return event.model_dump(
        mode="json",
        by_alias=True,
        exclude_none=True,
        exclude={"content": {"parts": {"__all__": {"inline_data"}}}},
    )


def _metadata(given: Mapping[str, object]) -> dict[str, Any]:
    """The metadata in custom_metadata: all names that are left, and those in "metadata"."""
    named = given.get("metadata")
    rest = {k: v for k, v in given.items() if k != "metadata"}
    return {**rest, **named} if isinstance(named, Mapping) else dict(given)


def _arguments(options: Mapping[str, object]) -> dict[str, Any]:
    """Arguments whose types memoryd checks."""
    return dict(options)


def _text(text: str) -> str:
    """A text for ADK's preload_memory, which puts texts between tags, and begins each with a
    line "author: text": a memory must not end the block, nor begin an entry of it."""
    text = re.sub(r"(?i)<(?=\s*/?\s*PAST_CONVERSATIONS)", "&lt;", text)
    return text.replace("\n", "\n  ")


def _entry(found: Mapping[str, Any]) -> MemoryEntry:
    content = found["content"]
    return MemoryEntry(
        id=found["id"],
        content=Content(role=content["role"], parts=[Part(text=_text(content["parts"][0]["text"]))]),
        author=found.get("author"),
        timestamp=found["timestamp"],
        custom_metadata=found.get("customMetadata") or {},
    )


def _knowledge(memory: Memory, line: str) -> MemoryEntry:
    about: dict[str, Any] = {}
    if passage := memory["source"].get("passage"):
        about["document"] = passage
    return MemoryEntry(
        id=memory["id"],
        content=Content(role="model", parts=[Part(text=_text(line))]),
        timestamp=memory["timestamp"],
        custom_metadata=about,
    )
