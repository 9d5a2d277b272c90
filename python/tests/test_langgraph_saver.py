"""memoryd.langgraph's checkpointer: LangGraph's own conformance suite, and what it leaves out."""

from __future__ import annotations

import asyncio
import operator
import uuid
from collections.abc import AsyncGenerator
from typing import Annotated, Any, TypedDict

import httpx
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import memoryd
from memoryd.langgraph import MemorydSaver

from .server import Answer, error, serve

# An app that has as much done with what is appended as one can: memories are made of it at once,
# and all kinds of secrets are replaced.
EAGER: Any = {
    "triggers": {"events": 1, "appends": True},
    "redaction": {
        "kinds": ["keys", "cards", "ibans", "nationalIds", "passwords", "emails", "phones"]
    },
}


def test_conformance(client: memoryd.Client, app: str) -> None:
    client.app(app).put_config(EAGER)

    async def saver() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        async with memoryd.AsyncClient() as asking:
            yield MemorydSaver(app, "ann", async_client=asking)

    report = asyncio.run(validate(checkpointer_test("memoryd")(saver)))
    failures = [f for result in report.results.values() for f in result.failures]
    assert not failures and report.passed_all_base()
    assert sum(result.tests_passed for result in report.results.values()) >= 58


class Inner(TypedDict):
    said: Annotated[list[str], operator.add]


class State(Inner):
    answer: str


