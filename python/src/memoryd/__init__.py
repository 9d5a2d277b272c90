"""memoryd from Python: sessions, and the memories made of them.

    import memoryd

    ann = memoryd.Client("http://127.0.0.1:8080").user("shop", "ann")
    ann.ingest("s1", [{"author": "user", "content": "I moved to Porto."}], wait=True)
    for match in ann.search("Where does Ann live?"):
        print(match["memory"]["fact"])

A Client calls a memoryd, an AsyncClient does so for asyncio, and embedded starts one. Each
method is a call of the HTTP API and has its name in /openapi.json. Answers are its JSON; their
types are in memoryd.types.
"""

from ._async import AsyncApp, AsyncUser
from ._client import AsyncClient, Client
from ._embedded import Embedded, StartError, embedded
from ._errors import (
    Aborted,
    AlreadyExists,
    Closed,
    Gone,
    Incompatible,
    Internal,
    InvalidArgument,
    MemorydError,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    ProtocolError,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from ._sync import App, User
from ._times import parse_time
from ._transport import AsyncPages, Page, Pages
from ._version import __version__

__all__ = [
    "Aborted",
    "AlreadyExists",
    "App",
    "AsyncApp",
    "AsyncClient",
    "AsyncPages",
    "AsyncUser",
    "Client",
    "Closed",
    "Embedded",
    "Gone",
    "Incompatible",
    "Internal",
    "InvalidArgument",
    "MemorydError",
    "NotFound",
    "Page",
    "Pages",
    "PayloadTooLarge",
    "PermissionDenied",
    "ProtocolError",
    "ResourceExhausted",
    "StartError",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
    "User",
    "__version__",
    "embedded",
    "parse_time",
]
