"""memoryd.langchain."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

import memoryd
from memoryd.langchain import MemorydChatMessageHistory, MemorydRetriever

from .server import Answer, error, serve

# Of each kind, with all that a message can have.
MESSAGES: Sequence[BaseMessage] = [
    SystemMessage("You are terse."),
    HumanMessage(
        "I moved to Porto.", id="m1", name="ann", additional_kwargs={"a": {"b": [1.0, None]}}
    ),
    HumanMessage(
        [
            {"type": "text", "text": "See my cat, Milo."},
            {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        ]
    ),
    AIMessage(
        [
            {"type": "reasoning", "reasoning": "Hm."},
            {"type": "text", "text": "Let me look.", "annotations": [{"x": "\u0000\u200b"}]},
        ],
        tool_calls=[{"name": "look", "args": {"where": "Porto", "n": 3}, "id": "c1"}],
        invalid_tool_calls=[{"name": "look", "args": "{", "id": "c2", "error": "no JSON"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model": "m", "logprobs": [-0.25, 1e-30]},
    ),
    ToolMessage("Sunny.", tool_call_id="c1", name="look", artifact={"raw": [1]}, status="error"),
    FunctionMessage(content="Sunny.", name="look"),
    ChatMessage(content="Olá.", role="guide"),
    AIMessageChunk(content="A sunny day."),
    AIMessage(""),
]


def test_to_the_letter(client: memoryd.Client, app: str) -> None:
    history = MemorydChatMessageHistory(app, "ann", "s1", client=client)
    assert history.messages == []
    history.add_messages(MESSAGES[:3])
    history.add_messages(MESSAGES[3:])
    history.add_messages([])
    assert history.messages == list(MESSAGES)
    assert [type(m) for m in history.messages] == [type(m) for m in MESSAGES]
    assert [m.model_dump() for m in history.messages] == [m.model_dump() for m in MESSAGES]
    with pytest.raises(memoryd.InvalidArgument, match="JSON"):
        history.add_message(ToolMessage("x", tool_call_id="c3", artifact=object()))

    ann = client.user(app, "ann")
    turns = {m["fact"] for m in ann.list_memories(kind="turn")}
    assert turns == {"I moved to Porto.", "See my cat, Milo.", "Let me look.", "A sunny day."}
    # Events of others are no messages.
    ann.append_events("s1", [{"author": "user", "content": "Hello."}])
    assert len(history.messages) == len(MESSAGES)
    history.clear()
    assert history.messages == []
    assert list(ann.list_memories(kind="turn"))
    history.add_user_message("Again.")
    assert history.messages == [HumanMessage("Again.")]


def test_not_remembered(client: memoryd.Client, app: str) -> None:
    history = MemorydChatMessageHistory(app, "ann", "s1", client=client, remember=False)
    history.add_user_message("I moved to Porto.")
    history.add_ai_message("How lovely!")
    assert [m.text for m in history.messages] == ["I moved to Porto.", "How lovely!"]
    assert not list(client.user(app, "ann").list_memories())


def test_users(client: memoryd.Client, app: str) -> None:
    MemorydChatMessageHistory(app, "ann", "s1", client=client).add_user_message("I am Ann.")
    assert MemorydChatMessageHistory(app, "bob", "s1", client=client).messages == []
    for user, session in (("a/b", "s1"), ("ann", "")):
        with pytest.raises(memoryd.InvalidArgument):
            MemorydChatMessageHistory(app, user, session, client=client)


def test_retriever(client: memoryd.Client, app: str) -> None:
    client.user(app, "ann").add_memory("I live in Porto.", id="m1", metadata={"n": 1})
    retriever = MemorydRetriever(app, "ann", client=client, search={"top_k": 3})
    (document,) = retriever.invoke("Where do I live?")
    assert document.id == "m1" and document.page_content == "I live in Porto."
    assert document.metadata["metadata"] == {"n": 1} and document.metadata["score"] > 0
    assert retriever.invoke("Where do I live? " * 2000)[0].id == "m1"


def test_async(app: str) -> None:
    async def calls() -> Any:
        async with memoryd.AsyncClient() as client:
            history = MemorydChatMessageHistory(app, "ann", "s1", async_client=client)
            await history.aadd_messages(MESSAGES)
            assert await history.aget_messages() == list(MESSAGES)
            retriever = MemorydRetriever(app, "ann", async_client=client)
            assert "Porto" in (await retriever.ainvoke("Where do I live?"))[0].page_content
            await history.aclear()
            assert await history.aget_messages() == []

    asyncio.run(calls())


def test_a_lost_answer() -> None:
    """The first message makes the session. If the answer is lost, it is sent again with its id."""

    def lost(n: int, path: str) -> Answer:
        if n == 1:
            return 404, {}, error(404, "NOT_FOUND")
        return None if n == 2 else (200, {}, {"events": []})

    with serve(lost) as at, memoryd.Client(at.url) as client:
        history = MemorydChatMessageHistory("shop", "ann", "s1", client=client, remember=False)
        history.add_user_message("hi")
        assert [path.rsplit("/", 1)[1] for _, path, _ in at.seen] == ["events", "sessions", "events"]
        assert len({body["events"][0]["id"] for _, _, body in at.seen}) == 1
