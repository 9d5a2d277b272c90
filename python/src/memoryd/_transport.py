"""Sends the requests of the clients, and reads the answers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

from . import _core as core
from ._errors import (
    AlreadyExists,
    Closed,
    Incompatible,
    MemorydError,
    NotFound,
    Unavailable,
    Unreachable,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. next_page_token is None on the last one."""

    items: list[T]
    next_page_token: str | None


def _page(answer: Mapping[str, Any], field: str) -> Page[Any]:
    return Page(answer[field] or [], answer.get("nextPageToken") or None)


class Settings:
    """How to make the connections of a client."""

    def __init__(self, options: core.Options, timeout: float, verify: Any, trust_env: bool) -> None:
        self.options = options
        # No connection of plain HTTP reads certificates, which take 20 ms to load.
        proxied = trust_env and _proxied()
        plain = verify is True and options.url.startswith("http:") and not proxied
        self.arguments: dict[str, Any] = {
            "timeout": timeout,
            "trust_env": trust_env,
            "verify": False if plain else verify,
            "follow_redirects": False,  # memoryd never redirects
            "limits": httpx.Limits(max_connections=None, max_keepalive_connections=100),
        }


def _proxied() -> bool:
    return any(name.lower().endswith("_proxy") for name in os.environ)


class Transport:
    """The connections of a Client. Many threads may use it at once."""

    def __init__(self, settings: Settings, http: httpx.Client | None) -> None:
        self.options = settings.options
        self._settings = settings
        self._given = http
        self._http = http
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closed = False

    def http(self) -> httpx.Client:
        """The connections of this process: a child that was forked has its own."""
        http = self._http
        if http is not None and self._pid == os.getpid() and not self._closed:
            return http
        if self._pid != os.getpid():
            if self._given is not None:
                raise Closed(
                    "httpx.Client was made before a fork: make one in the child",
                    url=self.options.url,
                )
            # Connections of the parent are left as they are, and another thread of the parent
            # may have held the lock. A child begins with one thread.
            self._lock, self._http, self._pid = threading.Lock(), None, os.getpid()
        with self._lock:
            if self._closed:
                raise Closed("the client is closed", url=self.options.url)
            if self._http is None:
                self._http = httpx.Client(**self._settings.arguments)
            return self._http

    def close(self) -> None:
        with self._lock if self._pid == os.getpid() else nullcontext():
            self._closed = True
            http, self._http = self._http, None
        if http is not None and self._given is None and self._pid == os.getpid():
            http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        repeatable: bool = False,
        fresh: bool = False,
        gone: bool = False,
        text: bool = False,
        needs: str = "",
    ) -> Any:
        """Sends a request until it is answered, or must not be sent again.

        repeatable says that a second request has no further effect, and fresh that the id in
        the body was made for this call: if a later try finds it in use, an earlier one was
        carried out, and what it created is read. gone says that a later try which finds nothing
        follows one that deleted it. needs is a field that the answer must have.
        """
        url = self.options.url + path + core.encode_query(query)
        content = core.encode(body)
        headers = self.options.headers if content is None else self.options.body_headers
        tries, lost = 0, False
        while True:
            try:
                response = self._send(method, url, content, headers)
                return response.text if text else core.decode(method, url, response, needs)
            except MemorydError as error:
                tries += 1
                if fresh and tries > 1 and isinstance(error, AlreadyExists):
                    return self.call("GET", f"{path}/{body['id']}", repeatable=True)
                if reason := core.suspect(error, body):
                    raise self.incompatible(error, reason) from error
                if gone and lost and isinstance(error, NotFound):
                    return None
                lost = lost or isinstance(error, Unavailable) or getattr(error, "sent", False)
                wait = core.pause(error, tries, repeatable)
                if wait is None or tries > self.options.retries:
                    raise
            time.sleep(wait)

    def _send(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        http = self.http()
        try:
            response = http.request(method, url, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise core.unreachable(method, url, error) from error
        except RuntimeError as error:  # closed by another thread meanwhile
            if self._closed or http.is_closed:
                raise Closed("the client is closed", method=method, url=url) from error
            raise
        if response.status_code >= 300:
            raise core.failure(method, url, response)
        return response

    def incompatible(self, error: MemorydError, reason: str) -> Incompatible:
        version = ""
        try:
            version = core.version_in(
                self._send("GET", self.options.url + "/openapi.json", None, self.options.headers)
            )
        except MemorydError:
            pass
        return core.incompatible(error, reason, self.options.url, version)

    @contextmanager
    def stream(
        self, method: str, path: str, query: Mapping[str, Any] | None, accept: str
    ) -> Iterator[httpx.Response]:
        """The answer to one request, which is read by the caller."""
        url = self.options.url + path + core.encode_query(query)
        headers = {**self.options.headers, "Accept": accept}
        timeout = httpx.Timeout(self._settings.arguments["timeout"], read=core.STREAM_SILENCE)
        http = self.http()
        try:
            with http.stream(method, url, headers=headers, timeout=timeout) as response:
                if response.status_code >= 300:
                    response.read()
                    error = core.failure(method, url, response)
                    if reason := core.suspect(error, None):
                        raise self.incompatible(error, reason) from error
                    raise error
                yield response
        except httpx.HTTPError as broken:
            raise core.unreachable(method, url, broken) from broken
        except RuntimeError as broken:  # closed meanwhile
            if self._closed or http.is_closed:
                raise Closed("the client is closed", method=method, url=url) from broken
            raise


class Pages(Generic[T]):
    """The entries of a list, read a page at a time as they are asked for."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        field: str,
        *,
        query: Mapping[str, Any],
        token: str | None,
    ) -> None:
        self._transport, self._path, self._field = transport, path, field
        self._query, self._token = query, token

    def __iter__(self) -> Iterator[T]:
        for page in self.by_page():
            yield from page.items

    def by_page(self) -> Iterator[Page[T]]:
        """The pages. A page of a list with a filter may have no entries."""
        token = self._token
        while True:
            query = {**self._query, "pageToken": token}
            answer = self._transport.call(
                "GET", self._path, query=query, repeatable=True, needs=self._field
            )
            page: Page[T] = _page(answer, self._field)
            yield page
            if (token := page.next_page_token) is None:
                return


# For how many seconds a loop keeps the connections of a client that was dropped.
_DROPPED = 0.05


def _drop(kept: list[Any]) -> None:
    kept.clear()  # with its last reference Python closes a generator, in a task of the loop


async def _waits(http: httpx.AsyncClient) -> AsyncIterator[None]:
    """Closes connections when it is closed."""
    try:
        yield
    finally:
        await http.aclose()


class _OfLoop:
    """The connections of the loop that runs. They are closed when it ends: asyncio.run closes
    generators that have begun, and this one then closes them. They are closed before, if the
    client is dropped."""

    def __init__(self, loop: Any, http: httpx.AsyncClient) -> None:
        self.http, self._loop, self._waits = http, loop, _waits(http)
        try:
            self._waits.__anext__().__await__().send(None)  # up to its yield: nothing is awaited
        except StopIteration:
            pass

    def __del__(self) -> None:
        # A generator that is dropped is closed by a task that the end of its loop does not wait
        # for. So the loop keeps it a while: if it ends meanwhile, it waits until all are closed.
        try:
            self._loop.call_soon_threadsafe(self._loop.call_later, _DROPPED, _drop, [self._waits])
        except (AttributeError, RuntimeError):  # the loop is closed, or __init__ has not ended
            pass


class AsyncTransport:
    """The connections of an AsyncClient. Each event loop has its own."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient | None) -> None:
        self.options = settings.options
        self._settings = settings
        self._given = http
        self._by_loop: dict[Any, _OfLoop] = {}
        self._pid = os.getpid()
        self._lock = threading.Lock()  # loops run in threads of their own
        self._closed = False

    def http(self) -> httpx.AsyncClient:
        """The connections of this process and of the loop that runs."""
        self._after_fork()
        import asyncio  # here, as loading it takes 30 ms

        loop = asyncio.get_running_loop()
        with self._lock:
            if self._closed:
                raise Closed("the client is closed", url=self.options.url)
            if self._given is not None:
                return self._given
            if loop not in self._by_loop:
                for other in [other for other in self._by_loop if other.is_closed()]:
                    del self._by_loop[other]  # its connections have ended with it
                http = httpx.AsyncClient(**self._settings.arguments)
                self._by_loop[loop] = _OfLoop(loop, http)
            return self._by_loop[loop].http

    def _after_fork(self) -> None:
        """Leaves the connections of the parent as they are, as Transport does."""
        if self._pid == os.getpid():
            return
        if self._given is not None and not self._closed:
            raise Closed(
                "httpx.AsyncClient was made before a fork: make one in the child",
                url=self.options.url,
            )
        self._lock, self._by_loop, self._pid = threading.Lock(), {}, os.getpid()

    async def close(self) -> None:
        import asyncio

        if self._pid != os.getpid():
            self._closed = True
            return
        with self._lock:
            self._closed = True
            all, self._by_loop = self._by_loop, {}
        mine = all.pop(asyncio.get_running_loop(), None)
        for loop, other in all.items():
            # Connections can only be closed in their own loop. Those of one that runs no more
            # end with it, and one that is busy is not waited for.
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(other.http.aclose(), loop)
        if mine is not None:
            await mine.http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        repeatable: bool = False,
        fresh: bool = False,
        gone: bool = False,
        text: bool = False,
        needs: str = "",
    ) -> Any:
        """Sends a request until it is answered, or must not be sent again.

        repeatable says that a second request has no further effect, and fresh that the id in
        the body was made for this call: if a later try finds it in use, an earlier one was
        carried out, and what it created is read. gone says that a later try which finds nothing
        follows one that deleted it. needs is a field that the answer must have.
        """
        url = self.options.url + path + core.encode_query(query)
        content = core.encode(body)
        headers = self.options.headers if content is None else self.options.body_headers
        tries, lost = 0, False
        while True:
            try:
                response = await self._send(method, url, content, headers)
                return response.text if text else core.decode(method, url, response, needs)
            except MemorydError as error:
                tries += 1
                if fresh and tries > 1 and isinstance(error, AlreadyExists):
                    return await self.call("GET", f"{path}/{body['id']}", repeatable=True)
                if reason := core.suspect(error, body):
                    raise await self.incompatible(error, reason) from error
                if gone and lost and isinstance(error, NotFound):
                    return None
                lost = lost or isinstance(error, Unavailable) or getattr(error, "sent", False)
                wait = core.pause(error, tries, repeatable)
                if wait is None or tries > self.options.retries:
                    raise
            await self.rest(wait)

    async def _send(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        http = self.http()
        try:
            response = await http.request(method, url, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise core.unreachable(method, url, error) from error
        except RuntimeError as error:
            if self._closed or http.is_closed:
                raise Closed("the client is closed", method=method, url=url) from error
            raise
        if response.status_code >= 300:
            raise core.failure(method, url, response)
        return response

    async def rest(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)

    async def incompatible(self, error: MemorydError, reason: str) -> Incompatible:
        version = ""
        url = self.options.url + "/openapi.json"
        try:
            version = core.version_in(await self._send("GET", url, None, self.options.headers))
        except MemorydError:
            pass
        return core.incompatible(error, reason, self.options.url, version)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: Mapping[str, Any] | None, accept: str
    ) -> AsyncIterator[httpx.Response]:
        """The answer to one request, which is read by the caller."""
        url = self.options.url + path + core.encode_query(query)
        headers = {**self.options.headers, "Accept": accept}
        timeout = httpx.Timeout(self._settings.arguments["timeout"], read=core.STREAM_SILENCE)
        http = self.http()
        try:
            async with http.stream(method, url, headers=headers, timeout=timeout) as response:
                if response.status_code >= 300:
                    await response.aread()
                    error = core.failure(method, url, response)
                    if reason := core.suspect(error, None):
                        raise await self.incompatible(error, reason) from error
                    raise error
                yield response
        except httpx.HTTPError as broken:
            raise core.unreachable(method, url, broken) from broken
        except RuntimeError as broken:  # closed meanwhile
            if self._closed or http.is_closed:
                raise Closed("the client is closed", method=method, url=url) from broken
            raise


class AsyncPages(Generic[T]):
    """The entries of a list, read a page at a time as they are asked for."""

    def __init__(
        self,
        transport: AsyncTransport,
        path: str,
        field: str,
        *,
        query: Mapping[str, Any],
        token: str | None,
    ) -> None:
        self._transport, self._path, self._field = transport, path, field
        self._query, self._token = query, token

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.by_page():
            for item in page.items:
                yield item

    async def by_page(self) -> AsyncIterator[Page[T]]:
        """The pages. A page of a list with a filter may have no entries."""
        token = self._token
        while True:
            query = {**self._query, "pageToken": token}
            answer = await self._transport.call(
                "GET", self._path, query=query, repeatable=True, needs=self._field
            )
            page: Page[T] = _page(answer, self._field)
            yield page
            if (token := page.next_page_token) is None:
                return
