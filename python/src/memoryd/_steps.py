"""Sequences of calls that are written once, for the sync client and for the async one.

A sequence is a generator: it yields a Call, and gets its answer or its error back. Modules for
frameworks use it, as most frameworks have each method twice.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ._client import AsyncClient, Client
from ._errors import InvalidArgument, MemorydError
from ._transport import AsyncPages, Pages

T = TypeVar("T")

# Frameworks start hundreds of calls at once, and memoryd refuses what would wait too long.
MOST_AT_ONCE = 16


@dataclass
class Call:
    """A call of an app, or of one of its users, by the name of the method.

    most and keep are for lists: the entries for which keep is true, so many at most.
    """

    method: str
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)
    user: str | None = None
    most: int | None = None
    keep: Callable[[Any], bool] = lambda entry: True


Steps = Generator[Call, Any, T]


class Caller:
    """The clients of an app. With none of them, both follow from MEMORYD_URL and MEMORYD_KEY."""

    def __init__(self, app: str, client: Client | None, async_client: AsyncClient | None) -> None:
        if client is None and async_client is None:
            client, async_client = Client(), AsyncClient()
        self.app = app
        self._client = client
        self._async = async_client
        self._at_once: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._at_once = weakref.WeakKeyDictionary()

    def run(self, steps: Steps[T]) -> T:
        """The result of a sequence, with the sync client."""
        if self._client is None:
            raise InvalidArgument("this is a call of a sync client: give one as client=")
        try:
            call = next(steps)
            while True:
                try:
                    answer = self._answer(self._client, call)
                except MemorydError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def arun(self, steps: Steps[T]) -> T:
        """The result of a sequence, with the async client."""
        if self._async is None:
            raise InvalidArgument("this is a call of an async client: give one as async_client=")
        room = self._at_once.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_AT_ONCE))
        try:
            call = next(steps)
            while True:
                try:
                    async with room:
                        answer = await self._aanswer(self._async, call)
                except MemorydError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def _answer(self, client: Client, call: Call) -> Any:
        of = client.app(self.app) if call.user is None else client.user(self.app, call.user)
        answer = getattr(of, call.method)(*call.args, **call.named)
        if not isinstance(answer, Pages):
            return answer
        found: list[Any] = []
        for entry in answer:
            if len(found) == call.most:
                break
            if call.keep(entry):
                found.append(entry)
        return found

    async def _aanswer(self, client: AsyncClient, call: Call) -> Any:
        of = client.app(self.app) if call.user is None else client.user(self.app, call.user)
        answer = getattr(of, call.method)(*call.args, **call.named)
        if not isinstance(answer, AsyncPages):
            return await answer
        found: list[Any] = []
        async for entry in answer:
            if len(found) == call.most:
                break
            if call.keep(entry):
                found.append(entry)
        return found
