"""Measures memory services beside each other: the same texts, the same embedder, the same clients.

    python bench/peers/run.py --peers memoryd,mem0 --memories 1000 --users 10 --environments DIR --memoryd ./memoryd

docs/performance.md tells how DIR is made and how the table is to be read."""

import argparse
import dataclasses
import importlib
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import peer
import text

HERE = Path(__file__).resolve().parent
ALL = ["memoryd", "memoryd-endpoint", "memoryd-servers", "memoryd-servers-endpoint", "mem0", "ams", "hindsight", "adk",
       "memoryd-sessions", "memoryd-servers-sessions", "adk-sessions"]
CLIENTS, FILLERS, ROUNDS = 16, 10, 3
SESSION = 100  # events of a session: more than most conversations have


class Run:
    """A peer that runs: its stores, its server if it has one, and the worker with its clients."""

    def __init__(self, place: peer.Place) -> None:
        self.place = place
        self.module: ModuleType = importlib.import_module("peer_" + place.name.split("-")[0])
        self.stores: list[subprocess.Popen[bytes]] = []
        self.server: subprocess.Popen[bytes] | None = None
        self.worker: subprocess.Popen[str] | None = None
        self.alone: list[float] = []  # seconds of searches by one client
        self.beside: list[float] = []  # the same of CLIENTS at a time
        self.many = [0, 0.0]  # searches by CLIENTS clients, and their seconds
        self.row: dict[str, Any] = {}

    @property
    def sessions(self) -> bool:
        return self.place.name.endswith("sessions")

    def start(self) -> None:
        for program in [] if self.stores else self.module.stores(self.place):
            self.stores.append(peer.start(program, self.place.folder))
        program = None if self.server else self.module.server(self.place)
        if program:
            self.server = peer.start(program, self.place.folder)
        python = Path(self.place.environments) / self.place.name.split("-")[0] / "bin" / "python"
        log = (Path(self.place.folder) / "worker.log").open("ab")
        self.worker = subprocess.Popen(
            [str(python) if python.exists() else sys.executable, HERE / "worker.py",
             json.dumps(dataclasses.asdict(self.place))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)

    def send(self, call: str, **arguments: Any) -> None:
        assert self.worker and self.worker.stdin
        self.worker.stdin.write(json.dumps({"call": call} | arguments) + "\n")
        self.worker.stdin.flush()

    def receive(self) -> Any:
        assert self.worker and self.worker.stdout
        line = self.worker.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.place.name}: the worker ended: see {self.place.folder}/worker.log")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.place.name}: {answer['error']}")
        return answer["answer"]

    def ask(self, call: str, **arguments: Any) -> Any:
        self.send(call, **arguments)
        return self.receive()

    def kill(self) -> None:
        """Ends the process that stands for the peer, and the worker, as kill -9 does; the stores go on."""
        for process in (self.server if self.module.KILLED == "server" else None, self.worker):
            if process:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.worker = None
        if self.module.KILLED == "server":
            self.server = None

    def stop(self) -> None:
        for process in (self.worker, self.server):
            if process:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for process in self.stores:  # a PostgreSQL that is killed leaves shared memory behind
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def names(n: int, prefix: str) -> list[str]:
    return [f"{prefix}{chr(ord('a') + i // 26)}{chr(ord('a') + i % 26)}" for i in range(n)]


def measure(runs: list[Run], users: int, memories: int, limit: float, seconds: float) -> None:
    """Fills all peers one after the other, and then searches them in turns, so that what else the machine does
    falls on all of them."""
    for run in runs:
        each = min(memories, SESSION) if run.sessions else memories
        try:
            run.start()
            run.row["version"] = run.ask("versions")
            done = run.ask("fill", users=names(users, "u"), memories=each, clients=FILLERS, limit=limit,
                           acknowledged=f"{run.place.folder}/measured")
        except (OSError, RuntimeError) as err:  # the others are measured all the same
            run.row["failed"] = str(err)
            continue
        run.row |= {"added": done["count"], "add/s": done["count"] / done["seconds"], "errors": done["errors"]}
        say(f"{run.place.name}: {done['count']} added in {done['seconds']:.1f} s {done['errors'][:1] or ''}")
    runs = [r for r in runs if "failed" not in r.row]
    for turn, run in itertools.product(range(ROUNDS + 1), runs):
        for clients in (1, CLIENTS):
            done = run.ask("search", users=names(users, "u"), clients=clients, seconds=seconds / ROUNDS,
                           seed=f"{turn}")
            if turn == 0:
                continue  # warms up
            run.row["errors"] += done["errors"]
            if clients == 1:
                run.alone += done["times"]
            else:
                run.many = [run.many[0] + len(done["times"]), run.many[1] + done["seconds"]]
                run.beside += done["times"]
    for run in runs:
        say(f"{run.place.name}: {len(run.alone)} searches by one client, {run.many[0]} by {CLIENTS}")


