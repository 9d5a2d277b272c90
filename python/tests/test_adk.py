"""The services of memoryd.adk. Where both must agree, ADK's in-memory services take the same
tests."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
import unittest
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import memoryd

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event, EventActions
from google.adk.events.event import NodeInfo
from google.adk.events.event_actions import EventCompaction
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.session import Session
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai import types

from memoryd.adk import MemoryService, SessionService, SharedMemoryService

from .server import error, serve

URL = os.environ["MEMORYD_URL"]
URI = re.sub("^http", "memoryd", URL)
pytestmark = pytest.mark.filterwarnings("ignore")  # ADK warns of features that it tries out


def says(text: str, author: str = "user", **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", content=content, **fields)


def at(timestamp: float, **delta: Any) -> Event:
    return Event(author="agent", invocation_id="i", timestamp=timestamp, actions=EventActions(state_delta=delta))


async def read(service: BaseSessionService, **which: Any) -> Session:
    """A session that is there."""
    got = await service.get_session(**which)
    assert got is not None
    return got


def text(entry: MemoryEntry) -> str:
    """The text of an entry, which has one part."""
    assert entry.content.parts is not None and len(entry.content.parts) == 1
    return entry.content.parts[0].text or ""


def words(event: Event) -> str:
    """The text of an event."""
    assert event.content is not None
    return "".join(part.text or "" for part in event.content.parts or [])


class Scope:
    """A new app and user."""

    def __init__(self) -> None:
        self.app: dict[str, Any] = {"app_name": "app-" + uuid.uuid4().hex}
        self.ann = {**self.app, "user_id": "ann@x.com ü %2F?#"}
        self.bob = {**self.app, "user_id": "bob"}


class Sessions(unittest.IsolatedAsyncioTestCase):
    async def each(self, check: Callable[[BaseSessionService, Scope], Awaitable[None]]) -> None:
        for service in (InMemorySessionService(), SessionService(URI)):
            with self.subTest(type(service).__name__):
                await check(service, Scope())

    async def test_create(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            state = {"k": 1, "none": None, "user:u": {"a": [1.5]}, "app:a": "ä", "temp:t": 4}
            made = await service.create_session(**s.ann, state=state, session_id=" s1 ")
            self.assertEqual((made.id, made.app_name, made.user_id), ("s1", s.ann["app_name"], s.ann["user_id"]))
            self.assertEqual((made.state, made.events), ({k: v for k, v in state.items() if k != "temp:t"}, []))
            self.assertGreater(made.last_update_time, 1.7e9)
            self.assertEqual(await read(service, **s.ann, session_id="s1"), made)
            with self.assertRaises(AlreadyExistsError):
                await service.create_session(**s.ann, session_id="s1")
            for blank in (None, "", "  "):
                uuid.UUID((await service.create_session(**s.ann, session_id=blank)).id)
            other = await service.create_session(**s.bob, session_id="s1")
            self.assertEqual(other.state, {"app:a": "ä"})

        await self.each(check)

    async def test_get_missing(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            self.assertIsNone(await service.get_session(**s.ann, session_id="s1"))
            await service.create_session(**s.ann, session_id="s1")
            self.assertIsNone(await service.get_session(**s.bob, session_id="s1"))

        await self.each(check)

    async def test_get_part(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            made = await service.create_session(**s.ann, session_id="s1")
            for i in range(1, 6):
                await service.append_event(made, at(1.7e9 + i, k=i))

            async def get(**config: Any) -> list[float]:
                got = await read(service, **s.ann, session_id="s1", config=GetSessionConfig(**config))
                self.assertEqual(got.state, {"k": 5})
                return [e.timestamp - 1.7e9 for e in got.events]

            self.assertEqual(await get(), [1, 2, 3, 4, 5])
            self.assertEqual(await get(num_recent_events=0), [])
            self.assertEqual(await get(num_recent_events=2), [4, 5])
            self.assertEqual(await get(num_recent_events=9), [1, 2, 3, 4, 5])
            self.assertEqual(await get(after_timestamp=1.7e9 + 3), [3, 4, 5])
            self.assertEqual(await get(after_timestamp=1.7e9 + 3.5), [4, 5])
            self.assertEqual(await get(after_timestamp=1.7e9 + 6), [])
            self.assertEqual(await get(after_timestamp=1.7e9 + 2, num_recent_events=2), [4, 5])
            self.assertEqual(await get(after_timestamp=1.7e9 + 5, num_recent_events=2), [5])

        await self.each(check)

    async def test_list(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            self.assertEqual((await service.list_sessions(**s.ann)).sessions, [])
            for i in range(120):  # more than a page
                await service.create_session(**s.ann, session_id=f"s{i:03}", state={"n": i})
            await service.create_session(**s.bob, session_id="b", state={"app:a": 1})
            made = await read(service, **s.ann, session_id="s007")
            await service.append_event(made, at(1.7e9, k=1))
            mine = {x.id: x for x in (await service.list_sessions(**s.ann)).sessions}
            self.assertEqual(sorted(mine), [f"s{i:03}" for i in range(120)])
            updated = [(x.last_update_time, x.id) for x in mine.values()]
            self.assertEqual((updated, updated[0][1]), (sorted(updated), "s007"))  # the event is of 2023
            self.assertEqual((mine["s007"].events, mine["s007"].state), ([], {"n": 7, "k": 1, "app:a": 1}))
            everyone = (await service.list_sessions(**s.app)).sessions
            self.assertEqual(len(everyone), 121)
            self.assertEqual([x.user_id for x in everyone if x.id == "b"], ["bob"])

        await self.each(check)

    async def test_delete(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            await service.delete_session(**s.ann, session_id="s1")
            await service.create_session(**s.ann, session_id="s1", state={"user:u": 1, "app:a": 2, "k": 3})
            await service.delete_session(**s.bob, session_id="s1")
            self.assertIsNotNone(await service.get_session(**s.ann, session_id="s1"))
            await service.delete_session(**s.ann, session_id="s1")
            self.assertIsNone(await service.get_session(**s.ann, session_id="s1"))
            again = await service.create_session(**s.ann, session_id="s1")
            self.assertEqual(again.state, {"user:u": 1, "app:a": 2})

        await self.each(check)

    async def test_append(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            made = await service.create_session(**s.ann, session_id="s1", state={"gone": 1})
            other = await service.create_session(**s.ann, session_id="s2")
            event = at(1.7e9 + 0.25, k=1, gone=None, **{"user:u": 2, "app:a": 3, "temp:t": 4})
            self.assertIs(await service.append_event(made, event), event)
            kept = {"k": 1, "gone": None, "user:u": 2, "app:a": 3}
            self.assertEqual(event.actions.state_delta, kept)
            self.assertEqual(made.state, {**kept, "temp:t": 4})  # for the agents that come next in this invocation
            self.assertEqual((made.events, made.last_update_time), ([event], 1.7e9 + 0.25))
            got = await read(service, **s.ann, session_id="s1")
            self.assertEqual((got.state, got.events, got.last_update_time), (kept, [event], 1.7e9 + 0.25))
            other = await read(service, **s.ann, session_id=other.id)
            self.assertEqual(other.state, {"user:u": 2, "app:a": 3})
            bobs = await service.create_session(**s.bob)
            self.assertEqual(bobs.state, {"app:a": 3})

        await self.each(check)

    async def test_append_partial(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            made = await service.create_session(**s.ann, session_id="s1")
            event = says("He", "agent", partial=True, actions=EventActions(state_delta={"k": 1}))
            self.assertIs(await service.append_event(made, event), event)
            self.assertEqual((made.events, made.state), ([], {}))
            self.assertEqual(await read(service, **s.ann, session_id="s1"), made)

        await self.each(check)

    async def test_round_trip(self) -> None:
        blob = types.Blob(mime_type="image/png", data=bytes(range(256)))
        call = types.FunctionCall(id="c", name="f", args={"snake_case": 1, "camelCase": None, "deep": [{}]})
        answer = types.FunctionResponse(id="c", name="f", response={"result": "é\u0001\\ 🙂", "none": None})
        parts = [
            types.Part(text="thinking", thought=True, thought_signature=b"\xff\x00\xfe"),
            types.Part(inline_data=blob),
            types.Part(function_call=call),
            types.Part(function_response=answer),
        ]
        said = types.Content(role="model", parts=[types.Part(text="in short")])
        event = Event(
            invocation_id="i1",
            author="agent",
            branch="a.b",
            content=types.Content(role="model", parts=parts),
            actions=EventActions(
                state_delta={"a_b": None, "deep": {"x_y": [1, None, {"z": 1e-9}]}},
                artifact_delta={"a_b.txt": 3},
                rewind_before_invocation_id="i0",
                compaction=EventCompaction(start_timestamp=1.5, end_timestamp=2.000001, compacted_content=said),
                agent_state={"n": None},
                transfer_to_agent="b",
                escalate=True,
                route=["x", 1, True],
            ),
            output={"any": [None]},
            node_info=NodeInfo(path="w/a@1", output_for=["w"]),
            long_running_tool_ids={"c", "d"},
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=12, total_token_count=13),
            custom_metadata={"a_b": None, "aB": []},
            finish_reason=types.FinishReason.STOP,
            error_code="E",
            turn_complete=True,
            citation_metadata=types.CitationMetadata(citations=[types.Citation(start_index=1, uri="u")]),
        )

        async def check(service: BaseSessionService, s: Scope) -> None:
            made = await service.create_session(**s.ann, session_id="s1")
            appended = event.model_copy(deep=True)
            await service.append_event(made, appended)
            got = await read(service, **s.ann, session_id="s1")
            self.assertEqual(got.events, [appended])
            self.assertEqual(got, made)
            self.assertLess(abs(appended.timestamp - event.timestamp), 1e-6)
            self.assertEqual(got.events[0].model_copy(update={"timestamp": event.timestamp}), event)

        await self.each(check)

    async def test_append_again(self) -> None:
        service, s = SessionService(URI), Scope()
        made = await service.create_session(**s.ann, session_id="s1")
        event = at(1.7e9, k=1)
        await service.append_event(made, event)
        stale = await read(service, **s.ann, session_id="s1", config=GetSessionConfig(num_recent_events=0))
        await service.append_event(stale, event)  # as a client does that has not heard the answer
        await service.append_event(made, event)
        self.assertEqual(made.events, [event])
        self.assertEqual((await read(service, **s.ann, session_id="s1")).events, [event])

    async def test_append_from_many(self) -> None:
        service, s = SessionService(URI), Scope()
        await service.create_session(**s.ann, session_id="s1")

        async def one(i: int) -> None:
            mine = await read(service, **s.ann, session_id="s1")
            await service.append_event(mine, at(1.7e9 + i, **{f"k{i}": i}))

        await asyncio.gather(*(one(i) for i in range(20)))
        got = await read(service, **s.ann, session_id="s1")
        self.assertEqual(got.state, {f"k{i}": i for i in range(20)})
        self.assertEqual(len(got.events), 20)

    async def test_user_state(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            self.assertEqual(await service.get_user_state(**s.ann), {})
            state = {"user:u": {"a": [1]}, "app:a": 1, "k": 2}
            made = await service.create_session(**s.ann, session_id="s1", state=state)
            await service.append_event(made, at(1.7e9, **{"user:n": None, "user:app:x": 1}))
            await service.delete_session(**s.ann, session_id="s1")
            kept = {"u": {"a": [1]}, "n": None, "app:x": 1}
            self.assertEqual(await service.get_user_state(**s.ann), kept)
            self.assertEqual(await service.get_user_state(**s.bob), {})

        await self.each(check)

    async def test_padded_id(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            await service.create_session(**s.ann, session_id="s1")
            self.assertEqual((await read(service, **s.ann, session_id=" s1 ")).id, "s1")
            await service.delete_session(**s.ann, session_id=" s1 ")
            self.assertIsNone(await service.get_session(**s.ann, session_id="s1"))

        await self.each(check)

    async def test_temp_without_json(self) -> None:
        """State of temp: never leaves the process, and may be any object."""

        async def check(service: BaseSessionService, s: Scope) -> None:
            made = await service.create_session(**s.ann, session_id="s1")
            lock = asyncio.Lock()
            await service.append_event(made, at(1.7e9, k=1, **{"temp:lock": lock}))
            self.assertIs(made.state["temp:lock"], lock)
            self.assertEqual((await read(service, **s.ann, session_id="s1")).state, {"k": 1})

        await self.each(check)

    async def test_rewind(self) -> None:
        async def check(service: BaseSessionService, s: Scope) -> None:
            agent = LlmAgent(name="echo", model=Echo(), output_key="said")
            runner = Runner(**s.app, agent=agent, session_service=service)
            made = await service.create_session(**s.ann, session_id="s1", state={"user:u": 1})
            ids: dict[str, Any] = {"user_id": made.user_id, "session_id": made.id}
            for said in ("first", "second"):
                message = types.Content(role="user", parts=[types.Part(text=said)])
                async for _ in runner.run_async(**ids, new_message=message):
                    pass
            before = await read(service, **s.ann, session_id="s1")
            invocations = list(dict.fromkeys(e.invocation_id for e in before.events))
            self.assertIn("second", before.state["said"])
            await runner.rewind_async(**ids, rewind_before_invocation_id=invocations[1])
            after = await read(service, **s.ann, session_id="s1")
            self.assertEqual(after.events[:-1], before.events)
            last = after.events[-1].actions
            self.assertEqual(last.rewind_before_invocation_id, invocations[1])
            self.assertNotIn("second", after.state["said"])
            self.assertEqual(after.state["user:u"], 1)

        await self.each(check)

    async def test_errors(self) -> None:
        service, s = SessionService(URI), Scope()
        made = await service.create_session(**s.ann, session_id="s1")
        await service.delete_session(**s.ann, session_id="s1")
        with self.assertRaisesRegex(SessionNotFoundError, "s1.*not found"):
            await service.append_event(made, says("hi"))
        self.assertEqual(made.events, [])
        with self.assertRaisesRegex(memoryd.InvalidArgument, "session id"):
            await service.create_session(**s.ann, session_id="a/b")
        for id in ("", ".", "..", "s1/events"):
            with self.assertRaisesRegex(ValueError, "cannot be the id"):
                await service.delete_session(**s.ann, session_id=id)
            self.assertIsNone(await service.get_session(**s.ann, session_id=id))
        async with SessionService("memoryd://127.0.0.1:1") as away:
            with self.assertRaisesRegex(memoryd.Unreachable, "http://127.0.0.1:1/"):
                await away.list_sessions(**s.ann)
        with self.assertRaisesRegex(memoryd.Closed, "closed"):
            await away.list_sessions(**s.ann)
        for uri in ("127.0.0.1:8080", "postgres://x", "memoryd://", "memoryd://ann:hunter2@x"):
            with self.assertRaises(ValueError) as refused:
                SessionService(uri)
            self.assertNotIn("hunter2", str(refused.exception))

    async def test_client_of_the_caller(self) -> None:
        s = Scope()
        async with memoryd.AsyncClient(URL) as client:
            async with SessionService(client=client) as service:
                await service.create_session(**s.ann, session_id="s1")
            user = client.user(s.ann["app_name"], s.ann["user_id"])
            self.assertEqual((await user.get_session("s1"))["id"], "s1")


class Memory(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.sessions, self.memory, self.s = InMemorySessionService(), MemoryService(URI, wait=True), Scope()

    async def found(self, query: str, scope: dict[str, Any] | None = None) -> list[MemoryEntry]:
        return (await self.memory.search_memory(**(scope or self.s.ann), query=query)).memories

    async def test_add_and_search(self) -> None:
        self.assertEqual(await self.found("peanuts"), [])
        self.assertEqual(await self.found("  "), [])
        session = await self.sessions.create_session(**self.s.ann)
        first = says("My daughter Ines is allergic to peanuts.", timestamp=1.7e9)
        await self.sessions.append_event(session, first)
        await self.sessions.append_event(session, says("I'll keep that in mind.", "helper", timestamp=1.7e9 + 1))
        await self.memory.add_session_to_memory(session)
        once = await self.found("peanuts")
        fact = next(m for m in once if m.author == "user")
        self.assertEqual(fact.content, first.content)
        self.assertEqual(fact.timestamp, "2023-11-14T22:13:20.000000Z")
        self.assertIn("helper", [m.author for m in once])
        self.assertEqual(await self.found("peanuts", self.s.bob), [])

        # Both ways of adding may be mixed and repeated.
        await self.memory.add_events_to_memory(**self.s.ann, session_id=session.id, events=session.events[:1])
        await self.memory.add_session_to_memory(session)
        self.assertEqual(await self.found("peanuts"), once)

    async def test_add_many_events(self) -> None:
        events = [says(f"This is number {i}.", timestamp=1.7e9 + i) for i in range(1003)]
        await self.memory.add_events_to_memory(**self.s.ann, events=events)
        await self.memory.add_events_to_memory(**self.s.ann, events=[])
        self.assertIn("This is number 1002.", [text(m) for m in await self.found("number 1002")])

    async def test_add_pictures(self) -> None:
        picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=bytes(1 << 20)))
        events = [says(f"This is picture {i}.") for i in range(40)]
        for event in events:
            assert event.content and event.content.parts
            event.content.parts.insert(0, picture)
        await self.memory.add_events_to_memory(**self.s.ann, session_id="s1", events=[*events, at(1.7e9, k=1)])
        self.assertIn("This is picture 7.", [text(m) for m in await self.found("picture 7")])

    async def test_add_memory(self) -> None:
        content = types.Content(parts=[types.Part(text="I play"), types.Part(text="the cello.")])
        entry = MemoryEntry(content=content, custom_metadata={"from": "form", "n": [1]})
        await self.memory.add_memory(**self.s.ann, memories=[entry], custom_metadata={"from": "x", "by": "test"})
        (found,) = await self.found("cello")
        self.assertEqual(text(found), "I play the cello.")
        self.assertEqual(found.custom_metadata, {"from": "form", "n": [1], "by": "test"})

        await self.memory.delete_memory(**self.s.bob, memory_id=found.id)  # it is not his
        await self.memory.delete_memory(**self.s.ann)
        self.assertEqual(await self.found("cello"), [found])
        for _ in range(2):
            await self.memory.delete_memory(**self.s.ann, memory_id=found.id)
        self.assertEqual(await self.found("cello"), [])


    async def test_fact_is_shown_once(self) -> None:
        """A fact and the words that it is from are one entry, with the author of the words."""
        events = [says("I moved to Porto last week and I love the trams.")]
        await self.memory.add_events_to_memory(**self.s.ann, events=events)
        found = await self.found("Where do I live?")
        self.assertEqual(len([m for m in found if "Porto" in text(m)]), 1)
        self.assertEqual({m.author for m in found}, {"user"})

    async def test_author_and_id(self) -> None:
        said = types.Content(parts=[types.Part(text="Rita plays the cello.")])
        entry = MemoryEntry(content=said, id="note-1", author="bob")
        for _ in range(2):
            await self.memory.add_memory(**self.s.ann, memories=[entry])
        (found,) = await self.found("cello")
        self.assertEqual((found.id, found.author), ("note-1", "bob"))

    async def test_options(self) -> None:
        """Names of custom_metadata that ADK's service of Memory Bank takes for options."""
        options = {"ttl": "1h", "topics": ["MUSIC"], "metadata": {"by": "form"}, "n": 1}
        said = types.Content(parts=[types.Part(text="Rita plays the cello.")])
        entries = [MemoryEntry(content=said)]
        await self.memory.add_memory(**self.s.ann, memories=entries, custom_metadata=options)
        client = memoryd.Client(URL)
        self.addCleanup(client.close)
        user = client.user(self.s.ann["app_name"], self.s.ann["user_id"])
        (kept,) = user.list_memories()
        self.assertEqual((kept["topics"], kept.get("metadata")), (["MUSIC"], {"by": "form", "n": 1}))
        self.assertIn("expireTime", kept)
        told = [MemoryEntry(content=types.Content(parts=[types.Part(text="Bob plays the drums.")]))]
        for compare in (False, True, True):
            compared = {"enable_consolidation": compare}
            await self.memory.add_memory(**self.s.ann, memories=told, custom_metadata=compared)
        self.assertEqual(len(list(user.list_memories())), 2)
        adding = {"ttl": "1h", "metadata": {"by": "chat"}, "wait_for_completion": True}
        await MemoryService(URI).add_events_to_memory(
            **self.s.bob, events=[says("My dog is called Rex.")], custom_metadata=adding
        )
        (fact,) = client.user(self.s.bob["app_name"], "bob").list_memories(kind="fact")
        self.assertEqual(fact.get("metadata"), {"by": "chat"})
        self.assertIn("expireTime", fact)
        with self.assertRaisesRegex(memoryd.InvalidArgument, "ttl"):
            await self.memory.add_memory(
                **self.s.ann, memories=entries, custom_metadata={"ttl": "soon"}
            )

    async def test_refused(self) -> None:
        """A tool tells its model of a failure in its answer, which is an error here."""
        failed = {"result": {"error": "memory is away"}}
        with serve(lambda n, path: (200, {}, failed)) as server:
            async with MemoryService(server.url) as service:
                with self.assertRaisesRegex(memoryd.MemorydError, "memory is away"):
                    await service.search_memory(app_name="a", user_id="u", query="x")
        away = 503, {"Retry-After": "0"}, error(503, "UNAVAILABLE")
        with serve(lambda n, path: away) as server:
            async with MemoryService(client=memoryd.AsyncClient(server.url, retries=1)) as service:
                with self.assertRaises(memoryd.Unavailable):
                    await service.search_memory(app_name="a", user_id="u", query="x")

    async def test_shared(self) -> None:
        """Shared knowledge alone, and nothing of the user."""
        self.s.ann["user_id"] = 'ann "the \\ first"'
        with memoryd.Client(URL) as client:
            app = client.app(self.s.app["app_name"])
            app.put_document(
                "# Returns\n\nShoes can be returned within 60 days.", id="returns", title="Policy"
            )
        await self.memory.add_events_to_memory(**self.s.ann, events=[says("I returned my shoes.")])
        async with SharedMemoryService(URI) as manual:
            found = (await manual.search_memory(**self.s.ann, query="return shoes")).memories
            self.assertEqual(len(found), 1)
            self.assertIn("Shoes can be returned within 60 days.", text(found[0]))
            self.assertIn("Policy", text(found[0]))
            self.assertEqual(found[0].custom_metadata["document"]["documentId"], "returns")
            self.assertEqual((await manual.search_memory(**self.s.ann, query=" ")).memories, [])
            session = await self.sessions.create_session(**self.s.ann)
            with self.assertRaises(NotImplementedError):
                await manual.add_session_to_memory(session)
        self.assertNotIn("60 days", "".join(text(m) for m in await self.found("return shoes")))


