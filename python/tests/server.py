"""A server that answers as a test says, on a thread."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# The number of a request and its path, to the status, headers and body of the answer.
# None closes the connection without an answer.
Answer = tuple[int, dict[str, str], Any] | None


class Served:
    """A server and the requests that it got."""

    def __init__(self, url: str, seen: list[tuple[str, str, Any]]) -> None:
        self.url, self.seen = url, seen


@contextmanager
def serve(answer: Callable[[int, str], Answer]) -> Iterator[Served]:
    seen: list[tuple[str, str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(size)
            seen.append((self.command, self.path, json.loads(raw) if raw else None))
            given = answer(len(seen), self.path)
            if given is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, headers, body = given
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = reply

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}", seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def error(code: int, status: str, message: str = "no") -> Any:
    return {"error": {"code": code, "status": status, "message": message}}
