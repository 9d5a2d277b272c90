"""mem0, by its library in the client's process, with a Qdrant server. infer=False: nothing has a language model."""

import importlib.metadata
import os

from peer import DIMENSION, TOP, Peer, Place, Program, qdrant

KILLED = "worker"


def stores(place: Place) -> list[Program]:
    return [qdrant(place)]


def server(place: Place) -> None:
    return None


def connect(place: Place) -> Peer:
    return Mem0(place)


class Mem0:
    def __init__(self, place: Place) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": f"{place.folder}/mem0"}
        from mem0 import Memory  # reads the environment

        self._memory = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": {
                "host": "127.0.0.1", "port": place.ports[1], "collection_name": "peers",
                "embedding_model_dims": DIMENSION}},
            "embedder": {"provider": "openai", "config": {
                "model": "builtin", "api_key": "none", "openai_base_url": place.embeddings,
                "embedding_dims": DIMENSION}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},  # is made, never called
            "history_db_path": f"{place.folder}/history.db"})

    def versions(self) -> str:
        return f"mem0ai {importlib.metadata.version('mem0ai')}"

    def add(self, user: str, text: str) -> None:
        self._memory.add(text, user_id=user, infer=False)

    def search(self, user: str, query: str) -> list[str]:
        return [m["memory"] for m in self._memory.search(query, filters={"user_id": user}, top_k=TOP)["results"]]

    def texts(self, user: str) -> list[str]:
        return [m["memory"] for m in self._memory.get_all(filters={"user_id": user}, top_k=1_000_000)["results"]]
