"""memoryd.agent_framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Content, Message

import memoryd
from memoryd.agent_framework import (
    MemorydContextProvider,
    MemorydHistoryProvider,
    memory_tools,
)

# Of each kind that has a role or a call, and others.
MESSAGES = [
    Message("system", ["You are terse."]),
    Message("user", ["I moved to Porto.", Content.from_data(b"\x00", "image/png")]),
    Message(
        "assistant",
        [
            Content.from_text_reasoning(text="Look.", protected_data="x\u0000y"),
            Content.from_function_call("c1", "look", arguments='{"n": 1.0}'),
            Content.from_function_call("c2", "look", arguments="{"),
            Content.from_function_call("c3", "look", arguments='{"n": NaN}'),
            Content.from_function_call("c4", "look", arguments='{"n":' * 900 + "1" + "}" * 900),
            Content.from_function_call("c5", "look", arguments={"n": 2}),
        ],
        message_id="m1",
    ),
    Message(
        "tool",
        [
            Content.from_function_result("c1", result={"sky": "blue"}),
            Content.from_function_result("c2", exception="it broke"),
        ],
    ),
    Message("assistant", ["How lovely!"], author_name="guide", additional_properties={"a": [1]}),
]


class Script(BaseChatClient[Any]):
    """A model that says how often it was asked, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[str]] = []

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Any:
        self.seen.append([m.text for m in messages])

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [f"Answer {len(self.seen)}."])])

        return answer()


def run(test: Callable[[memoryd.AsyncClient], Awaitable[None]]) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            await test(client)

    asyncio.run(calls())


def written(messages: Sequence[Message]) -> str:
    return json.dumps([m.to_dict() for m in messages])


def test_to_the_letter(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        history = MemorydHistoryProvider(app, "ann", client=client)
        assert await history.get_messages("s1") == []
        await history.save_messages("s1", MESSAGES[:2])
        await history.save_messages("s1", [])
        await history.save_messages("s1", MESSAGES[2:])
        assert written(await history.get_messages("s1")) == written(MESSAGES)
        assert await history.get_messages("s2") == []
        assert await MemorydHistoryProvider(app, "bob", client=client).get_messages("s1") == []
        ann = client.user(app, "ann")
        turns = {m["fact"] async for m in ann.list_memories(kind="turn")}
        assert turns == {"I moved to Porto.", "How lovely!"}
        for wrong in (None, "a/b"):
            with pytest.raises(memoryd.InvalidArgument, match="session"):
                await history.get_messages(wrong)
        with pytest.raises(memoryd.InvalidArgument, match="user"):
            MemorydHistoryProvider(app, "a/b", client=client)

    run(test)


def test_replays(app: str) -> None:
    def said(*texts: str, id: str | None = None) -> list[Message]:
        roles = ("user", "assistant")
        return [Message(roles[i % 2], [t], message_id=id) for i, t in enumerate(texts)]

    async def test(client: memoryd.AsyncClient) -> None:
        history = MemorydHistoryProvider(app, "ann", client=client, remember=False)

        async def texts() -> list[str]:
            return [m.text for m in await history.get_messages("s1")]

        first = said("Hi.", "Hello!")
        await history.save_messages("s1", first)
        # The same turn once more, which is no transcript.
        await history.save_messages("s1", said("Hi.", "Hello!"))
        assert await texts() == ["Hi.", "Hello!"] * 2
        # A transcript with one more turn.
        await history.save_messages("s1", [*first, *first, *said("Bye.", "See you!")])
        assert await texts() == ["Hi.", "Hello!"] * 2 + ["Bye.", "See you!"]
        # Messages with ids, whose save is repeated.
        for _ in range(2):
            await history.save_messages("s1", said("Again.", id="m1"))
        assert (await texts())[4:] == ["Bye.", "See you!", "Again."]
        # Several runs of one session at once: the messages of each stay together.
        runs = [said(f"Question {i}?", f"Answer {i}.") for i in range(20)]
        await asyncio.gather(*(history.save_messages("s1", messages) for messages in runs))
        end = (await texts())[7:]
        pairs = {(end[i], end[i + 1]) for i in range(0, 40, 2)}
        assert pairs == {(f"Question {i}?", f"Answer {i}.") for i in range(20)}

    run(test)


def test_agent(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        def agent(user: str) -> tuple[Agent[Any], Script]:
            model = Script()
            history = MemorydHistoryProvider(app, user, client=client)
            context = MemorydContextProvider(app, user, client=client)
            return Agent(model, context_providers=[history, context]), model

        ann, model = agent("ann")
        await ann.run("I live in Porto.", session=AgentSession(session_id="s1"))
        await ann.run("I like trams.", session=AgentSession(session_id="s1"))
        assert model.seen[1][:2] == ["I live in Porto.", "Answer 1."]
        assert model.seen[1][-1] == "I like trams."

        # Another session of a later process: the context comes before the question.
        ann, model = agent("ann")
        await ann.run("Where do I live?", session=AgentSession(session_id="s2"))
        block, asked = model.seen[0]
        assert "I live in Porto." in block and asked == "Where do I live?"
        # What the agent is shown is no memory of what the user said.
        memories = [m["fact"] async for m in client.user(app, "ann").list_memories()]
        assert not [m for m in memories if "PAST_CONVERSATIONS" in m]

        bob, model = agent("bob")
        await bob.run("Where do I live? " * 2000, session=AgentSession(session_id="s1"))
        assert len(model.seen[0]) == 1

        # A run that is cancelled stores nothing.
        stuck = asyncio.Event()

        class Stuck(Script):
            def _inner_get_response(self, **kwargs: Any) -> Any:
                stuck.set()
                return asyncio.sleep(3600)

        history = MemorydHistoryProvider(app, "eve", client=client)
        eve: Agent[Any] = Agent(Stuck(), context_providers=[history])
        task = asyncio.ensure_future(eve.run("Hm.", session=AgentSession(session_id="s1")))
        await stuck.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await history.get_messages("s1") == []

    run(test)


def test_tools(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        await client.user(app, "ann").add_memory("I live in Porto.")
        (tool,) = await memory_tools(app, "ann", client=client)
        assert tool.name == "search_memory"
        (answer,) = await tool.invoke(arguments={"query": "Where do I live?"})
        assert answer.text and "I live in Porto." in answer.text
        (answer,) = await tool.invoke(arguments={"query": "Where?", "since": "someday"})
        assert answer.text and "error" in json.loads(answer.text)
        with pytest.raises(memoryd.InvalidArgument, match="load_memory"):
            await memory_tools(app, "ann", client=client, names=["recall"])

    run(test)
