"""The clients of one peer, in the peer's virtual environment. It reads a Place as JSON from its argument, then one
request a line, and answers each with a line."""

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import text
from peer import Peer, Place


def together(clients: int, work: Callable[[int], None]) -> None:
    """Runs work(client) in as many threads as there are clients."""
    threads = [threading.Thread(target=work, args=(c,)) for c in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def fill(peer: Peer, users: list[str], memories: int, clients: int, limit: float, acknowledged: str) -> dict[str, Any]:
    """Adds memories of users, each user's by one client, for at most limit seconds. What was acknowledged is
    written down, one a line, before the next is sent. A client ends at the first error."""
    errors: list[str] = []
    counts = [0] * clients
    out = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    begin = time.monotonic()

    def work(client: int) -> None:
        try:
            for n in range(memories):
                for user in users[client::clients]:
                    if time.monotonic() - begin > limit:
                        return
                    peer.add(user, text.memory(user, n))
                    os.write(out, f"{user} {n}\n".encode())
                    counts[client] += 1
        except Exception as err:  # each peer has its own
            errors.append(repr(err)[:300])

    together(clients, work)
    os.close(out)
    return {"count": sum(counts), "seconds": time.monotonic() - begin, "errors": errors}


def search(peer: Peer, users: list[str], clients: int, seconds: float, seed: str) -> dict[str, Any]:
    """Searches, each client one after the other, and tells the times in seconds."""
    times: list[float] = []
    errors: list[str] = []
    begin = time.monotonic()

    def work(client: int) -> None:
        n = 0
        while (now := time.monotonic()) - begin < seconds:
            n += 1
            try:
                peer.search(users[(client * 7 + n) % len(users)], text.query(f"{seed} {client} {n}"))
                times.append(time.monotonic() - now)
            except Exception as err:  # each peer has its own
                errors.append(repr(err)[:300])
                return

    together(clients, work)
    return {"times": times, "seconds": time.monotonic() - begin, "errors": errors}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    place = Place(**json.loads(sys.argv[1]))
    peer: Peer = importlib.import_module("peer_" + place.name.split("-")[0]).connect(place)
    calls: dict[str, Callable[..., Any]] = {
        "versions": peer.versions, "add": peer.add, "ask": peer.search, "texts": peer.texts,
        "fill": lambda **a: fill(peer, **a), "search": lambda **a: search(peer, **a)}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": calls[request.pop("call")](**request)}
        except Exception as err:  # each peer has its own
            answer = {"error": repr(err)[:500]}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # some libraries leave threads that do not end


if __name__ == "__main__":
    main()
