// One memory: the words it rests on, its line through time, its revisions, and the
// changes that a person may make.

import { APIError, call, get, pages, post, scopePath } from "./api.js";
import { action, announce, confirm, count, field, h, link, paged, said, time, toast, topicName } from "./dom.js";
import { eraseOne } from "./erase.js";

const memoryPath = (scope, id) => `${scopePath(scope)}/memories/${encodeURIComponent(id)}`;

// revisionPages reads the revisions of a memory by the page, newest first.
export function revisionPages(scope, id, signal, pageSize = 50, filter = "") {
  return pages(`${memoryPath(scope, id)}/revisions`, "revisions", { pageSize, filter }, signal);
}

const maxLine = 20; // memories of a line through time that are read

// predecessors are the memories whose place one took, latest first.
async function predecessors(scope, id, signal) {
  const page = await get(`${scopePath(scope)}/memories`, {
    kind: "fact", history: true, filter: `superseded_by = "${id.replace(/["\\]/g, "\\$&")}"`, pageSize: maxLine,
  }, signal);
  return page.memories;
}

// line is the memory with what came before it and after it, oldest first.
async function line(scope, m, signal) {
  const out = [m];
  for (let next = m; next.supersededBy && out.length < maxLine;) {
    try {
      next = await get(memoryPath(scope, next.supersededBy), {}, signal);
    } catch (error) {
      if (error instanceof APIError && error.code === 404) break; // erased since
      throw error;
    }
    out.push(next);
  }
  for (let first = [m]; first.length > 0 && out.length < maxLine;) {
    const before = (await Promise.all(first.map((f) => predecessors(scope, f.id, signal)))).flat();
    out.unshift(...before);
    first = before;
  }
  return out;
}

// undo rolls a memory back to a revision, and shows it again.
async function undo(scope, id, revision, { changed, again }) {
  const m = await post(`${memoryPath(scope, id)}/rollback`, { revision });
  changed(id, m);
  toast("Undone.");
  await again();
}

// edit asks for other words.
function edit(scope, m, on) {
  const input = h("textarea", { name: "fact", rows: 4, required: true, dir: "auto", autofocus: true, value: m.fact });
  return confirm({
    title: "Correct this memory", verb: "Save",
    content: [field("It shall say", input),
      h("p", { class: "quiet" }, "Searches find the new words from then on. The old ones stay as revision ",
        String(m.revision), ", and the words that were said stay in the session.")],
    run: async () => {
      const next = await call("PATCH", memoryPath(scope, m.id), { body: { fact: input.value } });
      on.changed(m.id, next);
      await on.again();
      toast(`Corrected: this is revision ${next.revision}.`, () => undo(scope, m.id, next.revision - 1, on));
    },
  });
}

// remove asks, and deletes.
function remove(scope, m, on) {
  return confirm({
    title: "Delete this memory?", verb: "Delete", danger: true,
    content: [h("blockquote", {}, said(m.fact, "clamp")),
      h("p", {}, "No search and no list has it any longer. Its revisions stay, and it can be brought back.")],
    run: async () => {
      await call("DELETE", memoryPath(scope, m.id));
      on.changed(m.id, null);
      // Somebody else may have changed it since it was read here: the undo brings back
      // what the deletion has taken.
      const [deletion] = (await revisionPages(scope, m.id, on.signal, 1)("")).items;
      await on.again();
      toast("Deleted.", deletion?.action === "DELETED" && (() => undo(scope, m.id, deletion.revision - 1, on)));
    },
  });
}

// erase erases a memory with what shares its turns.
async function erase(scope, m, on) {
  const done = await eraseOne(memoryPath(scope, m.id), {
    title: "Erase this memory for good?", signal: on.signal,
    about: "It goes with the turns that it rests on, their words, and all other memories that rest on these turns.",
  });
  if (!done) return;
  await on.relist(); // others may have gone with it
  await on.again();
}

// rollBack asks, and makes an earlier revision the current one.
function rollBack(scope, id, current, revision, on) {
  return confirm({
    title: `Roll back to revision ${revision.revision}?`, verb: "Roll back",
    content: [current && [h("p", { class: "quiet" }, "It says now"), h("blockquote", { class: "before" }, said(current.fact, "clamp"))],
      h("p", { class: "quiet" }, "It will say"), h("blockquote", { class: "after" }, said(revision.fact, "clamp")),
      h("p", {}, "That makes one more revision. Its topics, times and metadata become those of the earlier one as well.")],
    run: async () => {
      const m = await post(`${memoryPath(scope, id)}/rollback`, { revision: revision.revision });
      on.changed(id, m);
      await on.again();
      toast(`Rolled back: this is revision ${m.revision}.`, current && (() => undo(scope, id, m.revision - 1, on)));
    },
  });
}

// review approves or rejects a quarantined memory.
async function review(scope, m, decision, on) {
  const next = await post(`${memoryPath(scope, m.id)}/review`, { decision });
  on.changed(m.id, next);
  await on.again();
  toast(decision === "approve" ? "Approved: searches find it, and its facts are made." : "Rejected: it stays hidden.");
}

// fact is a row of the table of what is known about the memory.
function fact(name, value) {
  return value == null || value === "" ? null : [h("dt", {}, name), h("dd", {}, value)];
}