class Echo(BaseLlm):
    """A model that gives prepared answers."""

    model: str = "echo"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        told = str(llm_request.config.system_instruction) + "".join(
            p.text or "" for c in llm_request.contents for p in c.parts or []
        )
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=told)]))


class Agents(unittest.IsolatedAsyncioTestCase):
    async def test_preload(self) -> None:
        s, memory = Scope(), MemoryService(URI, wait=True)
        await memory.add_events_to_memory(**s.ann, events=[says("My daughter Ines is allergic to peanuts.")])
        agent = LlmAgent(name="echo", model=Echo(), tools=[preload_memory_tool, load_memory_tool])
        runner = Runner(**s.app, agent=agent, session_service=SessionService(URI), memory_service=memory)
        session = await runner.session_service.create_session(**s.ann)
        message = types.Content(role="user", parts=[types.Part(text="Who is allergic?")])
        said = [e async for e in runner.run_async(user_id=session.user_id, session_id=session.id, new_message=message)]
        self.assertIn("<PAST_CONVERSATIONS>", words(said[-1]))
        self.assertIn("user: My daughter Ines is allergic to peanuts.", words(said[-1]))

    def test_run_without_a_loop(self) -> None:  # each run has an event loop of its own
        s, sessions = Scope(), SessionService(URI)
        session = asyncio.run(sessions.create_session(**s.ann))
        runner = Runner(**s.app, agent=LlmAgent(name="echo", model=Echo()), session_service=sessions)
        message = types.Content(role="user", parts=[types.Part(text="hello")])
        for _ in range(3):
            said = list(runner.run(user_id=session.user_id, session_id=session.id, new_message=message))
            self.assertEqual(said[-1].author, "echo")
        got = asyncio.run(read(sessions, **s.ann, session_id=session.id))
        self.assertEqual([e.author for e in got.events], ["user", "echo"] * 3)


