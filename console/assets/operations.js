// Operations: what ran, what it cost and what it changed, with retry and undo.

import { APIError, each, get, pages, path, post, scopePath } from "./api.js";
import { action, confirm, count, field, fill, h, href, link, paged, said, select, time, toast } from "./dom.js";
import limits from "./limits.js";
import { revisionPages } from "./memory.js";

// moods are the looks of states.
const moods = { FAILED: "bad", PENDING: "warn", RUNNING: "warn", SUCCEEDED: "" };

// state is the tag of an operation's state.
function state(op) {
  const text = op.metadata.state;
  return h("span", { class: `tag ${moods[text] ?? ""}` }, text.toLowerCase());
}

// purpose says in words what an operation is.
function purpose(op) {
  const m = op.metadata;
  if (m.rollbackOf) return ["Undoes an operation"];
  if (m.sessionId) return ["Session ", said(m.sessionId)];
  return ["Facts stated by a client"];
}

// cost is the use of a model.
function cost(usage) {
  return usage && `${count(usage.calls, "call")}, ${count(usage.inputTokens, "token")} in, ${count(usage.outputTokens, "token")} out`;
}

// duration is the time from the request to the end, or until now; null while it waits for
// a trigger, and of one that failed.
function duration(op) {
  const { createTime, endTime, state, waitsFor } = op.metadata;
  if (waitsFor || state === "FAILED") return null;
  const seconds = (new Date(endTime ?? Date.now()) - new Date(createTime)) / 1000;
  const text = seconds < 1 ? `${Math.max(0, Math.round(seconds * 1000))} ms` : seconds < 120 ? `${seconds.toFixed(1)} s`
    : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return endTime ? text : `${text} so far`;
}

// operations lists the operations of a user, or shows the one that the place names.
export default async function operations(place) {
  if (place.id) return operation(place);
  const { main, signal, app, user } = place;
  const list = h("ul", { class: "list" });
  fill(main, h("h1", { class: "unseen" }, "Operations of ", said(user)),
    h("p", { class: "quiet" }, "Each makes memories, or undoes what another has made. They can be read for seven days after they are done."),
    limits(scopePath(place), signal), list);
  await paged(list, {
    signal, empty: "No operation of the last seven days.",
    read: pages(`${scopePath({ app, user })}/operations`, "operations", {}, signal),
    row: (op) => h("li", {}, link([app, "users", user, "operations", op.id], [h("span", {}, purpose(op)),
      h("span", { class: "meta" }, state(op), time(op.metadata.createTime), duration(op), progress(op), cost(op.metadata.usage))], { class: "row-link" })),
  });
}

// states are those by which the operations of an app can be filtered, in words.
const states = [["", "any state"], ["PENDING", "pending"], ["RUNNING", "running"], ["FAILED", "failed"], ["SUCCEEDED", "succeeded"]];

// appOperations lists the operations of all users of an app, of one state or one user where
// the address says so. One that failed can be tried again there.
export async function appOperations({ main, signal, app, query, again }) {
  const list = h("ul", { class: "list" });
  const wanted = states.find(([s]) => s === (query.get("state") ?? ""))?.[0] ?? ""; // the control shows which it is
  const user = query.get("user") ?? "";
  const show = (form) => {
    const values = new FormData(form);
    location.hash = href([app, "operations"], { state: values.get("state"), user: values.get("user") });
  };
  fill(main, h("h1", { class: "unseen" }, "Operations of ", said(app)),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); show(event.target); } },
      field("State", select("state", states, wanted, { onchange: (event) => show(event.target.form) })),
      field("User", h("input", { name: "user", value: user, maxlength: 256, placeholder: "all users" })), h("button", {}, "Show")),
    h("p", { class: "quiet" }, "Those of all users, newest first. They can be read for seven days after they are done."), list);
  await paged(list, {
    signal, empty: "There is no such operation, or none of the last seven days.",
    read: pages(path`/v1/apps/${app}/operations`, "operations", { state: wanted, userId: user }, signal),
    row: (op) => {
      const owner = op.metadata.userId;
      return h("li", { class: "row spread" },
        h("div", {}, link([app, "users", owner, "operations", op.id], purpose(op)),
          h("div", { class: "meta" }, state(op), link([app, "users", owner], said(owner)), time(op.metadata.createTime), duration(op), progress(op),
            cost(op.metadata.usage)),
          op.metadata.lastError && h("p", { class: "problem" }, said(op.metadata.lastError, "clamp"))),
        op.metadata.state === "FAILED" && action("Retry", async () => {
          await post(path`/v1/operations/${op.id}/retry`);
          toast("It is tried again.");
          again();
        }));
    },
  });
}

// progress tells how far an operation is.
function progress(op) {
  const m = op.metadata;
  return m.eventsTotal > 0 && (op.done ? count(m.eventsTotal, "event") : `${m.eventsDone} of ${count(m.eventsTotal, "event")}`);
}

