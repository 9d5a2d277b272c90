"""Measures the package: the time that a call takes above a bare one of httpx, and the import.

    python python/overhead.py

It starts the memoryd of the PATH, or of MEMORYD_BINARY. Calls of both kinds take turns, so that
both meet the same machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import httpx

import memoryd

CALLS = 2000
IMPORTS = 10


def main() -> None:
    server = memoryd.embedded(":memory:")
    client, bare = server.client(), httpx.Client()
    ann = client.user("overhead", "ann")
    ann.add_memory("I am allergic to peanuts.", id="form-17")
    url = client.url + "/v1/apps/overhead/users/ann/memories/search"
    times: dict[str, list[float]] = {"httpx": [], "memoryd": []}
    for _ in range(CALLS):
        begun = time.perf_counter()
        found = bare.post(url, json={"query": "peanuts"}).json()["memories"]
        middle = time.perf_counter()
        same = ann.search("peanuts")
        ended = time.perf_counter()
        assert len(found) == len(same) == 1
        times["httpx"].append(1e3 * (middle - begun))
        times["memoryd"].append(1e3 * (ended - middle))
    server.close()
    p50 = {name: statistics.median(ms) for name, ms in times.items()}
    above = p50["memoryd"] - p50["httpx"]
    print(f"a search, p50 of {CALLS}: httpx {p50['httpx']:.3f} ms, memoryd {above:+.3f} ms")

    program = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    for name in ("httpx", "memoryd"):
        took = [
            1e3 * float(subprocess.check_output([sys.executable, "-c", program.format(name)]))
            for _ in range(IMPORTS)
        ]
        print(f"import {name}, p50 of {IMPORTS}: {statistics.median(took):.0f} ms")


if __name__ == "__main__":
    main()
