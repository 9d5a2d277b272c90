// Says what it knows of its argument, and remembers it.

import { embedded } from "@memoryd/client/embedded";

const said = process.argv[2]!;
const server = await embedded("memories");
const me = server.client().user("demo", "me");
for (const { memory } of await me.search(said, { kinds: ["fact"] })) console.log("You told me:", memory.fact);
await me.ingest("s1", [{ author: "user", content: said }], { wait: true });
await server.close();