AGENT = """
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, Part


class Polite(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=Content(role="model", parts=[Part(text="I see.")]))


async def remember(callback_context):
    await callback_context.add_session_to_memory()


root_agent = LlmAgent(
    name="assistant", model=Polite(model="polite"), after_agent_callback=remember
)
"""


@pytest.mark.parametrize("command", ["web", "api_server"])
def test_command(command: str, tmp_path: Path) -> None:
    """The line in services.py is all that ADK's commands need to find memoryd://."""
    adk = Path(sys.executable).with_name("adk")
    (tmp_path / "assistant").mkdir()
    (tmp_path / "assistant" / "__init__.py").touch()
    (tmp_path / "assistant" / "agent.py").write_text(AGENT)
    (tmp_path / "services.py").write_text("import memoryd.adk.services\n")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with (tmp_path / "log").open("wb") as log:
        served = subprocess.Popen(
            [str(adk), command, f"--session_service_uri={URI}", f"--memory_service_uri={URI}"]
            + [f"--port={port}", str(tmp_path)],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            until = time.monotonic() + 120
            while True:
                try:
                    assert http.get("/list-apps").json() == ["assistant"]
                    break
                except httpx.TransportError:
                    log_text = (tmp_path / "log").read_text()
                    assert served.poll() is None and time.monotonic() < until, log_text
                    time.sleep(0.1)
            user = "u-" + uuid.uuid4().hex
            path = f"/apps/assistant/users/{user}/sessions"
            assert http.post(path, json={"sessionId": "s1"}).status_code == 200
            assert http.post(path, json={"sessionId": "s1"}).status_code == 409
            message = {"role": "user", "parts": [{"text": "My sister Rita plays the cello."}]}
            run = {"appName": "assistant", "userId": user, "sessionId": "s1", "newMessage": message}
            assert http.post("/run", json=run, timeout=60).status_code == 200
            assert [s["id"] for s in http.get(path).json()] == ["s1"]
    finally:
        served.terminate()
        served.wait(30)

    async def kept() -> None:
        scope = {"app_name": "assistant", "user_id": user}
        session = await read(SessionService(URI), **scope, session_id="s1")
        assert [e.author for e in session.events] == ["user", "assistant"]
        found = await MemoryService(URI).search_memory(**scope, query="cello")
        assert "My sister Rita plays the cello." in [text(m) for m in found.memories]

    asyncio.run(kept())


def test_import_without_adk() -> None:
    """The package does not load ADK, and its service names what to install without it."""
    program = (
        "import sys, memoryd\nassert 'google.adk' not in sys.modules\n"
        "sys.modules['google.adk'] = None\nimport memoryd.adk"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1 and "memoryd[adk]" in done.stderr
