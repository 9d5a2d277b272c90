"""embedded, with the memoryd of MEMORYD_BINARY or of the PATH."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memoryd

pytestmark = pytest.mark.skipif(
    not (os.environ.get("MEMORYD_BINARY") or shutil.which("memoryd")),
    reason="there is no memoryd to start",
)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or ") Z " not in stat.read_text()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads
def test_remembers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for expected in (0, 1):
        with memoryd.embedded(tmp_path) as server:
            with server.client() as client:
                ann = client.user("shop", "ann")
                assert len(list(ann.list_memories())) == expected
                ann.add_memory("I am allergic to peanuts.", id="form-17")
        assert not runs(server.pid)
        server.close()  # again
    failed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    child = os.fork()  # after it was closed
    if child == 0:
        os._exit(len(failed))
    assert os.waitpid(child, 0)[1] == 0


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its proxies nor its key are for a memoryd of this process."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("MEMORYD_KEY", "secret")
    with memoryd.embedded(":memory:") as server, server.client() as client:
        assert client.user("shop", "ann").search("anything") == []
        assert "Authorization" not in client._transport.options.headers
        asked = server.async_client()._transport.options.headers
        assert "Authorization" not in asked


def test_killed_parent(tmp_path: Path) -> None:
    """memoryd finishes what it has begun when its parent is killed, which read its log: a
    memoryd that was cut off leaves files behind that are to be recovered."""
    program = f"""
import os, signal, memoryd
server = memoryd.embedded({str(tmp_path)!r}, args=["-log-level=debug"])
print(server.pid, flush=True)
with server.client() as client:
    client.user("shop", "ann").ingest("s1", [{{"author": "user", "content": "I live in Porto."}}])
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=60, check=False, text=True
    )
    assert run.returncode == -signal.SIGKILL
    pid, until = int(run.stdout), time.monotonic() + 60
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(pid)
    assert not list(tmp_path.glob("*-wal")), "it did not close its files"
    with memoryd.embedded(tmp_path) as server, server.client() as client:
        assert len(client.user("shop", "ann").get_session("s1")["events"]) == 1


def test_refused(tmp_path: Path) -> None:
    with pytest.raises(memoryd.StartError, match="provided but not defined"):
        memoryd.embedded(tmp_path, args=["-no-such-flag"])
    with pytest.raises(memoryd.StartError, match="no program"):
        memoryd.embedded(binary=tmp_path / "memoryd")


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_orphan(end: str) -> None:
    """memoryd ends with the process that started it, also if a child of that is left."""
    program = f"""
import os, signal, time, memoryd
server = memoryd.embedded(":memory:")
print(server.pid, flush=True)
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
{end}
"""
    parent = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert parent.stdout is not None
    pid, child = int(parent.stdout.readline()), int(parent.stdout.readline())
    try:
        assert parent.wait(60) != 0
        until = time.monotonic() + 60
        while runs(pid) and time.monotonic() < until:
            time.sleep(0.02)
        assert not runs(pid)
        assert runs(child)
    finally:
        os.kill(child, signal.SIGKILL)
        parent.stdout.close()
