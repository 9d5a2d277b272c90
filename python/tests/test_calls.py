"""The calls of the API, against a memoryd."""

# pyright: reportTypedDictNotRequiredAccess=false

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest

import memoryd
from memoryd.types import Memory, Operation

SAID = [
    {"id": "e1", "author": "user", "content": "I moved to Porto last week and I love the trams."},
    {"id": "e2", "author": "assistant", "content": "How lovely!"},
]


def ingested(user: memoryd.User) -> Operation:
    operation = user.ingest("s1", SAID, wait=True)
    assert operation["done"] and operation["metadata"]["state"] == "SUCCEEDED"
    return operation


def test_memories(client: memoryd.Client, app: str) -> None:
    ann = client.user(app, "ann@example.com")
    operation = ingested(ann)
    assert operation["response"]["memories"][0]["action"] == "CREATED"
    found = ann.search("Where does Ann live?", kinds=["fact"], top_k=3)
    assert "Porto" in found[0]["memory"]["fact"]
    block = ann.context("Where does Ann live?", max_tokens=300)
    assert block["text"].startswith("<PAST_CONVERSATIONS>")

    fact = ann.add_memory(
        "I am allergic to peanuts.",
        id="form-17",
        display_name="Allergy",
        ttl=timedelta(hours=48),
        valid_from=datetime(2026, 3, 1, tzinfo=timezone.utc),
        metadata={"source": "form", "weights": (1, 2)},
    )
    assert fact["validFrom"] == "2026-03-01T00:00:00.000000Z" and "expireTime" in fact
    assert memoryd.parse_time(fact["validFrom"]) == datetime(2026, 3, 1, tzinfo=timezone.utc)
    assert ann.get_memory("form-17") == fact
    changed = ann.patch_memory("form-17", fact="I am allergic to walnuts.", display_name=None)
    assert "displayName" not in changed and changed["metadata"]["weights"] == [1, 2]
    assert [r["revision"] for r in ann.list_revisions("form-17")] == [2, 1]
    assert ann.rollback_memory("form-17", 1)["fact"] == "I am allergic to peanuts."
    ann.delete_memory("form-17")
    assert [m["id"] for m in ann.list_memories(deleted=True)] == ["form-17"]
    with pytest.raises(memoryd.NotFound) as missing:
        ann.get_memory("form-17")
    assert missing.value.method == "GET" and missing.value.status_code == 404
    assert f"/v1/apps/{app}/users/ann%40example.com/memories/form-17" in str(missing.value)
    assert ann.purge(kind="turn", dry_run=True) == 2
    assert ann.dry_run("s9", SAID)["facts"]
    assert ann.profiles(ids=True)["profiles"] == {}
    assert client.app(app).purge_app("kind = turn") == 2


def test_pages(client: memoryd.Client, app: str) -> None:
    bob = client.user(app, "bob")
    for i in range(5):
        bob.add_memory(f"My number is {i}.", id=f"n{i}", topics=["numbers", f"n{i}"])
    assert len(list(bob.list_memories(page_size=2))) == 5
    pages = list(bob.list_memories(page_size=2).by_page())
    assert [len(p.items) for p in pages] == [2, 2, 1] and pages[2].next_page_token is None
    rest = bob.list_memories(page_size=2, page_token=pages[0].next_page_token)
    assert [m["id"] for m in rest] == [m["id"] for p in pages[1:] for m in p.items]
    chosen = [m["id"] for m in bob.list_memories(topic=["n1", "n3"], order_by="timestamp asc")]
    assert chosen == ["n1", "n3"]
    assert [u["id"] for u in client.app(app).list_users()] == ["bob"]
    assert app in [a["id"] for a in client.list_apps()]
    assert len(list(client.app(app).list_app_memories(kind="fact"))) == 5