// properties is the table of what is known about a memory.
function properties(m) {
  return h("dl", { class: "properties" },
    fact("Said by", m.author && said(m.author)),
    fact("Said", time(m.timestamp)),
    fact("Holds", (m.validFrom || m.validTo) && [m.validFrom ? ["from ", time(m.validFrom, { day: true })] : "", " ",
      m.validTo ? ["until ", time(m.validTo, { day: true })] : "on"]),
    fact("Said again", m.evidence && `${m.evidence} times in all`),
    fact("Trust", m.trust),
    fact("Expires", m.expireTime && time(m.expireTime)),
    fact("Stored", time(m.createTime)),
    fact("Name", m.displayName && said(m.displayName)),
    fact("Description", m.description && said(m.description)),
    fact("Profile", m.schemaId && said(`${m.schemaId}, ${m.field}`)),
    Object.entries(m.metadata ?? {}).map(([name, value]) => fact(said(name), said(JSON.stringify(value)))),
    fact("Id", h("code", {}, said(m.id))));
}

// source is the words that a memory rests on, with the way to their turn.
function source(scope, m) {
  const { sessionId, eventIds = [], quote } = m.source;
  if (!sessionId) return h("p", { class: "quiet" }, "A client stated it. No conversation stands behind it.");
  return [quote && h("blockquote", {}, said(quote)),
    h("p", {}, link([scope.app, "users", scope.user, "sessions", sessionId],
      ["The turn in session ", said(sessionId)], { query: { event: eventIds[0], at: m.timestamp } }))];
}

// through is the line through time: each memory with when it held.
function through(scope, all, m) {
  return h("ol", { class: "through" }, all.map((one) => h("li", { class: one.id === m.id ? "here" : "" },
    h("span", { class: "when" }, one.validFrom ? time(one.validFrom, { day: true }) : time(one.timestamp, { day: true }),
      " – ", one.validTo ? time(one.validTo, { day: true }) : "now"),
    one.id === m.id ? said(one.fact, "clamp")
      : link([scope.app, "users", scope.user, "memories", one.id], said(one.fact, "clamp"),
        { query: Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) }))));
}

// verbs are the actions of revisions in words.
const verbs = { CREATED: "Created", UPDATED: "Changed", DELETED: "Deleted" };

// history is the section of the revisions, newest first. first is the page that was read.
async function history(scope, id, m, first, on) {
  const list = h("ol", { class: "revisions" });
  const section = h("section", {}, h("h3", {}, "Revisions"), list);
  const next = revisionPages(scope, id, on.signal);
  let current = m !== null; // until the row of the current revision
  await paged(list, {
    signal: on.signal, read: (token) => token ? next(token) : first, empty: "None is left.",
    row: (r) => {
      const other = !current;
      current = false;
      return h("li", {},
        h("div", { class: "meta" }, h("strong", {}, `${r.revision}. ${verbs[r.action] ?? r.action}`), time(r.createTime), "by ", said(r.actor),
          r.operation && link([scope.app, "users", scope.user, "operations", r.operation], "operation")),
        said(r.fact, r.action === "DELETED" ? "clamp gone" : "clamp"),
        other && r.action !== "DELETED" &&
          h("div", {}, action("Roll back to this", () => rollBack(scope, id, m, r, on), { kind: "small" })));
    },
  });
  return section;
}

// detail shows a memory. on.changed is told of changes, on.again shows it once more, and
// on.relist the list.
export async function detail(scope, id, on) {
  const { signal } = on;
  const revisionsOf = revisionPages(scope, id, signal)("").catch((error) => {
    if (error instanceof APIError && error.code === 404) return { items: [] };
    throw error;
  });
  revisionsOf.catch(() => {}); // the caller gets it below, unless the error of the memory itself comes first
  let m;
  try {
    m = await get(memoryPath(scope, id), {}, signal);
  } catch (error) {
    if (!(error instanceof APIError) || error.code !== 404) throw error;
    return gone(scope, id, await revisionsOf, on);
  }
  const [revisions, all] = await Promise.all([revisionsOf, m.kind === "fact" ? line(scope, m, signal) : [m]]);
  announce(`Memory: ${m.fact.slice(0, 200)}`);
  return h("article", {},
    h("div", { class: "meta" }, h("span", { class: "tag" }, m.kind),
      m.topics.map((t) => h("span", { class: "tag" }, said(topicName(t)))),
      m.state && h("span", { class: "tag warn" }, m.state)),
    h("h2", { class: "fact" }, said(m.fact)),
    m.state && h("div", { class: "notice-line" }, h("p", {}, "Held back: ", said(m.reason ?? ""), "."),
      m.state === "quarantined" && h("div", { class: "row" },
        action("Approve", () => review(scope, m, "approve", on)), action("Reject", () => review(scope, m, "reject", on)))),
    h("div", { class: "row actions" },
      m.kind === "fact" && action("Edit", () => edit(scope, m, on)),
      action("Delete", () => remove(scope, m, on)),
      action("Erase", () => erase(scope, m, on), { kind: "danger quiet-danger" })),
    h("section", {}, h("h3", {}, "Rests on"), source(scope, m)),
    all.length > 1 && h("section", {}, h("h3", {}, "Through time"), through(scope, all, m)),
    h("section", {}, h("h3", {}, "Known about it"), properties(m)),
    await history(scope, id, m, revisions, on));
}

// gone shows a memory that no longer is, with its revisions if it was deleted.
async function gone(scope, id, revisions, on) {
  if (revisions.items.length === 0) {
    return h("article", {}, h("h2", {}, "There is no such memory"),
      h("p", {}, "It was erased, has expired with its history, or never was."));
  }
  return h("article", {}, h("h2", {}, revisions.items[0].action === "DELETED" ? "This memory was deleted" : "This memory has expired"),
    h("p", {}, "Its revisions are still here, and one of them can become a memory again."),
    await history(scope, id, null, revisions, on));
}
