"""memoryd.llamaindex."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import Memory

import memoryd
from memoryd.llamaindex import MemorydBlock


def test_block(app: str) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            block = MemorydBlock(app, "ann", client=client)
            said = [
                ChatMessage("I live in Porto.", role=MessageRole.USER),
                ChatMessage("How lovely!", role=MessageRole.ASSISTANT),
                ChatMessage("A tool says so.", role=MessageRole.TOOL),
            ]
            assert await block.aget() == ""
            await block.aput(said, session_id="s1")
            turns = {m["fact"] async for m in client.user(app, "ann").list_memories(kind="turn")}
            assert turns == {"I live in Porto.", "How lovely!"}

            asked = ChatMessage("Where do I live?", role=MessageRole.USER)
            assert "I live in Porto." in await block.aget([asked])
            asked_long = ChatMessage("Where do I live? " * 2000, role=MessageRole.USER)
            assert "I live in Porto." in await block.aget([asked_long])
            other = MemorydBlock(app, "bob", client=client)
            assert await other.aget([asked]) == ""

            # A later session, as an agent has it.
            memory = Memory.from_defaults(session_id="s2", memory_blocks=[block])
            await memory.aput(asked)
            prompt = "\n".join(m.content or "" for m in await memory.aget())
            assert "I live in Porto." in prompt and "Where do I live?" in prompt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of a database that LlamaIndex leaves open
        asyncio.run(calls())
        gc.collect()


def test_refused(app: str) -> None:
    with pytest.raises(memoryd.InvalidArgument):
        MemorydBlock(app, "a/b")
