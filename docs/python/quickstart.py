"""Store two events, then search. Needs Python's standard library only."""

import json
import os
import urllib.error
import urllib.request
from urllib.parse import quote

MEMORYD = os.environ.get("MEMORYD_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("MEMORYD_KEY", "")  # where memoryd wants one


def memoryd(user, path, body):
    """One call in the scope of a user of the app "demo"."""
    url = f"{MEMORYD}/v1/apps/demo/users/{quote(user, safe='')}{path}"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=40) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:  # its body names the error
        raise RuntimeError(f"memoryd: {error.code}: {error.read().decode()}") from error


ann = "ann@example.com"

# You choose the ids. An event that is sent twice is stored once.
told = memoryd(ann, "/memories/ingest?wait=true", {
    "sessionId": "s1",
    "events": [
        {
            "id": "e1",
            "author": "user",
            "timestamp": 1783932300,
            "content": "I moved to Porto last week and I love the trams.",
        },
        {
            "id": "e2",
            "author": "assistant",
            "timestamp": 1783932310,
            "content": {"role": "model", "parts": [{"text": "How lovely!"}]},
        },
    ],
})
for change in told["response"]["memories"]:
    print(change["action"], change["memory"]["fact"])

found = memoryd(ann, "/memories/search", {"query": "Where does Ann live?", "kinds": ["fact"], "topK": 3})
for match in found["memories"]:
    print(match["memory"]["timestamp"], match["memory"]["fact"])

block = memoryd(ann, "/memories/context", {"query": "Where does Ann live?", "maxTokens": 300})
print(block["text"])
