"""Tests of memoryd's services for ADK. Where both must agree, ADK's in-memory services take the same tests.

Run with MEMORYD_URL naming a memoryd whose data may be written to.
"""

import asyncio
import os
import re
import unittest
import uuid
from pathlib import Path

import httpx
from assistant.agent import root_agent
from google.adk.agents import LlmAgent
from google.adk.cli.fast_api import get_fast_api_app
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event, EventActions
from google.adk.events.event_actions import EventCompaction
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.tools import load_memory, preload_memory
from google.genai import types
from memoryd_adk import MemorydMemoryService, MemorydSessionService

URL = os.environ["MEMORYD_URL"]
URI = re.sub("^http", "memoryd", URL)


def says(text, author="user", **fields):
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", content=content, **fields)


def at(timestamp, **delta):
    return Event(author="agent", invocation_id="i", timestamp=timestamp, actions=EventActions(state_delta=delta))


class Scope:
    """A new app and user."""

    def __init__(self):
        self.app = {"app_name": "app-" + uuid.uuid4().hex}
        self.ann = {**self.app, "user_id": "ann@x.com ü %2F?#"}
        self.bob = {**self.app, "user_id": "bob"}


class Sessions(unittest.IsolatedAsyncioTestCase):
    async def each(self, check):
        for service in (InMemorySessionService(), MemorydSessionService(URI)):
            with self.subTest(type(service).__name__):
                await check(service, Scope())

    async def test_create(self):
        async def check(service, s):
            state = {"k": 1, "none": None, "user:u": {"a": [1.5]}, "app:a": "ä", "temp:t": 4}
            made = await service.create_session(**s.ann, state=state, session_id=" s1 ")
            self.assertEqual((made.id, made.app_name, made.user_id), ("s1", s.ann["app_name"], s.ann["user_id"]))
            self.assertEqual((made.state, made.events), ({k: v for k, v in state.items() if k != "temp:t"}, []))
            self.assertGreater(made.last_update_time, 1.7e9)
            self.assertEqual(await service.get_session(**s.ann, session_id="s1"), made)
            with self.assertRaises(AlreadyExistsError):
                await service.create_session(**s.ann, session_id="s1")
            for blank in (None, "", "  "):
                uuid.UUID((await service.create_session(**s.ann, session_id=blank)).id)
            other = await service.create_session(**s.bob, session_id="s1")
            self.assertEqual(other.state, {"app:a": "ä"})

        await self.each(check)

    async def test_get_missing(self):
        async def check(service, s):
            self.assertIsNone(await service.get_session(**s.ann, session_id="s1"))
            await service.create_session(**s.ann, session_id="s1")
            self.assertIsNone(await service.get_session(**s.bob, session_id="s1"))

        await self.each(check)

    async def test_get_part(self):
        async def check(service, s):
            made = await service.create_session(**s.ann, session_id="s1")
            for i in range(1, 6):
                await service.append_event(made, at(1.7e9 + i, k=i))

            async def get(**config):
                got = await service.get_session(**s.ann, session_id="s1", config=GetSessionConfig(**config))
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

    async def test_list(self):
        async def check(service, s):
            self.assertEqual((await service.list_sessions(**s.ann)).sessions, [])
            for i in range(120):  # more than a page
                await service.create_session(**s.ann, session_id=f"s{i:03}", state={"n": i})
            await service.create_session(**s.bob, session_id="b", state={"app:a": 1})
            made = await service.get_session(**s.ann, session_id="s007")
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

    async def test_delete(self):
        async def check(service, s):
            await service.delete_session(**s.ann, session_id="s1")
            await service.create_session(**s.ann, session_id="s1", state={"user:u": 1, "app:a": 2, "k": 3})
            await service.delete_session(**s.bob, session_id="s1")
            self.assertIsNotNone(await service.get_session(**s.ann, session_id="s1"))
            await service.delete_session(**s.ann, session_id="s1")
            self.assertIsNone(await service.get_session(**s.ann, session_id="s1"))
            again = await service.create_session(**s.ann, session_id="s1")
            self.assertEqual(again.state, {"user:u": 1, "app:a": 2})

        await self.each(check)

    async def test_append(self):
        async def check(service, s):
            made = await service.create_session(**s.ann, session_id="s1", state={"gone": 1})
            other = await service.create_session(**s.ann, session_id="s2")
            event = at(1.7e9 + 0.25, k=1, gone=None, **{"user:u": 2, "app:a": 3, "temp:t": 4})
            self.assertIs(await service.append_event(made, event), event)
            kept = {"k": 1, "gone": None, "user:u": 2, "app:a": 3}
            self.assertEqual(event.actions.state_delta, kept)
            self.assertEqual(made.state, {**kept, "temp:t": 4})  # for the agents that come next in this invocation
            self.assertEqual((made.events, made.last_update_time), ([event], 1.7e9 + 0.25))
            got = await service.get_session(**s.ann, session_id="s1")
            self.assertEqual((got.state, got.events, got.last_update_time), (kept, [event], 1.7e9 + 0.25))
            other = await service.get_session(**s.ann, session_id=other.id)
            self.assertEqual(other.state, {"user:u": 2, "app:a": 3})
            bobs = await service.create_session(**s.bob)
            self.assertEqual(bobs.state, {"app:a": 3})

        await self.each(check)

    async def test_append_partial(self):
        async def check(service, s):
            made = await service.create_session(**s.ann, session_id="s1")
            event = says("He", "agent", partial=True, actions=EventActions(state_delta={"k": 1}))
            self.assertIs(await service.append_event(made, event), event)
            self.assertEqual((made.events, made.state), ([], {}))
            self.assertEqual(await service.get_session(**s.ann, session_id="s1"), made)

        await self.each(check)

    async def test_round_trip(self):
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
            node_info={"path": "w/a@1", "output_for": ["w"]},
            long_running_tool_ids={"c", "d"},
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=12, total_token_count=13),
            custom_metadata={"a_b": None, "aB": []},
            finish_reason=types.FinishReason.STOP,
            error_code="E",
            turn_complete=True,
            citation_metadata=types.CitationMetadata(citations=[types.Citation(start_index=1, uri="u")]),
        )

        async def check(service, s):
            made = await service.create_session(**s.ann, session_id="s1")
            appended = event.model_copy(deep=True)
            await service.append_event(made, appended)
            got = await service.get_session(**s.ann, session_id="s1")
            self.assertEqual(got.events, [appended])
            self.assertEqual(got, made)
            self.assertLess(abs(appended.timestamp - event.timestamp), 1e-6)
            self.assertEqual(got.events[0].model_copy(update={"timestamp": event.timestamp}), event)

        await self.each(check)

    async def test_append_again(self):
        service, s = MemorydSessionService(URI), Scope()
        made = await service.create_session(**s.ann, session_id="s1")
        event = at(1.7e9, k=1)
        await service.append_event(made, event)
        stale = await service.get_session(**s.ann, session_id="s1", config=GetSessionConfig(num_recent_events=0))
        await service.append_event(stale, event)  # as a client does that has not heard the answer
        self.assertEqual((await service.get_session(**s.ann, session_id="s1")).events, [event])

    async def test_append_from_many(self):
        service, s = MemorydSessionService(URI), Scope()
        await service.create_session(**s.ann, session_id="s1")

        async def one(i):
            mine = await service.get_session(**s.ann, session_id="s1")
            await service.append_event(mine, at(1.7e9 + i, **{f"k{i}": i}))

        await asyncio.gather(*(one(i) for i in range(20)))
        got = await service.get_session(**s.ann, session_id="s1")
        self.assertEqual(got.state, {f"k{i}": i for i in range(20)})
        self.assertEqual(len(got.events), 20)

    async def test_errors(self):
        service, s = MemorydSessionService(URI), Scope()
        made = await service.create_session(**s.ann, session_id="s1")
        await service.delete_session(**s.ann, session_id="s1")
        with self.assertRaisesRegex(httpx.HTTPStatusError, "s1.*not found"):
            await service.append_event(made, says("hi"))
        self.assertEqual(made.events, [])
        with self.assertRaisesRegex(httpx.HTTPStatusError, "session id"):
            await service.create_session(**s.ann, session_id="a/b")
        with self.assertRaisesRegex(httpx.HTTPStatusError, "session id"):
            await service.get_session(**s.ann, session_id="s1/events")
        for id in ("", ".", ".."):
            with self.assertRaisesRegex(ValueError, "cannot be an id"):
                await service.delete_session(**s.ann, session_id=id)
        with self.assertRaises(httpx.ConnectError):
            await MemorydSessionService("memoryd://127.0.0.1:1").list_sessions(**s.ann)


