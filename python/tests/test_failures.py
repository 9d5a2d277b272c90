"""What a client does when memoryd fails, is slow, or is another server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from datetime import datetime
from typing import Any

import httpx
import pytest

import memoryd

from .server import Answer, error, serve

FOUND: Any = (200, {}, {"memories": []})
AWAY: Any = (503, {"Retry-After": "0"}, error(503, "UNAVAILABLE"))


def test_not_there() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{s.getsockname()[1]}"
    with memoryd.Client(url, retries=1) as client:
        assert not client.alive()
        with pytest.raises(memoryd.Unreachable) as failed:
            client.user("shop", "ann").search("anything")
    assert url in str(failed.value) and not failed.value.sent


def test_retries() -> None:
    with serve(lambda n, path: AWAY if n < 3 else FOUND) as at, memoryd.Client(at.url) as client:
        assert client.user("shop", "ann").search("anything") == []
        assert len(at.seen) == 3
    with serve(lambda n, path: AWAY) as at, memoryd.Client(at.url, retries=1) as client:
        with pytest.raises(memoryd.Unavailable):
            client.user("shop", "ann").search("anything")
        assert len(at.seen) == 2


def test_retry_after() -> None:
    """It replaces the wait, and is for the caller if it is long."""
    busy: Any = (429, {"Retry-After": "1"}, error(429, "RESOURCE_EXHAUSTED"))
    stored: Any = (201, {}, {"id": "m1"})
    with serve(lambda n, path: busy if n == 1 else stored) as at, memoryd.Client(at.url) as client:
        begun = time.monotonic()
        client.user("shop", "ann").add_memory("I am allergic to peanuts.")
        assert time.monotonic() - begun >= 1 and len(at.seen) == 2
    late: Any = (429, {"Retry-After": "60"}, error(429, "RESOURCE_EXHAUSTED"))
    with serve(lambda n, path: late) as at, memoryd.Client(at.url) as client:
        with pytest.raises(memoryd.ResourceExhausted) as failed:
            client.user("shop", "ann").search("anything")
        assert failed.value.retry_after == 60 and len(at.seen) == 1


def test_repeats_only_what_may_be_repeated() -> None:
    def lost(n: int, path: str) -> Answer:
        return None if n == 1 else (200, {}, {"id": "m1"})

    with serve(lost) as at, memoryd.Client(at.url) as client:
        with pytest.raises(memoryd.Unreachable) as failed:
            client.user("shop", "ann").add_memory("I am allergic to peanuts.")
        assert failed.value.sent and len(at.seen) == 1
    with serve(lost) as at, memoryd.Client(at.url) as client:
        client.user("shop", "ann").add_memory("I am allergic to peanuts.", id="form-17")
        assert len(at.seen) == 2
    with serve(lost) as at, memoryd.Client(at.url) as client:
        client.user("shop", "ann").append_events("s1", [{"content": "I live in Porto."}])
        first, second = (body["events"][0]["id"] for _, _, body in at.seen)
        assert first and first == second
    with serve(lost) as at, memoryd.Client(at.url) as client:
        client.user("shop", "ann").create_session()
        assert at.seen[0][2]["id"] == at.seen[1][2]["id"]

    def tool(n: int, path: str) -> Answer:
        return None if n == 1 else (200, {}, {"result": {"memories": []}})

    with serve(tool) as at, memoryd.Client(at.url) as client:
        client.user("shop", "ann").call_tool("load_memory", {"query": "peanuts"})
        assert len(at.seen) == 2
    with serve(tool) as at, memoryd.Client(at.url) as client:
        with pytest.raises(memoryd.Unreachable):
            client.user("shop", "ann").call_tool("remember", {"fact": "I am allergic."})
        assert len(at.seen) == 1


def test_created_though_the_answer_was_lost() -> None:
    """The try after it finds the id in use, and is no failure."""
    taken: Any = (409, {}, error(409, "ALREADY_EXISTS"))

    def lost(n: int, path: str) -> Answer:
        if n == 1:
            return None
        return taken if n == 2 else (200, {}, {"id": path.rsplit("/", 1)[1], "state": {"n": 1}})

    with serve(lost) as at, memoryd.Client(at.url) as client:
        made = client.user("shop", "ann").create_session(state={"n": 1})
        assert made.get("state") == {"n": 1} and made["id"] == at.seen[0][2]["id"]
        assert [method for method, _, _ in at.seen] == ["POST", "POST", "GET"]
    with serve(lost) as at:

        async def call() -> None:
            async with memoryd.AsyncClient(at.url) as client:
                made = await client.user("shop", "ann").create_session()
                assert made["id"] == at.seen[0][2]["id"]

        asyncio.run(call())
    # An id of the caller may be in use by another session.
    with serve(lambda n, path: taken) as at, memoryd.Client(at.url) as client:
        with pytest.raises(memoryd.AlreadyExists):
            client.user("shop", "ann").create_session("s1")
        assert len(at.seen) == 1


def test_deleted_though_the_answer_was_lost() -> None:
    missing: Any = (404, {}, error(404, "NOT_FOUND"))
    with serve(lambda n, path: None if n == 1 else missing) as at, memoryd.Client(at.url) as client:
        client.user("shop", "ann").delete_memory("m1")
        assert len(at.seen) == 2
        with pytest.raises(memoryd.NotFound):
            client.user("shop", "ann").delete_memory("m1")


def states(*operations: Any) -> Any:
    text = "".join(f"data: {json.dumps(o, ensure_ascii=False)}\n\n" for o in operations)
    return 200, {"Content-Type": "text/event-stream"}, (": open\n\n" + text).encode()


def test_follow() -> None:
    """Only line feeds end the lines of a stream, and a stream that is refused is begun again."""
    text = "a\u2028b\u2029c\u0085d\x1ce"
    going = {"id": "o1", "done": False, "metadata": {"text": text}}
    done = {**going, "done": True}
    busy: Any = (429, {"Retry-After": "6"}, error(429, "RESOURCE_EXHAUSTED"))

    def answer(n: int, path: str) -> Answer:
        given: list[Answer] = [AWAY, busy, states(going), None, AWAY, states(going, done)]
        return given[n - 1]

    with pytest.MonkeyPatch.context() as patched, serve(answer) as at:
        waits: list[float] = []
        patched.setattr(time, "sleep", waits.append)
        with memoryd.Client(at.url, retries=4) as client:
            assert list(client.follow("o1")) == [going, going, done]
        assert len(at.seen) == 6 and waits[1] == 6
    with serve(answer) as at:

        async def call() -> None:
            async with memoryd.AsyncClient(at.url, retries=4) as client:
                waits.clear()

                async def rest(seconds: float) -> None:
                    waits.append(seconds)

                client._transport.rest = rest  # type: ignore[method-assign]
                assert [s async for s in client.follow("o1")] == [going, going, done]

        asyncio.run(call())
        assert waits[1] == 6
    for refused, kind in (
        ((404, {}, error(404, "NOT_FOUND")), memoryd.NotFound),
        (None, memoryd.Unreachable),
        ((404, {}, error(404, "NOT_FOUND", "there is no route for GET /x")), memoryd.Incompatible),
    ):
        with serve(lambda n, path: refused) as at:  # noqa: B023
            with memoryd.Client(at.url, retries=1) as client, pytest.raises(kind, match=at.url):
                list(client.follow("o1"))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {}, error(404, "NOT_FOUND", "there is no route for POST /x")), "no such call"),
        (
            (400, {}, error(400, "INVALID_ARGUMENT", 'invalid argument: unknown field "query"')),
            "does not know 'query'",
        ),
        ((200, {}, {"found": []}), "has no 'memories'"),
    ],
)
def test_another_version(answer: Any, words: str) -> None:
    described: Any = (200, {}, {"info": {"version": "v0.0.9"}})
    with serve(lambda n, path: described if path == "/openapi.json" else answer) as at:
        with memoryd.Client(at.url) as client, pytest.raises(memoryd.Incompatible) as failed:
            client.user("shop", "ann").search("anything")
        assert at.url in str(failed.value) and "v0.0.9" in str(failed.value)
        assert memoryd.__version__ in str(failed.value) and words in str(failed.value)

        async def call() -> None:
            async with memoryd.AsyncClient(at.url) as client:
                with pytest.raises(memoryd.Incompatible, match="v0.0.9"):
                    await client.user("shop", "ann").search("anything")

        asyncio.run(call())


@pytest.mark.parametrize("status", [200, 404, 302])
def test_no_memoryd(status: int) -> None:
    page: Any = (status, {"Content-Type": "text/html"}, b"<h1>Hello</h1>")
    with serve(lambda n, path: page) as at, memoryd.Client(at.url) as client:
        assert not client.alive()
        with pytest.raises(memoryd.Incompatible, match="Hello") as failed:
            client.user("shop", "ann").search("anything")
        assert f"{at.url} that" in str(failed.value) and memoryd.__version__ in str(failed.value)


def test_a_proxy_in_between() -> None:
    away: Any = (502, {}, b"bad gateway")
    with serve(lambda n, path: away) as at, memoryd.Client(at.url, retries=1) as client:
        with pytest.raises(memoryd.Unavailable, match="bad gateway"):
            client.user("shop", "ann").search("anything")
        assert len(at.seen) == 2


def test_closed() -> None:
    with serve(lambda n, path: FOUND) as at:
        client = memoryd.Client(at.url)
        client.user("shop", "ann").search("anything")
        client.close()
        client.close()
        with pytest.raises(memoryd.Closed, match=at.url):
            client.user("shop", "ann").search("anything")

        async def calls() -> None:
            client = memoryd.AsyncClient(at.url)
            await client.user("shop", "ann").search("anything")
            await client.close()
            await client.close()
            with pytest.raises(memoryd.Closed, match=at.url):
                await client.user("shop", "ann").search("anything")

        asyncio.run(calls())


def test_timeout() -> None:
    with socket.socket() as s:  # takes connections, and never answers
        s.bind(("127.0.0.1", 0))
        s.listen()
        url = f"http://127.0.0.1:{s.getsockname()[1]}"
        with memoryd.Client(url, timeout=0.05, retries=0) as client:
            with pytest.raises(memoryd.Unreachable, match="timed out"):
                client.user("shop", "ann").search("anything")


def test_cancelled() -> None:
    """A task that is cancelled in mid-call ends at once, and leaves no connection behind."""

    async def calls() -> None:
        gone = asyncio.Event()
        arrived = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            arrived.set()
            await reader.read()  # until the client ends the connection
            gone.set()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        url = "http://127.0.0.1:{}".format(server.sockets[0].getsockname()[1])
        client = memoryd.AsyncClient(url)
        call = asyncio.create_task(client.user("shop", "ann").get_session("s1"))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(gone.wait(), 10)
        await client.close()
        server.close()
        await server.wait_closed()

    asyncio.run(calls())


@pytest.mark.parametrize("id", ["", ".", "..", "a/b", None])
def test_ids(id: Any) -> None:
    with memoryd.Client() as client, pytest.raises(memoryd.InvalidArgument):
        client.user("shop", id)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080", "ftp://x", "http://", "http://x?y=1", "http://x:y"]
)
def test_urls(url: str) -> None:
    with pytest.raises(memoryd.InvalidArgument, match="want one such as"):
        memoryd.Client(url)


def test_url_with_a_password() -> None:
    """Errors show the URL, so that it must not have a password."""
    for url in ("http://ann:hunter2@x", "http://ann:hun/ter2@x", "ann:hunter2@x", "http://ann@[x"):
        for kind in (memoryd.Client, memoryd.AsyncClient):
            with pytest.raises(ValueError, match="key= or MEMORYD_KEY") as failed:
                kind(url)
            assert "hunter2" not in str(failed.value)


def test_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{s.getsockname()[1]}"
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", dead)
    monkeypatch.setenv("http_proxy", dead)
    with serve(lambda n, path: FOUND) as at:
        with memoryd.Client(at.url, trust_env=False) as client:
            assert client.user("shop", "ann").search("anything") == []
        with memoryd.Client(at.url, retries=0) as client, pytest.raises(memoryd.Unreachable):
            client.user("shop", "ann").search("anything")


def test_loops_of_threads() -> None:
    """Each loop gets connections of its own, however many begin and end at once."""
    with serve(lambda n, path: FOUND) as at:
        client = memoryd.AsyncClient(at.url)
        failed: list[BaseException] = []
        begin = threading.Barrier(8)

        async def call() -> None:
            begin.wait()
            first, second = client._transport.http(), client._transport.http()
            assert first is second
            await first.aclose()  # as the loop ends

        def calls() -> None:
            try:
                for _ in range(20):
                    asyncio.run(call())
            except BaseException as error:
                failed.append(error)
                begin.abort()

        threads = [threading.Thread(target=calls) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed
        asyncio.run(client.close())


def test_closed_in_another_loop() -> None:
    """Connections of a loop that runs are closed in it."""
    with serve(lambda n, path: FOUND) as at:
        client = memoryd.AsyncClient(at.url)
        ready, closed = threading.Event(), threading.Event()
        gone: list[bool] = []

        async def call() -> None:
            await client.user("shop", "ann").search("anything")
            http = client._transport.http()
            ready.set()
            while not closed.is_set() or not http.is_closed:
                await asyncio.sleep(0.001)
            gone.append(http.is_closed)

        other = threading.Thread(target=lambda: asyncio.run(call()))
        other.start()
        ready.wait()
        asyncio.run(client.close())
        closed.set()
        other.join(30)
        assert gone == [True]


def child(call: Any) -> int:
    """The exit code of a forked child that runs a function: 0 if it returns."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            call()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the server of the test is a thread
