"""memoryd.langgraph. LangGraph's own tests of stores have more, with other scores."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

import memoryd
from memoryd.langgraph import MemorydStore

from .server import Answer, error, serve

NAMES = ("ann", "notes")


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_items(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client)
    value: dict[str, Any] = {
        "text": "I take oat milk.",
        "n": 12345678901234567890,
        "half": 0.5,
        "none": None,
        "": [{"deep": {"er": [True, "\u0000"]}}],
        "a.b": {"timestampValue": "2026-01-01T00:00:00+01:00"},
    }
    assert store.get(NAMES, "milk") is None
    store.delete(NAMES, "milk")
    store.put(NAMES, "milk", value)
    item = store.get(NAMES, "milk")
    assert item is not None and item.value == value
    assert (item.namespace, item.key) == (NAMES, "milk")
    store.put(NAMES, "milk", {"text": "I take soy milk."})
    changed = store.get(NAMES, "milk")
    assert changed is not None and changed.value == {"text": "I take soy milk."}
    assert changed.created_at == item.created_at and changed.updated_at > item.updated_at
    store.put(NAMES, "milk", value)  # as at first
    again = store.get(NAMES, "milk")
    assert again is not None and again.value == value
    store.delete(NAMES, "milk")
    assert store.get(NAMES, "milk") is None
    store.put(NAMES, "milk", {"text": "I take no milk."})
    after = store.get(NAMES, "milk")
    assert after is not None and after.value == {"text": "I take no milk."}


def test_search(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client)
    store.put(NAMES, "pet", {"text": "My dog is called Rex.", "kind": "pet", "age": 3})
    store.put(NAMES, "town", {"text": "I live in Porto.", "kind": "home", "age": 10})
    store.put((*NAMES, "old"), "town", {"text": "I lived in Ghent.", "kind": "home"})
    store.put(NAMES, "hidden", {"text": "My dog sleeps a lot."}, index=False)
    store.put(("bob", "notes"), "pet", {"text": "My dog is called Bello."})

    found = store.search(NAMES, query="What is my dog called?", limit=2)
    assert keys(found)[0] == "pet" and found[0].score and found[0].score > (found[1].score or 0)
    assert "hidden" not in keys(store.search(NAMES, query="dog", limit=10))
    long = store.search(NAMES, query="What is my dog called? " * 2000, limit=2)
    assert keys(long)[0] == keys(found)[0]
    assert keys(store.search(NAMES, query=" ")) == keys(store.search(NAMES))
    assert keys(store.search(NAMES)) == ["hidden", "town", "town", "pet"]  # the newest first
    assert keys(store.search(NAMES, limit=2, offset=1)) == ["town", "town"]
    assert keys(store.search(NAMES, filter={"kind": "home", "age": {"$gt": 5}})) == ["town"]
    assert keys(store.search(NAMES, filter={"age": {"$ne": 3}, "kind": "pet"})) == []
    assert keys(store.search(NAMES, query="Where do I live?", filter={"kind": "home"}))[0] == "town"
    assert len(store.search((), query="dog", filter={"kind": None})) == 1
    with pytest.raises(memoryd.InvalidArgument, match=r"\$in"):
        store.search(NAMES, filter={"kind": {"$in": ["pet"]}})
    # A user has a scope, which other users' searches never reach.
    assert {i.namespace[0] for i in store.search(("ann",), query="dog", limit=100)} == {"ann"}
    assert {i.namespace[0] for i in store.search((), query="dog", limit=100)} == {"ann", "bob"}


def test_namespaces(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client)
    names = [("ann", "a b", "50%"), ("ann", "c"), ("ann", "c/d"), ("bob", "c")]
    for namespace in names:
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces() == names
    assert store.list_namespaces(prefix=("ann", "c")) == [("ann", "c")]
    assert store.list_namespaces(prefix=("*", "c")) == [("ann", "c"), ("bob", "c")]
    assert store.list_namespaces(suffix=("*", "50%")) == [("ann", "a b", "50%")]
    assert store.list_namespaces(max_depth=1) == [("ann",), ("bob",)]
    assert store.list_namespaces(limit=1, offset=3) == [("bob", "c")]
    assert keys(store.search(("ann", "c"))) == ["k"]


def test_user_label(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client, user_label=1)
    store.put(("memories", "ann"), "k", {"text": "I live in Porto."})
    assert keys(store.search(("memories", "ann"))) == ["k"]
    assert keys(store.search(("memories",))) == ["k"]
    facts = [m["fact"] for m in client.user(app, "ann").list_memories()]
    assert facts == ["I live in Porto."]
    with pytest.raises(memoryd.InvalidArgument, match="user_label"):
        store.put(("memories",), "k", {"text": "no"})


def test_text(client: memoryd.Client, app: str) -> None:
    """The text that others find and models read."""
    store = MemorydStore(app, client=client, fields=["note.text", "tags[*]"])
    store.put(NAMES, "1", {"note": {"text": "I live in Porto."}, "tags": ["town", "home"]})
    store.put(NAMES, "2", {"n": 1})
    store.put(NAMES, "3", {"a": "x", "b": [1]}, index=["$"])
    facts = {m["id"]: m["fact"] for m in client.user(app, "ann").list_memories()}
    assert sorted(facts.values()) == ["2", "I live in Porto.\ntown\nhome", "a: x\nb: [1]"]


def test_ttl(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client, ttl={"default_ttl": 1 / 60})
    ann = client.user(app, "ann")

    def expires(key: str) -> str | None:
        (memory,) = ann.list_memories(filter=f'metadata."langgraph.key" = "{key}"')
        return memory.get("expireTime")

    store.put(NAMES, "long", {"text": "a"}, ttl=60)
    store.put(NAMES, "ever", {"text": "b"}, ttl=None)
    first = expires("long")
    assert first is not None and expires("ever") is None
    store.get(NAMES, "long", refresh_ttl=False)
    assert expires("long") == first
    store.get(NAMES, "long")
    assert (second := expires("long")) is not None and second > first
    store.search(NAMES)
    assert (third := expires("long")) is not None and third > second
    store.put(NAMES, "short", {"text": "c"})
    until = time.monotonic() + 60
    while store.get(NAMES, "short", refresh_ttl=False) and time.monotonic() < until:
        time.sleep(0.1)
    assert store.get(NAMES, "short") is None
    store.put(NAMES, "short", {"text": "d"}, ttl=60)
    item = store.get(NAMES, "short")
    assert item is not None and item.value == {"text": "d"}
    with pytest.raises(memoryd.InvalidArgument, match="ttl"):
        store.put(NAMES, "short", {"text": "e"}, ttl=0)


def test_said_otherwise(client: memoryd.Client, app: str) -> None:
    """An item that a later statement has ended stays an item, and is no hit by meaning."""
    store = MemorydStore(app, client=client)
    store.put(NAMES, "town", {"text": "I live in Porto."})
    said = [{"author": "user", "content": "I moved to Berlin."}]
    client.user(app, "ann").ingest("s1", said, wait=True)
    (memory,) = client.user(app, "ann").list_memories(history=True, filter='fact:"Porto"')
    assert memory.get("validTo")
    assert store.get(NAMES, "town") is not None and keys(store.search(NAMES)) == ["town"]


def test_batch(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client)
    store.put(NAMES, "k", {"n": 1})
    results = store.batch(
        [
            PutOp(NAMES, "k", {"n": 2}),
            GetOp(NAMES, "k"),
            SearchOp(NAMES),
            ListNamespacesOp(),
            PutOp(NAMES, "k", {"n": 3}),
        ]
    )
    assert results[0] is None and results[4] is None
    assert getattr(results[1], "value", None) == {"n": 1}
    assert results[3] == [NAMES]
    item = store.get(NAMES, "k")
    assert item is not None and item.value == {"n": 3}


def test_async(app: str) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            store = MemorydStore(app, async_client=client)
            puts = [store.aput(NAMES, f"k{i}", {"text": f"I have {i} cats."}) for i in range(100)]
            await asyncio.gather(*puts)
            assert len(await store.asearch(NAMES, limit=200)) == 100
            found = await store.asearch(NAMES, query="Do I have 17 cats?", limit=1)
            assert keys(found) == ["k17"]
            await store.adelete(NAMES, "k17")
            assert await store.aget(NAMES, "k17") is None
            assert await store.alist_namespaces() == [NAMES]

    asyncio.run(calls())


def test_one_client(client: memoryd.Client, app: str) -> None:
    store = MemorydStore(app, client=client)
    store.put(NAMES, "k", {"n": 1})
    with pytest.raises(memoryd.InvalidArgument, match="async_client="):
        asyncio.run(store.aget(NAMES, "k"))


def test_put_of_a_deleted_item(client: memoryd.Client, app: str) -> None:
    """No revision since the deletion has the deleted value, so that no reader can see it."""
    store = MemorydStore(app, client=client)
    store.put(NAMES, "k", {"text": "old"}, ttl=5)
    store.delete(NAMES, "k")
    store.put(NAMES, "k", {"text": "new"})
    user = client.user(app, "ann")
    (memory,) = user.list_memories()
    revisions = [(r["action"], r["fact"]) for r in user.list_revisions(memory["id"])]
    assert [action for action, _ in revisions[1:]] == ["DELETED", "CREATED"]
    assert revisions[0][1] == "new" and memory["fact"] == "new" and "expireTime" not in memory
    assert store.search(NAMES)[0].value == {"text": "new"}


def test_put_of_a_deleted_item_without_history() -> None:
    """Its revisions have expired. The item cannot come back, and put says so."""

    def gone(n: int, path: str) -> Answer:
        if path.split("?")[0].endswith("/revisions"):
            return 200, {}, {"revisions": [{"revision": 2, "action": "DELETED"}]}
        return (409, {}, error(409, "ALREADY_EXISTS")) if n == 1 else (404, {}, error(404, "NOT_FOUND"))

    with serve(gone) as at, memoryd.Client(at.url) as client:
        with pytest.raises(memoryd.NotFound):
            MemorydStore("shop", client=client).put(NAMES, "k", {"n": 1})


def test_a_lost_answer() -> None:
    """A put of an item that is there says all of it, so that it may come twice."""

    def lost(n: int, path: str) -> Answer:
        if n == 1:
            return 409, {}, error(409, "ALREADY_EXISTS")
        return None if n == 2 else (200, {}, {"id": "m1"})

    with serve(lost) as at, memoryd.Client(at.url) as client:
        MemorydStore("shop", client=client).put(NAMES, "k", {"n": 1})
        assert [method for method, _, _ in at.seen] == ["POST", "PATCH", "PATCH"]
        assert at.seen[1][2] == at.seen[2][2]


def test_pages_of_a_filter() -> None:
    """Entries that a filter leaves out here fill no pages of their own."""
    found: Answer = (200, {}, {"memories": []})
    with serve(lambda n, path: found) as at, memoryd.Client(at.url) as client:
        store = MemorydStore("shop", client=client)
        store.search(NAMES, limit=3)
        store.search(NAMES, filter={"n": {"$ne": 1}}, limit=3)
        sizes = [re.search(r"pageSize=(\d+)", path) for _, path, _ in at.seen]
        assert [size and size[1] for size in sizes] == ["3", "1000"]


def test_a_key_that_reads(client: memoryd.Client, app: str) -> None:
    """It reads items with a ttl too, whose time does not begin again."""
    MemorydStore(app, client=client).put(NAMES, "milk", {"text": "I take oat milk."}, ttl=5)
    key = client.app(app).create_key(can=["read"])["key"]
    with memoryd.Client(key=key) as reader:
        store = MemorydStore(app, client=reader)
        item = store.get(NAMES, "milk")
        assert item is not None and item.value == {"text": "I take oat milk."}
        assert keys(store.search(NAMES, query="milk")) == ["milk"]