class Memory(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.sessions, self.memory, self.s = InMemorySessionService(), MemorydMemoryService(URI, wait=True), Scope()

    async def found(self, query, scope=None):
        return (await self.memory.search_memory(**(scope or self.s.ann), query=query)).memories

    async def test_add_and_search(self):
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

    async def test_add_many_events(self):
        events = [says(f"This is number {i}.", timestamp=1.7e9 + i) for i in range(1003)]
        await self.memory.add_events_to_memory(**self.s.ann, events=events)
        await self.memory.add_events_to_memory(**self.s.ann, events=[])
        self.assertIn("This is number 1002.", [m.content.parts[0].text for m in await self.found("number 1002")])

    async def test_add_pictures(self):
        picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=bytes(1 << 20)))
        events = [says(f"This is picture {i}.") for i in range(40)]
        for event in events:
            event.content.parts.insert(0, picture)
        await self.memory.add_events_to_memory(**self.s.ann, session_id="s1", events=[*events, at(1.7e9, k=1)])
        self.assertIn("This is picture 7.", [m.content.parts[0].text for m in await self.found("picture 7")])

    async def test_add_memory(self):
        content = types.Content(parts=[types.Part(text="I play"), types.Part(text="the cello.")])
        entry = MemoryEntry(content=content, custom_metadata={"from": "form", "n": [1]})
        await self.memory.add_memory(**self.s.ann, memories=[entry], custom_metadata={"from": "x", "by": "test"})
        (found,) = await self.found("cello")
        self.assertEqual(found.content.parts[0].text, "I play the cello.")
        self.assertEqual(found.custom_metadata, {"from": "form", "n": [1], "by": "test"})

        await self.memory.delete_memory(**self.s.bob, memory_id=found.id)  # it is not his
        await self.memory.delete_memory(**self.s.ann)
        self.assertEqual(await self.found("cello"), [found])
        for _ in range(2):
            await self.memory.delete_memory(**self.s.ann, memory_id=found.id)
        self.assertEqual(await self.found("cello"), [])


