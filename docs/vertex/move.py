"""Copies the sessions and the memories of an engine to another engine.

Each engine is Google's or memoryd's: those whose location is "memoryd" are reached with
the service account of --account, all others with Google's default credentials. A run that
was cut off can be repeated: it adds what is missing.

    python docs/vertex/move.py projects/P/locations/us-central1/reasoningEngines/1 \
        projects/p/locations/memoryd/reasoningEngines/1 --account DIR/credentials.json
"""

import argparse
import collections
import hashlib
import json
import re

import agentplatform
from google.genai import errors
from google.oauth2 import service_account

SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def connect(engine, account):
    _, project, _, location, *_ = engine.split("/")
    credentials = None
    if location == "memoryd" and account:
        credentials = service_account.Credentials.from_service_account_file(account, scopes=[SCOPE])
    return agentplatform.Client(project=project, location=location, credentials=credentials)


def last(name):
    return name.rsplit("/", 1)[-1]


def id_there(name, engine, prefix):
    """The id of the copy: the same one where the target takes it, and else one that follows from it.

    Google's service takes lower case, a letter first. memoryd does not take UUIDs of version 5, which it
    makes itself for what it has extracted.
    """
    same = last(name)
    form = r".*" if engine.split("/")[3] == "memoryd" else r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
    if re.fullmatch(form, same) and not re.match(r"[0-9a-f]{8}-[0-9a-f]{4}-5", same):
        return same
    if not re.fullmatch(r"[a-z0-9-]{1,60}", same):
        same = hashlib.sha256(same.encode()).hexdigest()[:32]
    return f"{prefix}-{same}"


def fields(of, *names):
    """The fields of an object that are set, as the configuration of a call has them."""
    return {n: v for n, v in of.model_dump(include=set(names)).items() if v is not None}


def made(create, **call):
    """Makes something unless it is there already, and tells whether it did."""
    try:
        create(**call)
    except errors.ClientError as e:
        if e.code == 409 or "already exists" in str(e):
            return False
        raise
    return True


def identity(event):
    return (event.timestamp, event.author, event.invocation_id,
            json.dumps(event.model_dump(mode="json", include={"content"}), sort_keys=True))


def copy_session(source, target, session, engine, counts):
    name = f"{engine}/sessions/{id_there(session.name, engine, 's')}"
    session = source.sessions.get(name=session.name)
    config = fields(session, "display_name", "session_state", "labels", "expire_time")
    counts["sessions"] += made(target.sessions.create, name=engine, user_id=session.user_id,
                               config=config | {"session_id": last(name)})
    there = collections.Counter(map(identity, target.sessions.events.list(name=name)))
    for event in source.sessions.events.list(name=session.name):
        if there[identity(event)] > 0:
            there[identity(event)] -= 1
            continue
        target.sessions.events.append(
            name=name, author=event.author, invocation_id=event.invocation_id, timestamp=event.timestamp,
            config=fields(event, "content", "actions", "error_code", "error_message", "event_metadata", "raw_event"))
        counts["events"] += 1
    if session.session_state:  # an update may have changed it after the last event
        target.sessions.update(name=name, config={"session_state": session.session_state})


def copy_memory(target, memory, engine, counts):
    if memory.structured_content:
        counts["values of profiles, which stay behind"] += 1
        return
    if not memory.fact:
        counts["memories without a fact, which stay behind"] += 1
        return
    config = fields(memory, "display_name", "description", "expire_time", "topics", "metadata")
    done = made(target.memory_banks.memories.create, name=engine, fact=memory.fact, scope=memory.scope,
                config=config | {"memory_id": id_there(memory.name, engine, "m")})
    counts["memories"] += done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--account", help="credentials.json of memoryd vertex init")
    args = parser.parse_args()
    source, target = connect(args.source, args.account), connect(args.target, args.account)
    counts = collections.Counter()
    for session in source.sessions.list(name=args.source):
        copy_session(source, target, session, args.target, counts)
    for memory in source.memory_banks.memories.list(name=args.source):
        copy_memory(target, memory, args.target, counts)
    did = [f"{n} {what}" for what, n in sorted(counts.items()) if n]
    print("copied " + ", ".join(did) if did else "nothing was missing")


if __name__ == "__main__":
    main()
