"""memoryd.pydantic_ai."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent, ModelMessage, ModelRequest, ModelResponse, TextContent
from pydantic_ai.messages import (
    FilePart,
    ModelMessagesTypeAdapter,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoryd
from memoryd.pydantic_ai import MemorydMessageHistory, MemorydToolset

PICTURE = BinaryContent(b"\x00\xff", media_type="image/png")
# Of each kind that has a role or a call, and others.
MESSAGES: list[ModelMessage] = [
    ModelRequest(
        [
            SystemPromptPart("You are terse."),
            UserPromptPart(["I moved to Porto.", PICTURE, TextContent(content="I like trams.")]),
        ],
        instructions="Be kind.",
    ),
    ModelResponse(
        [
            ThinkingPart("Look.", signature="x\u0000y"),
            ToolCallPart("look", '{"n": 1.0}', "c1"),
            ToolCallPart("look", "{", "c2"),
            ToolCallPart("look", '{"n": NaN}', "c3"),
            ToolCallPart("look", '{"n":' * 900 + "1" + "}" * 900, "c4"),
            ToolCallPart("look", {"n": 2}, "c5"),
            ToolCallPart("look", None, "c6"),
        ],
        metadata={"cost": 0.1},
    ),
    ModelRequest(
        [
            ToolReturnPart("look", {"sky": ["blue", 2.5]}, "c1"),
            ToolReturnPart("look", "it broke", "c2", outcome="failed"),
            UserPromptPart("I like tea."),
        ],
    ),
    ModelResponse([TextPart("How lovely!"), FilePart(PICTURE)], model_name="m"),
]


def run(test: Callable[[memoryd.AsyncClient], Awaitable[None]]) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            await test(client)

    asyncio.run(calls())


def written(messages: list[ModelMessage]) -> Any:
    return json.loads(ModelMessagesTypeAdapter.dump_json(messages))


def test_to_the_letter(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        history = MemorydMessageHistory(app, "ann", "s1", client=client)
        assert await history.messages() == []
        await history.add(MESSAGES[:2])
        await history.add([])
        # One that is there already is stored once, whoever adds it.
        await asyncio.gather(*(history.add(MESSAGES) for _ in range(5)))
        await history.add(await history.messages())
        assert written(await history.messages()) == written(MESSAGES)
        ann = client.user(app, "ann")
        turns = {m["fact"] async for m in ann.list_memories(kind="turn")}
        assert turns == {"I moved to Porto.\nI like trams.", "I like tea.", "How lovely!"}
        for wrong in ("\ud800", object()):
            with pytest.raises(memoryd.InvalidArgument, match="JSON"):
                await history.add([ModelRequest([], metadata={"a": wrong})])
        assert await MemorydMessageHistory(app, "bob", "s1", client=client).messages() == []
        await history.clear()
        assert await history.messages() == []
        assert [m async for m in ann.list_memories()]

    run(test)


def test_limit(app: str) -> None:
    """The last messages begin with a prompt: no answer of a tool comes without its call."""
    turn: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Is the sky blue?")]),
        ModelResponse([ToolCallPart("look", "{}", "c9")]),
        ModelRequest([ToolReturnPart("look", "blue", "c9")]),
        ModelResponse([TextPart("It is.")]),
    ]

    async def test(client: memoryd.AsyncClient) -> None:
        history = MemorydMessageHistory(app, "ann", "s1", client=client)
        await history.add([*MESSAGES, *turn])
        for limit in range(10):
            want = [*MESSAGES, *turn] if limit >= 8 else turn if limit >= 4 else []
            assert written(await history.messages(limit)) == written(want)

    run(test)


def test_agent(app: str) -> None:
    """An agent of all users, whose model searches memory for each question."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse([TextPart(str(last.content))])
        assert isinstance(last, UserPromptPart) and isinstance(last.content, str)
        if last.content.endswith("?"):
            (tool,) = info.function_tools
            return ModelResponse([ToolCallPart(tool.name, {"query": last.content})])
        if last.content == "Search wrongly.":
            return ModelResponse([ToolCallPart("search_memory", {"query": 3})])
        return ModelResponse([TextPart("Noted.")])

    async def test(client: memoryd.AsyncClient) -> None:
        agent = Agent(FunctionModel(model))

        async def say(user: str, session: str, said: str) -> str:
            history = MemorydMessageHistory(app, user, session, client=client)
            result = await agent.run(
                said,
                message_history=await history.messages(),
                toolsets=[MemorydToolset(app, user, client=client)],
            )
            await history.add(result.all_messages())
            return result.output

        assert await say("ann", "s1", "I live in Porto.") == "Noted."
        assert await say("ann", "s1", "I like trams.") == "Noted."
        history = MemorydMessageHistory(app, "ann", "s1", client=client)
        assert len(await history.messages()) == 4
        ann, bob = await asyncio.gather(
            say("ann", "s2", "Where do I live?"), say("bob", "s1", "Where do I live?")
        )
        assert "I live in Porto." in ann and "Porto" not in bob
        assert "error" in json.loads(await say("ann", "s3", "Search wrongly."))

        with pytest.raises(memoryd.InvalidArgument, match="load_memory"):
            unknown = MemorydToolset(app, "ann", client=client, names=["recall"])
            await agent.run("Hello.", toolsets=[unknown])
        with pytest.raises(memoryd.InvalidArgument, match="user"):
            MemorydToolset(app, "a/b", client=client)

    run(test)