class Echo(BaseLlm):
    """A model that gives prepared answers."""

    model: str = "echo"

    async def generate_content_async(self, llm_request, stream=False):
        told = str(llm_request.config.system_instruction) + "".join(
            p.text or "" for c in llm_request.contents for p in c.parts
        )
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=told)]))


class Agents(unittest.IsolatedAsyncioTestCase):
    async def test_preload(self):
        s, memory = Scope(), MemorydMemoryService(URI, wait=True)
        await memory.add_events_to_memory(**s.ann, events=[says("My daughter Ines is allergic to peanuts.")])
        agent = LlmAgent(name="echo", model=Echo(), tools=[preload_memory, load_memory])
        runner = Runner(**s.app, agent=agent, session_service=MemorydSessionService(URI), memory_service=memory)
        session = await runner.session_service.create_session(**s.ann)
        message = types.Content(role="user", parts=[types.Part(text="Who is allergic?")])
        said = [e async for e in runner.run_async(user_id=session.user_id, session_id=session.id, new_message=message)]
        self.assertIn("<PAST_CONVERSATIONS>", said[-1].content.parts[0].text)
        self.assertIn("user: My daughter Ines is allergic to peanuts.", said[-1].content.parts[0].text)

    def test_run_without_a_loop(self):  # each run has an event loop of its own
        s, sessions = Scope(), MemorydSessionService(URI)
        session = asyncio.run(sessions.create_session(**s.ann))
        runner = Runner(**s.app, agent=LlmAgent(name="echo", model=Echo()), session_service=sessions)
        message = types.Content(role="user", parts=[types.Part(text="hello")])
        for _ in range(3):
            said = list(runner.run(user_id=session.user_id, session_id=session.id, new_message=message))
            self.assertEqual(said[-1].author, "echo")
        got = asyncio.run(sessions.get_session(**s.ann, session_id=session.id))
        self.assertEqual([e.author for e in got.events], ["user", "echo"] * 3)

    async def test_services_yaml(self):
        """adk web and adk api_server find the services in services.yaml."""
        root_agent.model = Echo()
        here = str(Path(__file__).parent)
        app = get_fast_api_app(agents_dir=here, session_service_uri=URI, memory_service_uri=URI, web=False)
        user = "u-" + uuid.uuid4().hex
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://adk") as adk:
            path = f"/apps/assistant/users/{user}/sessions"
            self.assertEqual((await adk.get("/list-apps")).json(), ["assistant"])
            self.assertEqual((await adk.post(path, json={"sessionId": "s1"})).status_code, 200)
            self.assertEqual((await adk.post(path, json={"sessionId": "s1"})).status_code, 409)
            message = {"role": "user", "parts": [{"text": "My sister Rita plays the cello."}]}
            run = {"appName": "assistant", "userId": user, "sessionId": "s1", "newMessage": message}
            self.assertEqual((await adk.post("/run", json=run)).status_code, 200)
            self.assertEqual([x["id"] for x in (await adk.get(path)).json()], ["s1"])
        sessions, memory = MemorydSessionService(URI), MemorydMemoryService(URI)
        kept = await sessions.get_session(app_name="assistant", user_id=user, session_id="s1")
        self.assertEqual([e.author for e in kept.events][:2], ["user", "assistant"])
        found = await memory.search_memory(app_name="assistant", user_id=user, query="cello")
        self.assertIn("My sister Rita plays the cello.", [m.content.parts[0].text for m in found.memories])


if __name__ == "__main__":
    unittest.main()
