"""The clients, with the calls that are written by hand."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Literal

import httpx

from . import _core as core
from ._async import AsyncClientCalls
from ._errors import Incompatible, MemorydError, Unreachable
from ._sync import ClientCalls
from ._transport import AsyncTransport, Settings, Transport

if TYPE_CHECKING:
    from ._types import Operation

DEFAULT_URL = "http://127.0.0.1:8080"
Store = Literal["sessions", "memories"]


def _settings(
    url: str | None,
    key: str | None,
    timeout: float,
    retries: int,
    verify: SSLContext | str | bool,
    trust_env: bool,
) -> Settings:
    url = url or os.environ.get("MEMORYD_URL") or DEFAULT_URL
    key = key if key is not None else os.environ.get("MEMORYD_KEY")
    context: SSLContext | bool
    if isinstance(verify, str):
        import ssl

        context = ssl.create_default_context(cafile=verify)
    else:
        context = verify
    return Settings(core.Options(url, key, retries), timeout, context, trust_env)


def _states(lines: list[str]) -> Iterator[Operation]:
    """The operations in lines of a stream, which has comments and empty lines too."""
    for line in lines:
        if line.startswith("data: "):
            operation: Operation = json.loads(line[len("data: ") :])
            yield operation


def _operation_path(operation: str) -> str:
    return f"/v1/operations/{core.segment('operation', operation)}"


class _Part:
    """A file that has its name once it is whole."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = Path(file)
        self.part = self.file.with_name(self.file.name + ".part")

    def __enter__(self) -> _Part:
        self.out = self.part.open("wb")
        self.size = 0
        return self

    def write(self, data: bytes) -> None:
        self.size += self.out.write(data)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.out.close()
        if kind is None:
            self.part.replace(self.file)
        else:
            self.part.unlink()


class Client(ClientCalls):
    """The calls of one memoryd. Many threads may use it at once, and forked processes too.

    Args:
        url: Where memoryd is. Without one it is MEMORYD_URL, or http://127.0.0.1:8080.
        key: What memoryd is shown with each request. Without one it is MEMORYD_KEY.
        timeout: How many seconds one try of a call may wait for the connection, for the
            answer and for each part of it.
        retries: How often a call is sent again that failed for a passing reason. A call
            that would take effect twice is sent again only if it cannot have arrived.
        verify: Whose certificates to trust over TLS: a file in PEM, a context of ssl, or
            False for all.
        trust_env: Whether the proxies of HTTP_PROXY and its like are used, and certificates of
            SSL_CERT_FILE, as httpx does.
        http: An httpx.Client to send the requests with, in place of one that follows
            from timeout, verify and trust_env. It stays open.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout: float = 60,
        retries: int = 5,
        verify: SSLContext | str | bool = True,
        trust_env: bool = True,
        http: httpx.Client | None = None,
    ) -> None:
        settings = _settings(url, key, timeout, retries, verify, trust_env)
        self._transport = Transport(settings, http)

    @property
    def url(self) -> str:
        """Where memoryd is."""
        return self._transport.options.url

    def close(self) -> None:
        """End the connections. A second call does nothing."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def alive(self) -> bool:
        """Whether a memoryd answers, at the first try."""
        try:
            found = self._transport._send("GET", self.url + "/livez", None, {})
        except (Unreachable, Incompatible):
            return False
        return found.text == "ok\n"

    def metrics(self) -> str:
        """The metrics, in the text format of Prometheus."""
        text: str = self._transport.call("GET", "/metrics", repeatable=True, text=True)
        return text

    def backup(self, file: str | os.PathLike[str], *, store: Store | None = None) -> int:
        """Copy an embedded file as it is now into a file here, and return its bytes.

        It takes a key with the verb admin for all apps.

        Args:
            file: Where the copy goes. It is there once it is whole.
            store: The store whose file to copy, `sessions` unless it says otherwise.
        """
        query = {"store": store}
        with self._transport.stream("POST", "/v1/backup", query, "*/*") as answer:
            with _Part(file) as part:
                for data in answer.iter_bytes():
                    part.write(data)
        return part.size

    def follow(self, operation: str) -> Iterator[Operation]:
        """An operation as it is, and again after each change, until it is done.

        A stream that breaks is begun again, and one that memoryd refuses for the time being
        once the seconds of Retry-After are over.
        """
        path, tries = _operation_path(operation), 0
        while True:
            lines = core.Lines()
            try:
                with self._transport.stream("GET", path, None, "text/event-stream") as answer:
                    for piece in answer.iter_text():
                        for state in _states(lines.feed(piece)):
                            tries = 0
                            yield state
                            if state["done"]:
                                return
                raise Unreachable("the stream has ended", method="GET", url=self.url + path)
            except MemorydError as error:
                tries += 1
                wait = core.resume(error, tries, self._transport.options.retries)
                if wait is None:
                    raise
            time.sleep(wait)


class AsyncClient(AsyncClientCalls):
    """The calls of one memoryd, for asyncio. Its arguments are those of Client.

    Several event loops may use it, each with connections of its own.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout: float = 60,
        retries: int = 5,
        verify: SSLContext | str | bool = True,
        trust_env: bool = True,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        settings = _settings(url, key, timeout, retries, verify, trust_env)
        self._transport = AsyncTransport(settings, http)

    @property
    def url(self) -> str:
        """Where memoryd is."""
        return self._transport.options.url

    async def close(self) -> None:
        """End the connections. A second call does nothing."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def alive(self) -> bool:
        """Whether a memoryd answers, at the first try."""
        try:
            found = await self._transport._send("GET", self.url + "/livez", None, {})
        except (Unreachable, Incompatible):
            return False
        return found.text == "ok\n"

    async def metrics(self) -> str:
        """The metrics, in the text format of Prometheus."""
        text: str = await self._transport.call("GET", "/metrics", repeatable=True, text=True)
        return text

    async def backup(self, file: str | os.PathLike[str], *, store: Store | None = None) -> int:
        """Copy an embedded file as it is now into a file here, and return its bytes.

        It takes a key with the verb admin for all apps.

        Args:
            file: Where the copy goes. It is there once it is whole.
            store: The store whose file to copy, `sessions` unless it says otherwise.
        """
        query = {"store": store}
        async with self._transport.stream("POST", "/v1/backup", query, "*/*") as answer:
            with _Part(file) as part:
                async for data in answer.aiter_bytes():
                    part.write(data)
        return part.size

    async def follow(self, operation: str) -> AsyncIterator[Operation]:
        """An operation as it is, and again after each change, until it is done.

        A stream that breaks is begun again, and one that memoryd refuses for the time being
        once the seconds of Retry-After are over.
        """
        path, tries = _operation_path(operation), 0
        while True:
            lines = core.Lines()
            try:
                async with self._transport.stream("GET", path, None, "text/event-stream") as answer:
                    async for piece in answer.aiter_text():
                        for state in _states(lines.feed(piece)):
                            tries = 0
                            yield state
                            if state["done"]:
                                return
                raise Unreachable("the stream has ended", method="GET", url=self.url + path)
            except MemorydError as error:
                tries += 1
                wait = core.resume(error, tries, self._transport.options.retries)
                if wait is None:
                    raise
            await self._transport.rest(wait)
