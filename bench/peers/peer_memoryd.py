"""memoryd over HTTP: memoryd (its embedded file), memoryd-servers (Redis and Qdrant), both also with the embeddings
endpoint (-endpoint), and the sessions alone (-sessions)."""

import subprocess
import urllib.parse

from peer import DIMENSION, TOP, Client, Peer, Place, Program, qdrant

KILLED = "server"  # the process that stands for the peer


def stores(place: Place) -> list[Program]:
    if "servers" not in place.name:
        return []
    redis = ["redis-server", "--port", str(place.ports[3]), "--bind", "127.0.0.1", "--appendonly", "yes",
             "--dir", place.folder]
    return [Program(redis, place.ports[3]), qdrant(place)]


def server(place: Place) -> Program:
    command = [place.memoryd, "-listen", f"127.0.0.1:{place.ports[0]}", "-data", f"{place.folder}/data"]
    environment = {}
    if "servers" in place.name:
        command += ["-sessions", f"redis://127.0.0.1:{place.ports[3]}",
                    "-memories", f"qdrant://127.0.0.1:{place.ports[2]}"]
    if "endpoint" in place.name:
        command += ["-embedder", "openai:builtin", "-embedding-dimension", str(DIMENSION)]
        environment = {"OPENAI_BASE_URL": place.embeddings}
    return Program(command, place.ports[0], environment)


def connect(place: Place) -> Peer:
    return Sessions(place) if "sessions" in place.name else Memories(place)


class _HTTP:
    def __init__(self, place: Place) -> None:
        self._program = place.memoryd
        self._client = Client(f"http://127.0.0.1:{place.ports[0]}")

    def versions(self) -> str:
        out = subprocess.run([self._program, "version"], capture_output=True, text=True, check=True)
        return out.stdout.split("\n")[0]


class Memories(_HTTP):
    """Facts, added and searched."""

    def add(self, user: str, text: str) -> None:
        self._client.call("POST", f"/v1/apps/peers/users/{user}/memories", {"fact": text})

    def search(self, user: str, query: str) -> list[str]:
        body = {"query": query, "topK": TOP}
        answer = self._client.call("POST", f"/v1/apps/peers/users/{user}/memories/search", body)
        return [m["memory"]["fact"] for m in answer["memories"]]

    def texts(self, user: str) -> list[str]:
        out: list[str] = []
        token = ""
        while True:
            page = urllib.parse.urlencode({"pageSize": 1000, "pageToken": token})
            answer = self._client.call("GET", f"/v1/apps/peers/users/{user}/memories?{page}")
            out += [m["fact"] for m in answer["memories"]]
            if not (token := answer.get("nextPageToken", "")):
                return out


class Sessions(_HTTP):
    """A session for each user: events appended, and all read."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._made: set[str] = set()

    def add(self, user: str, text: str) -> None:
        path = f"/v1/apps/peers/users/{user}/sessions"
        if user not in self._made:
            self._client.call("POST", path, {"id": "s"})
            self._made.add(user)
        self._client.call("POST", f"{path}/s/events", {"author": "user", "content": text})

    def search(self, user: str, query: str) -> list[str]:
        return self.texts(user)

    def texts(self, user: str) -> list[str]:
        try:
            session = self._client.call("GET", f"/v1/apps/peers/users/{user}/sessions/s")
        except RuntimeError as err:
            if ": 404 " in str(err):
                return []
            raise
        return [e["content"]["parts"][0]["text"] for e in session["events"]]
