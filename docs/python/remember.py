"""Says what it knows of its argument, and remembers it."""

import sys

import memoryd

with memoryd.embedded("memories") as server, server.client() as client:
    me = client.user("demo", "me")
    for match in me.search(sys.argv[1], kinds=["fact"]):
        print("You told me:", match["memory"]["fact"])
    me.ingest("s1", [{"author": "user", "content": sys.argv[1]}], wait=True)
