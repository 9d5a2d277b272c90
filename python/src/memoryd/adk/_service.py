"""What the services have in common: the client, and how it is found."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TypeVar

from .._client import AsyncClient
from .._errors import InvalidArgument

_Self = TypeVar("_Self", bound="Service")

# ADK names a service by the scheme of a URI. HTTP is spoken behind either.
_SCHEMES = {"memoryd": "http", "memoryds": "https", "http": "http", "https": "https"}


def client_of(uri: str | None) -> AsyncClient:
    """A client of the memoryd of a URI, with the key of MEMORYD_KEY."""
    uri = uri or os.environ.get("MEMORYD_URL") or "memoryd://127.0.0.1:8080"
    scheme, found, rest = uri.partition("://")
    if "@" in uri:
        return AsyncClient(uri)  # which refuses it, without showing it
    if not found or scheme not in _SCHEMES:
        raise InvalidArgument(
            f"memoryd's URI {uri!r}: want one such as memoryd://127.0.0.1:8080, or memoryds:// "
            "for TLS"
        )
    return AsyncClient(f"{_SCHEMES[scheme]}://{rest}")


class Service:
    """A service of ADK that calls a memoryd.

    Event loops, of which Runner.run has one for each call, have connections of their own,
    which end with them.
    """

    def __init__(self, uri: str | None, client: AsyncClient | None) -> None:
        self._client = client_of(uri) if client is None else client
        self._owned = client is None

    async def close(self) -> None:
        """End the connections, unless the client is the caller's."""
        if self._owned:
            await self._client.close()

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
