"""Store two events, then search."""

import memoryd

client = memoryd.Client()  # of MEMORYD_URL with MEMORYD_KEY, or of http://127.0.0.1:8080
ann = client.user("demo", "ann@example.com")

# You choose the ids. An event that is sent twice is stored once.
told = ann.ingest(
    "s1",
    [
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
    wait=True,
)
if "response" in told:  # otherwise it takes longer, or has failed
    for change in told["response"]["memories"]:
        print(change["action"], change["memory"]["fact"])

for match in ann.search("Where does Ann live?", kinds=["fact"], top_k=3):
    print(match["memory"]["timestamp"], match["memory"]["fact"])

print(ann.context("Where does Ann live?", max_tokens=300)["text"])
