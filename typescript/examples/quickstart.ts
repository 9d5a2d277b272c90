// Store two events, then search.

import { Client } from "@memoryd/client";

const client = new Client(); // of MEMORYD_URL with MEMORYD_KEY, or of http://127.0.0.1:8080
const ann = client.user("demo", "ann@example.com");

// You choose the ids. An event that is sent twice is stored once.
const events = [
  {
    id: "e1",
    author: "user",
    timestamp: new Date("2026-07-13T08:45:00Z"),
    content: "I moved to Porto last week and I love the trams.",
  },
  {
    id: "e2",
    author: "assistant",
    timestamp: new Date("2026-07-13T08:45:10Z"),
    content: { role: "model", parts: [{ text: "How lovely!" }] },
  },
];
const told = await ann.ingest("s1", events, { wait: true });
// Without a response it takes longer, or has failed.
for (const { action, memory } of told.response?.memories ?? []) console.log(action, memory.fact);

for (const { memory } of await ann.search("Where does Ann live?", { kinds: ["fact"], topK: 3 })) {
  console.log(memory.timestamp, memory.fact);
}

console.log((await ann.context("Where does Ann live?", { maxTokens: 300 })).text);
