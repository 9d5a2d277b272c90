"""memoryd.openai_agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import FunctionTool, RunContextWrapper, Session, SessionSettings

import memoryd
from memoryd.openai_agents import MemorydSession, memory_tools

# Of each kind that has a role or a call, and others.
ITEMS: list[Any] = [
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "I moved to Porto."},
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "See my cat, Milo."},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x\u0000y"},
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "look",
        "arguments": '{"n":1.0}',
        "id": "f1",
    },
    {"type": "function_call", "call_id": "c2", "name": "look", "arguments": "{"},
    {"type": "function_call", "call_id": "c3", "name": "look", "arguments": '{"n": 1e999}'},
    {
        "type": "function_call",
        "call_id": "c4",
        "name": "look",
        "arguments": '{"n":' * 900 + "1" + "}" * 900,
    },
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny."},
    {
        "type": "function_call_output",
        "call_id": "c2",
        "output": [{"type": "input_text", "text": "?"}],
    },
    {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"type": "search"}},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "How lovely!", "annotations": [], "logprobs": [-0.5]}
        ],
    },
]


def run(test: Callable[[memoryd.AsyncClient], Awaitable[None]]) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            await test(client)

    asyncio.run(calls())


def test_to_the_letter(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        session = MemorydSession(app, "ann", "s1", client=client)
        assert isinstance(session, Session)
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.add_items(ITEMS[:4])
        await session.add_items([])
        await session.add_items(ITEMS[4:])
        items = await session.get_items()
        assert json.dumps(items) == json.dumps(ITEMS)
        assert await session.get_items(3) == ITEMS[-3:]
        assert await session.get_items(100) == ITEMS
        assert await session.get_items(0) == []
        limited = MemorydSession(
            app, "ann", "s1", client=client, session_settings=SessionSettings(limit=2)
        )
        assert await limited.get_items() == ITEMS[-2:]
        ann = client.user(app, "ann")
        turns = {m["fact"] async for m in ann.list_memories(kind="turn")}
        assert turns == {"I moved to Porto.", "See my cat, Milo.", "How lovely!"}
        assert await MemorydSession(app, "bob", "s1", client=client).get_items() == []
        await session.clear_session()
        assert await session.get_items() == []
        assert [m async for m in ann.list_memories()]

    run(test)


@pytest.mark.parametrize("remember", [True, False])
def test_pop(app: str, remember: bool) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        session = MemorydSession(app, "ann", "s1", client=client, remember=remember)
        items: list[Any] = [{"role": "user", "content": f"I have {i} cats."} for i in range(2, 32)]
        await session.add_items(items)
        for wanted in reversed(items[3:]):
            assert await session.pop_item() == wanted
        assert await session.get_items(2) == items[1:3]
        await session.add_items(items[-1:])
        assert await session.get_items() == [*items[:3], items[-1]]
        # Each item goes to one of several callers.
        popped: list[Any] = await asyncio.gather(*(session.pop_item() for _ in range(6)))
        left = [p["content"] for p in popped if p is not None]
        assert sorted(left) == sorted(i["content"] for i in [*items[:3], items[-1]])
        assert popped.count(None) == 2 and await session.get_items() == []
        if remember:
            ann = client.user(app, "ann")
            await ann.add_session("s1", wait=True)
            assert not [m async for m in ann.list_memories()]

    run(test)


def test_tools(app: str) -> None:
    async def test(client: memoryd.AsyncClient) -> None:
        await client.user(app, "ann").add_memory("I live in Porto.")
        (tool,) = await memory_tools(app, "ann", client=client)
        assert isinstance(tool, FunctionTool) and tool.name == "search_memory"
        context: Any = RunContextWrapper(None)
        answer = await tool.on_invoke_tool(context, '{"query": "Where do I live?"}')
        assert "I live in Porto." in answer
        for wrong in ("{", '{"query": 3}', "[" * 100_000):
            assert "error" in json.loads(await tool.on_invoke_tool(context, wrong))
        with pytest.raises(memoryd.InvalidArgument, match="load_memory"):
            await memory_tools(app, "ann", client=client, names=["recall"])

    run(test)