// before reads what a memory said before an operation changed it; null if that is gone.
async function before(scope, change, id, signal) {
  if (change.action === "DELETED") return change.memory.fact;
  if (change.action !== "UPDATED") return null;
  const revisions = (filter) => each(revisionPages(scope, change.memory.id, signal, 10, filter));
  let first = Infinity;
  try {
    for await (const r of revisions(`operation = "${id}"`)) first = r.revision;
    if (first === Infinity) return null;
    for await (const r of revisions(`revision < ${first}`)) return r.fact;
  } catch (error) {
    if (!(error instanceof APIError) || error.code !== 404) throw error;
  }
  return null;
}

// changeRow shows a change as before and after.
function changeRow(place, change, was) {
  const m = change.memory;
  return h("tr", {},
    h("td", {}, h("span", { class: "tag" }, change.action.toLowerCase()), change.reason && h("div", { class: "quiet" }, said(change.reason))),
    h("td", {}, was == null ? h("span", { class: "quiet" }, "–") : said(was, was === m.fact && change.action !== "DELETED" ? "clamp" : "clamp gone")),
    h("td", {}, change.action === "DELETED" ? h("span", { class: "quiet" }, "–")
      : link([place.app, "users", place.user, "memories", m.id], said(m.fact, "clamp")),
    m.validTo && h("div", { class: "meta" }, "holds until ", time(m.validTo, { day: true }))));
}

const changesTogether = 20; // that are looked up, and shown, at a time

// changes is the table of what an operation has changed.
async function changes(place, all, id) {
  if (all.length === 0) return h("p", { class: "quiet" }, "It changed no fact.");
  const list = h("tbody", {});
  const frame = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Changes" }, h("table", { class: "changes" },
    h("thead", {}, h("tr", {}, ["Change", "Before", "After"].map((t) => h("th", { scope: "col" }, t)))), list));
  const box = h("div", {}, frame);
  // The rows of a table cannot stand beside what ends a list, which goes below the table.
  const rows = { append: (...some) => list.append(...some), after: (end) => frame.after(end) };
  await paged(rows, {
    signal: place.signal,
    read: async (token) => {
      const from = Number(token);
      const some = all.slice(from, from + changesTogether);
      const was = await Promise.all(some.map((c) => before(place, c, id, place.signal)));
      const end = from + changesTogether;
      return { items: some.map((c, i) => [c, was[i]]), next: end < all.length ? String(end) : null };
    },
    row: ([c, was]) => changeRow(place, c, was),
  });
  return box;
}

// undo shows what an undo of an operation would change, and does it on consent.
async function undo(place, op) {
  const to = path`/v1/operations/${op.id}/rollback`;
  const preview = await post(to, { dryRun: true }, { signal: place.signal });
  await confirm({
    title: "Undo this operation?", verb: "Undo all of it", danger: true,
    content: [h("p", {}, count(preview.response.memories.length, "memory changes", "memories change"), ":"),
      await changes(place, preview.response.memories, op.id),
      h("p", { class: "quiet" }, "The undo is an operation of its own. Memories that have changed since are left alone.")],
    run: async () => {
      const undone = await post(to, {}, { query: { wait: true } });
      toast(undone.done ? "Undone." : "The undo is under way.");
      location.hash = href([place.app, "users", place.user, "operations", undone.id]);
    },
  });
}

// operation shows one operation, and follows it until it is done.
async function operation(place) {
  const { main, signal, app, user, id } = place;
  const op = await get(path`/v1/operations/${id}`, {}, signal);
  const m = op.metadata;
  const fact = (name, value) => value && [h("dt", {}, name), h("dd", {}, value)];
  fill(main, h("header", { class: "page-head" }, h("h1", {}, purpose(op)), h("p", { class: "meta" }, state(op), time(m.createTime))),
    h("div", { class: "row actions" },
      m.state === "FAILED" && action("Retry", async () => {
        await post(path`/v1/operations/${id}/retry`);
        place.again();
      }),
      m.waitsFor && action("Make its memories now", async () => {
        await post(path`/v1/operations/${id}/retry`);
        place.again();
      }),
      op.done && !m.rollbackOf && op.response?.memories.length > 0 && action("Undo all of it", () => undo(place, op)),
      m.sessionId && link([app, "users", user, "sessions", m.sessionId], "To the session")),
    (op.error || m.lastError) && h("p", { class: "problem" }, said(op.error?.message ?? m.lastError)),
    h("dl", { class: "properties card" },
      fact("Took", duration(op)), fact("Attempts", String(m.attempts)), fact("Events", `${m.eventsDone} of ${m.eventsTotal}`), fact("Model", cost(m.usage)),
      fact("Facts dropped", m.factsDropped && String(m.factsDropped)), fact("Due", m.dueTime && time(m.dueTime)),
      fact("Undoes", m.rollbackOf && link([app, "users", user, "operations", m.rollbackOf], "that operation")),
      fact("Id", h("code", {}, said(op.id)))),
    op.response && h("section", {}, h("h2", {}, "Changes"), await changes(place, op.response.memories, id)));
  if (!op.done) {
    const timer = setTimeout(() => place.again(), 2000);
    signal.addEventListener("abort", () => clearTimeout(timer));
  }
}