def check(run: Run) -> None:
    """Looks at what the peer keeps: killed in the middle of additions, the same added twice, another's texts."""
    twice = "the same sentence about a green zebra"
    for _ in range(2):
        run.ask("add", user="twice", text=twice)
    seen = len(run.ask("texts", user="twice"))
    found = run.ask("ask", user="other", query=twice)
    run.row["twice"] = f"kept {seen}"
    run.row["other"] = f"{len(found)} texts" if not run.sessions else "none" if not found else f"{len(found)} events"
    users, acknowledged = names(FILLERS, "k"), Path(run.place.folder) / "killed"
    run.send("fill", users=users, memories=100_000, clients=FILLERS, limit=30, acknowledged=str(acknowledged))
    while not acknowledged.exists() or acknowledged.stat().st_size < 500:  # about a hundred
        time.sleep(0.01)
    time.sleep(1)
    run.kill()
    run.start()
    lost = doubled = total = 0
    wanted = Counter(tuple(line.split()) for line in acknowledged.read_text().splitlines())
    for user in users:
        kept = Counter(run.ask("texts", user=user))
        mine = [text.memory(user, int(n)) for u, n in wanted if u == user]
        total += len(mine)
        lost += sum(not kept[t] for t in mine)
        doubled += sum(n > 1 for n in kept.values())
    run.row["killed"] = f"{lost} of {total} missing, {doubled} twice"


def table(columns: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def report(runs: list[Run]) -> None:
    for kind, add in ((False, "memories"), (True, "events")):
        rows, faults = [], []
        for run in (r for r in runs if r.sessions == kind and "failed" not in r.row):
            cuts = statistics.quantiles(run.alone, n=100) if len(run.alone) > 1 else [float("nan")] * 99
            rows.append([run.place.name, f"{run.row['added']:,}", f"{run.row['add/s']:,.0f}",
                         *(f"{cuts[p - 1] * 1000:,.1f}" for p in (50, 95, 99)),
                         f"{run.many[0] / max(run.many[1], 1e-9):,.0f}",
                         f"{statistics.median(run.beside or [float('nan')]) * 1000:,.1f}"])
            faults.append([run.place.name, run.row["version"], run.row["killed"], run.row["twice"],
                           run.row["other"], "; ".join(run.row["errors"][:1]) or "none"])
        if rows:
            verb = "read of a session" if kind else "search"
            table(["peer", f"{add}", "added/s", f"{verb} p50 ms", "p95 ms", "p99 ms",
                         f"{CLIENTS} clients /s", "p50 ms"], rows)
            table(["peer", "version", "killed (-9) while it was added to", "the same twice",
                         "asked as another user", "errors"], faults)
    for run in runs:
        if "failed" in run.row:
            print(f"{run.place.name}: failed: {run.row['failed']}")


def say(message: str) -> None:
    print(time.strftime("%H:%M:%S"), message, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(ALL), help="names, in the order of the table (default: all)")
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--memories", type=int, default=1000, help="of each user")
    parser.add_argument("--seconds", type=float, default=3, help="of searches by one client, and again by many")
    parser.add_argument("--limit", type=float, default=90, help="seconds of additions to one peer")
    parser.add_argument("--environments", required=True, help="folder that setup.sh made")
    parser.add_argument("--memoryd", default="memoryd", help="program")
    parser.add_argument("--qdrant", default="qdrant", help="program")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="peers-"))
    environments = Path(options.environments).resolve()
    peers = options.peers.split(",")
    port, *ports = peer.free_ports(1 + 4 * len(peers))
    embedder = peer.start(peer.Program([str(environments / "embedserver"), str(port)], port), str(folder))
    runs: list[Run] = []
    try:
        for i, name in enumerate(peers):
            own = folder / name
            own.mkdir()
            runs.append(Run(peer.Place(
                name, str(own), str(environments), f"http://127.0.0.1:{port}/v1",
                *(str(Path(shutil.which(p) or p).resolve()) for p in (options.memoryd, options.qdrant)),
                ports[4 * i:4 * i + 4])))
        measure(runs, options.users, options.memories, options.limit, options.seconds)
        for run in runs:
            if "failed" in run.row:
                continue
            try:
                check(run)
                say(f"{run.place.name}: {run.row['killed']}")
            except (OSError, RuntimeError) as err:
                run.row["failed"] = str(err)
        report(runs)
    finally:
        for run in runs:
            run.stop()
        embedder.kill()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
