// Erasing: what would go is counted by memoryd, said, and confirmed with a word.

import { call, post } from "./api.js";
import { confirm, count, field, h, said, toast } from "./dom.js";

// amounts says the counts of an erasing by kind, without those of nothing.
function amounts(n) {
  return [[n.sessions, "session"], [n.events, "turn of a conversation", "turns of conversations"],
    [n.memories, "memory, deleted ones too", "memories, deleted ones too"], [n.revisions, "revision"]]
    .filter(([number]) => number > 0).map(([number, one, many]) => count(number, one, many));
}

// literally is a pattern that takes a word alone.
const literally = (word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

// dialog shows what a dry run has counted, asks for a word, and erases. It reports whether
// that is done.
function dialog({ title, about, word = "erase", counted, run }) {
  const all = amounts(counted);
  return confirm({
    title, verb: "Erase", danger: true,
    content: [h("p", {}, about, " ", h("strong", {}, "Nothing brings them back.")),
      all.length > 0 ? h("ul", { class: "goes" }, all.map((text) => h("li", {}, text)))
        : h("p", { class: "goes" }, "There is nothing left of it now."),
      field(["Type ", said(word), " to go on"],
        h("input", { name: "word", required: true, pattern: literally(word), autocomplete: "off" }))],
    run: async () => {
      const gone = await run();
      toast(`Erased: ${count(gone.memories, "memory", "memories")}, ${count(gone.revisions, "revision")}.`);
    },
  });
}

// eraseOne erases a memory or a session at its path.
export async function eraseOne(at, { title, about, signal }) {
  const counted = await post(`${at}/erase`, { dryRun: true }, { signal });
  return dialog({ title, about, counted, run: () => post(`${at}/erase`) });
}

// forget erases all at the path of a user or an app, whose name is to be typed.
async function forget(at, name, { title, about, signal }) {
  const counted = await call("DELETE", at, { query: { dryRun: true }, signal });
  return dialog({ title, about, counted, word: name, run: () => call("DELETE", at, { query: { confirm: name } }) });
}

// eraseUser forgets the user at a path.
export const eraseUser = (at, user, signal) => forget(at, user, {
  title: "Forget this user for good?", signal,
  about: "All that memoryd has of this user goes, with state, operations and keys of the user.",
});

// eraseApp forgets the app at a path.
export const eraseApp = (at, app, signal) => forget(at, app, {
  title: "Forget this app for good?", signal,
  about: "All that memoryd has of this app goes: every user, shared knowledge, state, operations, configuration and keys.",
});
