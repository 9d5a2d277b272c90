"""What a client does when memoryd fails, is slow, or is another server."""

from __future__ import annotations

import asyncio
import socket
import time
from datetime import datetime
from typing import Any

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


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {}, error(404, "NOT_FOUND", "there is no route for POST /x")), "no such call"),
        (
            (400, {}, error(400, "INVALID_ARGUMENT", 'invalid argument: unknown field "query"')),
            "does not know 'query'",
        ),
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
        assert at.url in str(failed.value)


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


def test_bad_values() -> None:
    with memoryd.Client() as client:
        ann = client.user("shop", "ann")
        with pytest.raises(memoryd.InvalidArgument, match="time zone"):
            ann.search("anything", since=datetime(2026, 3, 1))
        with pytest.raises(memoryd.InvalidArgument, match="JSON"):
            ann.create_session(state={"x": object()})
        with pytest.raises(memoryd.InvalidArgument, match="JSON"):
            ann.create_session(state={"x": float("nan")})
    with pytest.raises(ValueError, match="no key"):
        memoryd.Client(key="a b")
