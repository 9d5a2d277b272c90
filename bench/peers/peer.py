"""What the driver and the adapters of the peers share."""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

TOP = 10  # memories that a search asks for
DIMENSION = 256  # of the vectors of memoryd's built-in embedder


@dataclass
class Place:
    """Where a peer runs: its name in the table, a folder of its own, and the ports and programs it may use."""

    name: str
    folder: str
    environments: str  # the folder with the virtual environments
    embeddings: str  # base address of the embeddings endpoint, with /v1
    memoryd: str
    qdrant: str
    ports: list[int]  # four of its own


@dataclass
class Program:
    """A program that a peer needs, and the port on which it is ready."""

    command: list[str]
    port: int
    environment: dict[str, str] = field(default_factory=dict)


class Peer(Protocol):
    """An adapter, used by many threads at a time. A call that returns was acknowledged."""

    def versions(self) -> str: ...

    def add(self, user: str, text: str) -> None:
        """Adds one memory, or appends one event to the user's session."""
        ...

    def search(self, user: str, query: str) -> list[str]:
        """Returns the best TOP texts, or reads the user's session."""
        ...

    def texts(self, user: str) -> list[str]:
        """Returns all that is stored of the user."""
        ...


def free_ports(n: int) -> list[int]:
    """Finds ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def start(program: Program, folder: str) -> subprocess.Popen[bytes]:
    """Starts a program in a folder, with its output in a file there, and waits until its port answers."""
    log = Path(folder) / (Path(program.command[0]).name + ".log")
    with log.open("ab") as out:
        process = subprocess.Popen(
            program.command, cwd=folder, env=os.environ | program.environment, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", program.port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise RuntimeError(f"{program.command[0]} did not start: {log.read_text(errors='replace')[-2000:]}")


def qdrant(place: Place) -> Program:
    """A Qdrant in the peer's folder: REST on the second port, gRPC on the third."""
    environment = {
        "QDRANT__SERVICE__HOST": "127.0.0.1", "QDRANT__SERVICE__HTTP_PORT": str(place.ports[1]),
        "QDRANT__SERVICE__GRPC_PORT": str(place.ports[2]), "QDRANT__TELEMETRY_DISABLED": "true",
        "QDRANT__STORAGE__STORAGE_PATH": f"{place.folder}/qdrant"}
    return Program([place.qdrant], place.ports[2], environment)


class Client:
    """HTTP with JSON, one connection for each thread."""

    def __init__(self, base: str) -> None:
        address = urllib.parse.urlsplit(base)
        self._host, self._port = address.hostname or "", address.port or 80
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Sends one request, and raises unless its status is 2xx."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=60)
            self._local.connection = connection
        raw = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()  # the next call dials again
            raise
        if not 200 <= response.status < 300:
            raise RuntimeError(f"{method} {path}: {response.status} {answer[:300]!r}")
        return json.loads(answer) if answer else None
