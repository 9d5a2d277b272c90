"""Makes an engine, has a script copy it, and compares the copy."""

import contextlib
import datetime
import io
import runpy
import sys

import agentplatform

client = agentplatform.Client(project="p", location="memoryd")
ENGINE = "projects/p/locations/memoryd/reasoningEngines/"


def make():
    begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    for number, user in enumerate(("ann", "b/ö")):
        name = f"s-{number}"
        client.sessions.create(name=ENGINE + "1", user_id=user, config={
            "session_id": name, "session_state": {"k": 1, "user:color": "red", "app:x": [1, None]},
            "display_name": "a talk", "labels": {"a": "b"}, "ttl": "864000s"})
        for n in range(3):
            client.sessions.events.append(
                name=f"{ENGINE}1/sessions/{name}", author="user", invocation_id=f"i{n}", timestamp=begin,
                config={"content": {"role": "user", "parts": [{"text": "I have a jar."}]},
                        "actions": {"state_delta": {"n": n}}} | ({"raw_event": {"id": "e0"}} if n == 0 else {}))
        client.memory_banks.memories.create(
            name=ENGINE + "1", fact=f"{user} likes tea", scope={"user_id": user, "team": "x"},
            config={"topics": [{"managed_memory_topic": "USER_PREFERENCES"}], "metadata": {"n": {"double_value": 3.5}},
                    "ttl": "8640000s"})
    client.memory_banks.memories.generate(  # memoryd has made its id, and takes none of that form
        name=ENGINE + "1", scope={"user_id": "gen"}, direct_contents_source={
            "events": [{"content": {"role": "user", "parts": [{"text": "I am allergic to nuts."}]}}]})


def contents(engine):
    left_out = {"name", "create_time", "update_time"}
    sessions = [(s.name.rsplit("/", 1)[-1], s.model_dump(exclude=left_out),
                 [e.model_dump(exclude={"name"}) for e in client.sessions.events.list(name=s.name)])
                for s in client.sessions.list(name=ENGINE + engine)]
    memories = [(m.name.rsplit("/", 1)[-1].removeprefix("m-"), m.model_dump(exclude=left_out))
                for m in client.memory_banks.memories.list(name=ENGINE + engine)]
    return sorted(sessions, key=lambda s: s[0]), sorted(memories, key=lambda m: m[0])


def move(script, account):
    """What the script prints at last."""
    sys.argv = [script, ENGINE + "1", ENGINE + "2", "--account", account]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(script, run_name="__main__")
    return out.getvalue().strip()


def main(script, account):
    make()
    got = [move(script, account), contents("2"), move(script, account), contents("2")]
    was = contents("1")
    want = ["copied 6 events, 3 memories, 2 sessions", was, "nothing was missing", was]
    for g, w in zip(got, want):
        if g != w:
            print(f"want {w}\ngot  {g}")
    passed = sum(g == w for g, w in zip(got, want)) if was[0] and was[1] else 0
    print(f"{passed} passed, {len(want) - passed} failed")


main(*sys.argv[1:])