def talk(saver: BaseCheckpointSaver[Any]) -> list[Any]:
    """A graph with a subgraph, parallel nodes and two interrupts, which a thread stops at, goes
    on from, goes back behind and forks: all that a caller sees of it."""

    def ask(state: Inner) -> Any:
        return {"said": [interrupt("Who?") + interrupt("Where?")]}

    inner = StateGraph(Inner).add_node("ask", ask).add_edge(START, "ask").compile()

    def say(word: str) -> Any:
        return lambda state: {"said": [word]}

    def end(state: State) -> Any:
        return {"answer": " ".join(sorted(state["said"]))}

    builder = StateGraph(State).add_node("inner", inner).add_node("end", end)
    builder.add_node("a", say("a")).add_node("b", say("b"))
    for name in ("a", "b", "inner"):
        builder.add_edge(START, name)
    builder.add_edge(["a", "b", "inner"], "end")
    graph = builder.compile(checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": "+49 170 1234567"}}
    seen: list[Any] = []
    steps: list[Any] = [
        {"said": ["my PIN is 4711"]},
        Command(resume="Ann"),
        Command(resume="Porto"),
    ]
    for given in steps:
        seen.append(graph.invoke(given, config))
    inside = [s for s in graph.get_state_history(config) if s.tasks and s.tasks[0].name != "end"]
    forked = graph.update_state(inside[0].config, {"said": ["c"]}, as_node="b")
    seen.append(graph.get_state(forked).next)
    seen.append(graph.invoke(None, inside[-1].config))
    for state in graph.get_state_history(config):
        seen.append((state.values, state.next, state.metadata, bool(state.parent_config)))
    limited = list(graph.get_state_history(config, limit=2))
    assert limited == list(graph.get_state_history(config))[:2]
    older = list(graph.get_state_history(config, before=limited[1].config, limit=1))
    assert older == list(graph.get_state_history(config))[2:3]
    return seen


def without_ids(seen: Any) -> Any:
    """What a graph shows, without the ids that are new with each run."""
    if isinstance(seen, dict):
        return {k: without_ids(v) for k, v in seen.items() if k not in ("parents", "run_id")}
    if isinstance(seen, (list, tuple)):
        return [without_ids(s) for s in seen]
    return getattr(seen, "value", seen)


def test_as_in_memory(client: memoryd.Client, app: str) -> None:
    client.app(app).put_config(EAGER)
    saver = MemorydSaver(app, "ann", client=client)
    assert without_ids(talk(saver)) == without_ids(talk(InMemorySaver()))

    ann = client.user(app, "ann")
    sessions = list(ann.list_sessions())
    assert len(sessions) == 3  # of the thread, and of each run of the subgraph
    for session in sessions:
        ann.add_session(session["id"], wait=True)
    assert not list(ann.list_memories()) and not ann.search("What is my PIN?")
    saver.delete_thread("+49 170 1234567")
    assert not list(ann.list_sessions())


def checkpoint(text: str = "", id: str | None = None) -> Checkpoint:
    return {**empty_checkpoint(), "id": id or str(uuid6()), "channel_values": {"text": text}}


def named(thread: str, id: str | None = None) -> RunnableConfig:
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    if id:
        config["configurable"]["checkpoint_id"] = id
    return config


def test_writes_in_any_order(client: memoryd.Client, app: str) -> None:
    """Graphs store a checkpoint and its writes at once: writes may arrive before it, and many."""
    saver = MemorydSaver(app, "ann", client=client)
    first, second = checkpoint("first"), checkpoint("second")
    at = named("t", second["id"])
    for task in range(30):
        saver.put_writes(at, [("text", task), ("more", -task)], f"task-{task:02}")
    assert saver.get_tuple(named("t")) is None and saver.get_tuple(at) is None
    saver.put(named("t", first["id"]), second, {"step": 2}, {})
    saver.put(named("t"), first, {"step": 1}, {})
    for config in (named("t"), at):
        latest = saver.get_tuple(config)
        assert latest is not None and latest.checkpoint == second
        assert latest.parent_config == named("t", first["id"])
        assert latest.pending_writes == [
            (f"task-{task:02}", channel, value)
            for task in range(30)
            for channel, value in (("text", task), ("more", -task))
        ]
    assert [t.metadata.get("step") for t in saver.list(named("t"))] == [2, 1]
    assert [t.metadata.get("step") for t in saver.list(named("t"), filter={"step": 1})] == [1]

    # Put again, a checkpoint is another one. Of a task's writes the first counts, and of its
    # errors the last.
    saver.put(named("t"), {**second, "channel_values": {}}, {"step": 3}, {})
    for word in ("once", "again"):
        saver.put_writes(at, [("text", word)], "task-00")
        saver.put_writes(at, [("__error__", word)], "task-00")
    latest = saver.get_tuple(named("t"))
    assert latest is not None and latest.metadata.get("step") == 3 and latest.pending_writes
    assert not latest.checkpoint["channel_values"] and len(latest.pending_writes) == 61
    assert latest.pending_writes[:2] == [("task-00", "__error__", "again"), ("task-00", "text", 0)]


def test_many_writes(client: memoryd.Client, app: str) -> None:
    """One checkpoint has more events, or more bytes of them, than a few pages of a session."""
    saver = MemorydSaver(app, "ann", client=client)
    large = "x" * (1 << 20)
    for values in (range(1500), [large] * 6):
        stored = checkpoint()
        saver.put(named("t"), stored, {}, {})
        at = named("t", stored["id"])
        saver.put_writes(at, [("text", value) for value in values], "task")
        for config in (named("t"), at):
            found = saver.get_tuple(config)
            assert found is not None and found.pending_writes
            assert [value for _, _, value in found.pending_writes] == list(values)


def test_events_of_others(client: memoryd.Client, app: str) -> None:
    """A session is one as any other: what others append to it is no checkpoint."""
    saver = MemorydSaver(app, "ann", client=client)
    stored = checkpoint("first")
    saver.put(named("t"), stored, {}, {})
    ann = client.user(app, "ann")
    session = next(iter(ann.list_sessions()))["id"]
    ann.patch_session(session, state_delta={"seen": True})
    ann.append_events(session, [{"author": "user", "content": "Hello!"} for _ in range(5)])
    # Its id is like that of a checkpoint's event.
    like: list[Any] = [
        {"id": "a-b", "invocationId": "a", "content": "hello"},
        {"id": "c-d", "invocationId": "c"},
    ]
    ann.append_events(session, like)
    for config in (named("t"), named("t", stored["id"])):
        found = saver.get_tuple(config)
        assert found is not None and found.checkpoint == stored
    assert len(list(saver.list(None))) == 1


def test_half_a_character(client: memoryd.Client, app: str) -> None:
    saver = MemorydSaver(app, "ann", client=client)
    in_namespace: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": "\ud800"}}
    for config in (named("\ud800"), in_namespace):
        with pytest.raises(memoryd.InvalidArgument, match="half a character"):
            saver.get_tuple(config)


def test_large(client: memoryd.Client, app: str) -> None:
    saver = MemorydSaver(app, "ann", client=client)
    text = "ä\u0000" * (1 << 19)
    stored = [checkpoint(text + str(i)) for i in range(3)]
    for c in stored:
        saver.put(named("t"), c, {}, {})
    assert [t.checkpoint for t in saver.list(named("t"))] == stored[::-1]
    for c in stored:
        found = saver.get_tuple(named("t", c["id"]))
        assert found is not None and found.checkpoint == c
    with pytest.raises(memoryd.PayloadTooLarge):
        saver.put(named("t"), checkpoint(text * 17), {}, {})


def test_a_read_is_small(app: str) -> None:
    """The latest checkpoint is read without those before it."""
    read: list[int] = []
    hooks = {"response": [lambda answer: read.append(len(answer.read()))]}
    with httpx.Client(event_hooks=hooks) as http, memoryd.Client(http=http) as client:
        saver = MemorydSaver(app, "ann", client=client)
        stored = checkpoint()
        for step in range(4):
            stored = checkpoint("x" * 90_000)
            saver.put(named("t"), stored, {}, {})
            if step < 3:
                saver.put_writes(named("t", stored["id"]), [("text", 1), ("more", 2)], "task")
        read.clear()
        latest = saver.get_tuple(named("t"))
    assert latest is not None and latest.checkpoint == stored
    assert len(read) == 1 and read[0] < 130_000


def test_users(client: memoryd.Client, app: str) -> None:
    saver = MemorydSaver(app, lambda thread: thread.split(":")[0], client=client)
    for thread in ("ann:1", "bob:1", "bob:2"):
        saver.put(named(thread), checkpoint(thread), {}, {})
    threads = [t.checkpoint["channel_values"]["text"] for t in saver.list(None)]
    assert threads == ["bob:2", "bob:1", "ann:1"]
    assert MemorydSaver(app, "bob", client=client).get_tuple(named("ann:1")) is None
    client.user(app, "bob").erase_user()
    threads = [t.checkpoint["channel_values"]["text"] for t in saver.list(None)]
    assert threads == ["ann:1"]


def test_refused(client: memoryd.Client, app: str) -> None:
    saver = MemorydSaver(app, "ann", client=client)
    with pytest.raises(memoryd.InvalidArgument, match="thread_id"):
        saver.get_tuple({"configurable": {}})
    with pytest.raises(memoryd.InvalidArgument, match="version 6"):
        saver.put(named("t"), checkpoint(id=str(uuid.uuid4())), {}, {})
    with pytest.raises(memoryd.InvalidArgument, match="checkpoint_id"):
        saver.put_writes(named("t"), [("text", 1)], "task")
    with pytest.raises(memoryd.InvalidArgument, match="async_client"):
        asyncio.run(saver.aget_tuple(named("t")))
    with pytest.raises(memoryd.InvalidArgument, match="user"):
        MemorydSaver(app, "", client=client)


def test_a_lost_answer() -> None:
    """The events of a repeated call have the ids of the first one."""

    def lost(n: int, path: str) -> Answer:
        return (404, {}, error(404, "NOT_FOUND")) if n == 2 else None if n % 2 else (200, {}, {})

    with serve(lost) as at, memoryd.Client(at.url) as client:
        saver = MemorydSaver("shop", "ann", client=client)
        saver.put(named("t"), checkpoint(), {}, {})
    ids = {event["id"] for _, _, body in at.seen for event in body["events"]}
    calls = [path.rpartition("/")[2] for _, path, _ in at.seen]
    assert calls == ["events", "events", "sessions", "events"] and len(ids) == 1