def test_sessions(client: memoryd.Client, app: str) -> None:
    ann = client.user(app, "ann")
    made = ann.create_session(state={"user:language": "en"}, ttl=timedelta(hours=1))
    sent = [{"author": "user", "content": "My sister Rita plays the cello."}, {"author": "guide"}]
    added = ann.append_events(made["id"], sent[:1], output_key="answer")
    assert [e["author"] for e in added["events"]] == ["user"] and "id" not in sent[0]
    ann.append_events(made["id"], {"author": "guide", "content": "A fine choice."})
    got = ann.get_session(made["id"], num_recent_events=1)
    assert got["events"][0]["author"] == "guide" and got["state"] == {"user:language": "en"}
    ann.patch_session(made["id"], state_delta={"mood": "good"}, labels={"team": "blue"})
    assert ann.render(made["id"], "{user:language} {mood}") == "en good"
    blue = list(ann.list_sessions(filter="labels.team = blue"))
    assert [s["id"] for s in blue] == [made["id"]]
    assert client.app(app).find_session(made["id"])["userId"] == "ann"
    operation = ann.add_session(made["id"], wait=True)
    states = list(client.follow(operation["id"]))
    assert states[-1]["done"] and client.get_operation(operation["id"])["done"]
    assert [o["id"] for o in ann.list_operations()] == [operation["id"]]
    with pytest.raises(memoryd.AlreadyExists):
        ann.create_session(made["id"])
    ann.delete_session(made["id"])
    with pytest.raises(memoryd.NotFound):
        ann.get_session(made["id"])
    preview = client.rollback_operation(operation["id"], dry_run=True)
    assert preview["done"]


def test_app(client: memoryd.Client, app: str) -> None:
    shop = client.app(app)
    config = shop.get_config()
    config["ttl"] = {"created": 3600}
    assert shop.put_config(config)["revision"] == 1
    with pytest.raises(memoryd.Aborted):
        shop.put_config({"revision": 0})
    with pytest.raises(memoryd.InvalidArgument, match="nope"):
        shop.put_config(cast(Any, {"nope": 1}))
    shop.put_document("# Returns\n\nYou have 30 days.", id="returns", title="Returns")
    assert shop.get_document("returns")["passages"] == 1
    assert "30 days" in shop.search_shared("How long are returns?")[0]["memory"]["fact"]
    assert shop.erase_document("returns", dry_run=True)["memories"] == 1
    assert shop.erase_document("returns")["memories"] == 1
    key = shop.create_key(["read"], user_id="ann", ttl="1h")
    assert [k["id"] for k in shop.list_keys()] == [key["id"]]
    with memoryd.Client(client.url, key=key["key"]) as reader:
        assert reader.user(app, "ann").search("anything") == []
        with pytest.raises(memoryd.PermissionDenied):
            reader.user(app, "bob").search("anything")
    shop.revoke_key(key["id"])
    with memoryd.Client(client.url, key="memoryd_no") as stranger:
        with pytest.raises(memoryd.Unauthenticated):
            stranger.user(app, "ann").search("anything")
    shop.user("ann").add_memory("I live in Porto.")
    assert shop.erase_app(dry_run=True)["memories"] == 1
    assert shop.erase_app()["memories"] == 1


