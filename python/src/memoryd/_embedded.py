"""A memoryd that this process starts and ends."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING

from ._client import AsyncClient, Client
from ._errors import MemorydError

if TYPE_CHECKING:
    import subprocess

_SERVES = "memoryd serves "
# The lines of its log that an error shows.
_SHOWN = 5


class StartError(MemorydError):
    """memoryd did not start. The message has the end of its log."""


class Embedded:
    """A memoryd that embedded has started. It ends with close, and with this process."""

    def __init__(self, process: subprocess.Popen[str], log: deque[str]) -> None:
        self._process, self._log = process, log
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._readers: list[threading.Thread] = []
        self.url = ""

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    # Neither MEMORYD_KEY nor a proxy of the environment is for a memoryd of this process.

    def client(self, *, key: str = "", retries: int = 5) -> Client:
        """A client of this memoryd, without a key unless args have made it ask for one."""
        return Client(self.url, key=key, retries=retries, trust_env=False)

    def async_client(self, *, key: str = "", retries: int = 5) -> AsyncClient:
        """A client of this memoryd, for asyncio."""
        return AsyncClient(self.url, key=key, retries=retries, trust_env=False)

    def close(self, timeout: float = 30) -> None:
        """End it: it finishes what it has begun. After timeout seconds it is killed. In a
        forked child the call does nothing."""
        import subprocess

        if self._pid != os.getpid():
            return
        with self._lock:
            atexit.unregister(self.close)
            if self._process.stdin:
                self._process.stdin.close()
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            for reader in self._readers:  # they close its output at the end of it
                reader.join(timeout)

    def __enter__(self) -> Embedded:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


_started: weakref.WeakSet[Embedded] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Ends a forked child's share in the pipes. With the one into memoryd it would keep memoryd
    beyond its parent's end, and with those out of it memoryd would wait for a reader once they
    are full.

    Their file objects stay: a thread of the parent may have held the lock of one.
    """
    for server in _started:
        for pipe in (server._process.stdin, server._process.stdout, server._process.stderr):
            if pipe is not None and not pipe.closed:
                nothing = os.open(os.devnull, os.O_RDWR)
                os.dup2(nothing, pipe.fileno(), inheritable=False)
                os.close(nothing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _installed() -> str | None:
    """The memoryd that a platform wheel has installed with this package, if it was one."""
    from importlib import metadata  # here, as loading it takes 20 ms

    try:
        files = metadata.files("memoryd") or []
    except metadata.PackageNotFoundError:  # the package is on the path without an installation
        return None
    for file in files:
        if file.name in ("memoryd", "memoryd.exe") and file.parent.name in ("bin", "Scripts"):
            # pip install --target puts it beside the package, and records another place.
            beside = os.path.join(os.path.dirname(__file__), "..", "bin", file.name)
            return shutil.which(str(file.locate())) or shutil.which(os.path.abspath(beside))
    return None


def embedded(
    data: str | os.PathLike[str] | None = None,
    *,
    binary: str | os.PathLike[str] | None = None,
    args: Sequence[str] = (),
    timeout: float = 30,
) -> Embedded:
    """Start a memoryd on a free port of this machine, and wait until its stores answer.

    It ends with this process, also if that is killed: memoryd watches a pipe.

    Args:
        data: The directory of its data, which no other memoryd may use meanwhile, or
            ":memory:" to keep nothing. Without one it is memoryd's own default.
        binary: The program. Without one it is MEMORYD_BINARY, that of a platform wheel, or
            memoryd of the PATH.
        args: More flags of memoryd.
        timeout: How many seconds it may take to be ready.
    """
    import subprocess  # here, as few programs start one

    program = os.fspath(binary or os.environ.get("MEMORYD_BINARY") or _installed() or "memoryd")
    found = shutil.which(program)
    if found is None:
        raise StartError(
            f"there is no program {program}: name memoryd's binary with binary= or MEMORYD_BINARY, "
            "or put it on the PATH"
        )
    command = [found, "-listen=127.0.0.1:0", "-until-eof"]
    if data is not None:
        command.append(f"-data={os.fspath(data)}")
    process = subprocess.Popen(
        [*command, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # an interrupt of the terminal is this process's
    )
    server = Embedded(process, deque(maxlen=50))
    _started.add(server)
    atexit.register(server.close)
    try:
        _start(server, time.monotonic() + timeout)
    except BaseException:
        server.close(1)
        raise
    return server


def _start(server: Embedded, until: float) -> None:
    announced = threading.Event()

    def read(lines: IO[str], stdout: bool) -> None:
        with lines:
            for line in lines:
                if stdout and line.startswith(_SERVES):
                    server.url = line[len(_SERVES) :].strip()
                    announced.set()
                elif not stdout:
                    server._log.append(line)
        announced.set()  # it has ended

    process = server._process
    for lines, stdout in ((process.stdout, True), (process.stderr, False)):
        assert lines is not None
        reader = threading.Thread(target=read, args=(lines, stdout), daemon=True)
        server._readers.append(reader)
        reader.start()
    announced.wait(max(until - time.monotonic(), 0))
    while server.url and process.poll() is None and time.monotonic() < until:
        with Client(server.url, key="", retries=0, timeout=5, trust_env=False) as client:
            try:
                client.ready()
                return
            except MemorydError as error:
                server._log.append(f"{error}\n")
        time.sleep(0.05)
    if process.poll() is None and time.monotonic() < until:
        process.wait(5)  # its output has ended, and it is about to
    ended = process.poll()
    reason = "was not ready in time" if ended is None else f"ended with {ended}"
    time.sleep(0.05)  # for the reader of its log
    shown = "".join(list(server._log)[-_SHOWN:]).strip()
    raise StartError(f"memoryd {reason}: {shown}")