def test_forks() -> None:
    """A client that was closed before a fork stays so. A child has connections of its own, and
    is told so where it has to make them itself."""
    with serve(lambda n, path: FOUND) as at:
        client = memoryd.AsyncClient(at.url)

        async def search() -> None:
            assert await client.user("shop", "ann").search("anything") == []

        async def use() -> None:
            await search()
            http = client._transport.http()

            def calls() -> None:
                asyncio.events._set_running_loop(None)
                asyncio.run(search())
                asyncio.run(client.close())

            assert child(calls) == 0
            assert client._transport.http() is http
            await search()
            await client.close()

        asyncio.run(use())

        def closed() -> None:
            with pytest.raises(memoryd.Closed, match="is closed"):
                asyncio.run(search())

        assert child(closed) == 0
        with httpx.Client() as http:
            given = memoryd.Client(at.url, http=http)

            def refused() -> None:
                with pytest.raises(memoryd.Closed, match="before a fork"):
                    given.user("shop", "ann").search("anything")

            assert child(refused) == 0
        alike = memoryd.AsyncClient(at.url, http=httpx.AsyncClient())

        def refused_too() -> None:
            with pytest.raises(memoryd.Closed, match="before a fork"):
                asyncio.run(_found(alike))

        assert child(refused_too) == 0


async def _found(client: memoryd.AsyncClient) -> None:
    await client.user("shop", "ann").search("anything")


def test_bad_values() -> None:
    with memoryd.Client() as client:
        ann = client.user("shop", "ann")
        with pytest.raises(memoryd.InvalidArgument, match="time zone"):
            ann.search("anything", since=datetime(2026, 3, 1))
        with pytest.raises(memoryd.InvalidArgument, match="JSON"):
            ann.create_session(state={"x": object()})
        with pytest.raises(memoryd.InvalidArgument, match="JSON"):
            ann.create_session(state={"x": float("nan")})
        events: Any
        for events in ("Hello", ["Hello"], [None]):
            with pytest.raises(memoryd.InvalidArgument, match="want a dict"):
                ann.ingest("s1", events)
    with pytest.raises(ValueError, match="no key"):
        memoryd.Client(key="a b")