def test_tools_and_service(client: memoryd.Client, app: str, tmp_path: Path) -> None:
    ann = client.user(app, "ann")
    ingested(ann)
    assert "load_memory" in [f["name"] for f in client.list_tools()["functionDeclarations"]]
    assert ann.call_tool("load_memory", {"query": "Where do I live?"})["memories"]
    pong = ann.mcp({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert pong["result"] == {}
    assert client.alive() and client.ready() is not None
    assert "memoryd_" in client.metrics()
    assert client.openapi()["info"]["title"] == "memoryd"
    file = tmp_path / "copy.db"
    if os.environ.get("MEMORYD_BACKUP") == "1":  # not of one that keeps nothing
        assert client.backup(file) == file.stat().st_size > 0
    else:
        with pytest.raises(memoryd.MemorydError):
            client.backup(file)
        assert list(tmp_path.iterdir()) == []


def test_every_call_is_there(client: memoryd.Client) -> None:
    """Each call of the document has a method, and each status of an error a class."""
    doc: dict[str, Any] = client.openapi()
    named: dict[str, str] = {"home": "alive", "aliveHead": "alive", "readyHead": "ready"}
    named["mcpInScope"] = "mcp"
    kinds = (memoryd.Client, memoryd.App, memoryd.User)
    for methods in doc["paths"].values():
        for operation in methods.values():
            id: str = operation["operationId"]
            if id.startswith("console"):  # pages for a browser
                continue
            id = named.get(id, id)
            name = "".join("_" + c.lower() if c.isupper() else c for c in id)
            assert any(hasattr(k, name) for k in kinds), id
    statuses = doc["components"]["schemas"]["ErrorDetail"]["properties"]["status"]["enum"]
    from memoryd._errors import KINDS

    assert sorted(KINDS) == sorted(statuses)


def test_async(app: str) -> None:
    async def calls() -> None:
        async with memoryd.AsyncClient() as client:
            ann = client.user(app, "ann")
            operation = await ann.ingest("s1", SAID, wait=True)
            states = [s async for s in client.follow(operation["id"])]
            assert states[-1]["done"]
            found, session = await asyncio.gather(
                ann.search("Where does Ann live?"), ann.get_session("s1")
            )
            assert found and len(session["events"]) == 2
            memories: list[Memory] = [m async for m in ann.list_memories(page_size=1)]
            assert len(memories) >= 3
            pages = [p async for p in ann.list_memories(page_size=2).by_page()]
            assert sum(len(p.items) for p in pages) == len(memories)
            assert await client.alive() and "memoryd_" in await client.metrics()
            with pytest.raises(memoryd.NotFound):
                await ann.get_memory("none")
            with pytest.raises(memoryd.InvalidArgument):
                client.user(app, "..")

    asyncio.run(calls())


LOOPS = """
import asyncio, gc, sys
import memoryd

client = memoryd.AsyncClient()

async def call():
    await client.user(sys.argv[1], "ann").search("anything")

for _ in range(3):
    asyncio.run(call())
    gc.collect()
asyncio.run(client.close())
gc.collect()
assert len(client._transport._by_loop) == 0
"""


DROPPED = """
import asyncio, gc, sys
import memoryd

async def main():
    ann = memoryd.AsyncClient().user(sys.argv[1], "ann")
    await asyncio.gather(*(ann.search("Where?") for _ in range(20)))

asyncio.run(main())
gc.collect()  # which would tell of connections that are open
"""


@pytest.mark.parametrize("program", [LOOPS, DROPPED])
def test_event_loops(program: str, app: str) -> None:
    """Programs that run an event loop for each call share a client, whose connections end with
    their loop, also if the client is dropped as the loop ends. A process of its own has no
    garbage of other tests."""
    command = [sys.executable, "-W", "error", "-c", program, app]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads(client: memoryd.Client, app: str) -> None:
    failed: list[Exception] = []

    def calls(i: int) -> None:
        try:
            for _ in range(5):
                client.user(app, f"user-{i}").search("anything")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=calls, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pytest has no threads here
def test_fork(client: memoryd.Client, app: str) -> None:
    """A child has connections of its own, and leaves its parent those that it has."""
    ann = client.user(app, "ann")
    ann.search("anything")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for _ in range(20):
                ann.add_memory("I am a child.", id="child")
            client.close()
            code = 0
        finally:
            os._exit(code)
    for _ in range(20):
        assert isinstance(ann.search("anything"), list)
    assert os.waitpid(child, 0)[1] == 0
    assert ann.get_memory("child")["fact"] == "I am a child."


def test_errors_survive_pickle(client: memoryd.Client, app: str) -> None:
    with pytest.raises(memoryd.NotFound) as missing:
        client.user(app, "ann").get_memory("none")
    again = pickle.loads(pickle.dumps(missing.value))
    assert type(again) is memoryd.NotFound and str(again) == str(missing.value)
