// Store two events, then search.

import { memoryd, scope } from "./memoryd.ts";

const ann = scope("demo", "ann@example.com");

// You choose the ids. An event that is sent twice is stored once.
const told = await memoryd(`${ann}/memories/ingest?wait=true`, {
  sessionId: "s1",
  events: [
    {
      id: "e1",
      author: "user",
      timestamp: "2026-07-13T08:45:00Z",
      content: "I moved to Porto last week and I love the trams.",
    },
    {
      id: "e2",
      author: "assistant",
      timestamp: "2026-07-13T08:45:10Z",
      content: { role: "model", parts: [{ text: "How lovely!" }] },
    },
  ],
});
for (const { action, memory } of told.response.memories) console.log(action, memory.fact);

const found = await memoryd(`${ann}/memories/search`, { query: "Where does Ann live?", kinds: ["fact"], topK: 3 });
for (const { memory } of found.memories) console.log(memory.timestamp, memory.fact);

const block = await memoryd(`${ann}/memories/context`, { query: "Where does Ann live?", maxTokens: 300 });
console.log(block.text);
