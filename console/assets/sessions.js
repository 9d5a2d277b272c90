// The sessions of a user, and one of them as a conversation, with the memories that
// were made of each turn.

import { Away, each, get, pages, scopePath } from "./api.js";
import { action, announce, count, fill, h, href, link, paged, problem, said, time } from "./dom.js";
import { eraseOne } from "./erase.js";

// sessions lists the sessions of a user, the last changed first.
export async function sessions({ main, signal, app, user }) {
  const list = h("ul", { class: "list" });
  fill(main, h("h1", { class: "unseen" }, "Sessions of ", said(user)), list);
  await paged(list, {
    signal, empty: "This user has no session.",
    read: pages(`${scopePath({ app, user })}/sessions`, "sessions", { state: "false", orderBy: "updateTime desc" }, signal),
    row: (s) => h("li", {}, link([app, "users", user, "sessions", s.id], [said(s.displayName || s.id),
      h("span", { class: "meta" }, s.displayName && said(s.id), "changed ", time(s.lastUpdateTime),
        Object.entries(s.labels ?? {}).map(([k, v]) => h("span", { class: "tag" }, said(`${k}: ${v}`))))], { class: "row-link" })),
  });
}

const pageOf = 200; // events that a session shows at first, and that each page adds
const before = 20; // events that are shown before the one that the place names
const liveEvery = 3000; // milliseconds between looks for new events

// parts splits an event into what a person reads and what programs exchanged.
function parts(event) {
  const all = event.content?.parts ?? [];
  return { words: all.filter((p) => p.text && !p.thought), rest: all.filter((p) => !p.text || p.thought) };
}

// folded shows JSON behind a summary.
function folded(summary, value) {
  return h("details", { class: "folded" }, h("summary", {}, summary), h("pre", {}, said(JSON.stringify(value, null, 2))));
}

// restName says in a word what a part without text is.
function restName(part) {
  if (part.thought) return "Thought";
  const call = part.functionCall ?? part.toolCall;
  if (call) return ["Call of ", said(call.name ?? "a tool")];
  const answer = part.functionResponse ?? part.toolResponse;
  if (answer) return ["Answer of ", said(answer.name ?? "a tool")];
  return said(Object.keys(part)[0] ?? "Part");
}

// turn shows an event, with the memories made of it beside it.
function turn(event, user) {
  const { words, rest } = parts(event);
  const role = event.content?.role ?? event.author;
  const mine = words.length > 0 && (role === "user" || event.author === user);
  const delta = event.actions?.stateDelta;
  return h("li", { id: `event-${event.id}`, class: `turn ${mine ? "mine" : ""}`, tabindex: "-1" },
    h("div", { class: "spoken" },
      h("div", { class: "meta" }, h("strong", {}, said(event.author)), time(event.timestamp)),
      words.map((p) => h("p", {}, said(p.text))),
      rest.map((p) => folded(restName(p), p)),
      event.errorCode && h("p", { class: "problem" }, said(`${event.errorCode} ${event.errorMessage ?? ""}`)),
      delta && Object.keys(delta).length > 0 && folded(["State: ", said(Object.keys(delta).join(", "))], delta)),
    h("div", { class: "made", "aria-label": "Memories made of it" }));
}

// stateTable shows state by scope.
function stateTable(state) {
  const scopes = [["app:", "Of the app"], ["user:", "Of the user"], ["", "Of the session"]];
  const of = (prefix) => Object.entries(state).filter(([k]) => prefix ? k.startsWith(prefix) : !/^(app|user):/.test(k));
  return scopes.map(([prefix, name]) => {
    const entries = of(prefix);
    return entries.length === 0 ? null : h("section", {}, h("h3", {}, name), h("dl", { class: "properties" },
      entries.map(([k, v]) => [h("dt", {}, said(k.slice(prefix.length))), h("dd", {}, said(typeof v === "string" ? v : JSON.stringify(v)))])));
  });
}

// made reads the memories of some events of a session, by the event that they come from.
async function made(scope, id, events, signal) {
  const by = new Map();
  if (events.length === 0) return by;
  const times = events.map((e) => e.timestamp);
  const [first, last] = [times.reduce((a, b) => a < b ? a : b), times.reduce((a, b) => a > b ? a : b)];
  const read = pages(`${scopePath(scope)}/memories`, "memories", {
    kind: "fact", sessionId: id, history: true, pageSize: 500, filter: `timestamp >= "${first}" AND timestamp <= "${last}"`,
  }, signal);
  for await (const m of each(read)) {
    for (const event of m.source.eventIds ?? []) by.set(event, [...by.get(event) ?? [], m]);
  }
  return by;
}

// depth is about how many events a session has from a time on, and never fewer: it asks
// for one event at a time, ever further from the end, and halves what is in between.
async function depth(at, since, signal) {
  const nth = async (n) => (await get(at, { numRecentEvents: n, pageSize: 1, state: "false" }, signal)).events[0];
  const moment = new Date(since);
  let low = 0, high = pageOf - before, last = "";
  for (;;) {
    const e = await nth(high);
    if (!e || e.id === last || new Date(e.timestamp) < moment) break;
    [low, high, last] = [high, 2 * high, e.id];
  }
  while (high - low > before) {
    const middle = Math.floor((low + high) / 2);
    if (new Date((await nth(middle)).timestamp) < moment) high = middle;
    else low = middle;
  }
  return high;
}

// session shows a session, and its events as they arrive. It shows the last ones, or those
// around the event that the place names, and reads others by the page.
export async function session(place) {
  const { main, signal, app, user, id, query } = place;
  const scope = { app, user };
  const at = `${scopePath(scope)}/sessions/${encodeURIComponent(id)}`;
  const wanted = query.get("event");
  const page = (parameters) => get(at, { pageSize: pageOf, ...parameters }, signal);
  // The number of events from the first that is shown to the end of the session.
  let fromEnd = wanted && query.has("at") ? await depth(at, query.get("at"), signal) + before : pageOf;
  const s = await page({ numRecentEvents: fromEnd });
  let next = s.nextPageToken; // of the events behind those that are shown
  let events = s.events; // that are shown, in order
  // A page may end early, or have events of one time in another order.
  while (next && (!wanted ? events.length < pageOf : !events.some((e) => e.id === wanted) && events.length < 10 * pageOf)) {
    const more = await page({ numRecentEvents: fromEnd, pageToken: next, state: "false" });
    events = [...events, ...more.events];
    next = more.nextPageToken;
  }
  if (!next) fromEnd = events.length;

  const list = h("ol", { class: "conversation", "aria-label": "Conversation" });
  const state = h("aside", { class: "state", "aria-label": "State" });
  const silence = h("div", { role: "status" });
  const none = h("p", { class: "empty" }, "It has no events yet.");
  const earlier = action("Show earlier turns", async () => {
    const known = new Set(events.map((e) => e.id));
    const fresh = [];
    for (let token = ""; token != null && fresh.length < pageOf;) {
      const older = await page({ numRecentEvents: fromEnd + pageOf, pageToken: token, state: "false" });
      fresh.push(...older.events.filter((e) => !known.has(e.id)));
      token = older.events.some((e) => known.has(e.id)) ? null : older.nextPageToken ?? null;
    }
    fromEnd += fresh.length;
    await add(fresh);
    // A page may have fewer fresh turns than it takes, as new ones have come behind the others.
    const [first] = (await page({ pageSize: 1, state: "false" })).events;
    if (fresh.length === 0 || events.some((e) => e.id === first?.id)) earlier.remove();
  });
  const later = action("Show later turns", async () => {
    const more = await page({ numRecentEvents: fromEnd, pageToken: next, state: "false" });
    next = more.nextPageToken;
    await add(more.events);
    if (!next) later.remove();
  });
  const erase = action("Erase this session", async () => {
    const about = "The session goes with its state, its turns and all memories that were made of it.";
    if (await eraseOne(at, { title: "Erase this session for good?", about, signal })) location.hash = href([app, "users", user, "sessions"]);
  }, { kind: "quiet-danger small" });
  fill(main, h("header", { class: "page-head" }, h("h1", {}, said(s.displayName || s.id)),
    h("p", { class: "meta" }, "Stored ", time(s.createTime), " · last event ", time(s.lastUpdateTime),
      s.expireTime && [" · expires ", time(s.expireTime)], " · ", link([app, "users", user], "Its memories", { query: { session: id } })), erase),
  silence, h("div", { class: "session" }, h("div", {}, events.length >= pageOf && earlier, list, next && later), state));
  if (events.length === 0) list.after(none);
  const shownAtFirst = events;
  events = [];
  let stateText = "";
  showState(s.state);
  await add(shownAtFirst);

  function showState(values) {
    const text = JSON.stringify(values ?? {});
    if (text === stateText) return;
    stateText = text;
    fill(state, h("h2", {}, "State"), text !== "{}" ? stateTable(values) : h("p", { class: "quiet" }, "None."));
  }

  // add puts events where they belong among those that are shown, with their memories.
  async function add(fresh) {
    none.remove();
    for (const e of fresh) {
      const is = new Date(e.timestamp);
      let i = events.length;
      while (i > 0 && new Date(events[i - 1].timestamp) > is) i--;
      list.insertBefore(turn(e, user), list.children[i] ?? null);
      events.splice(i, 0, e);
    }
    await marginalia(fresh);
  }

  // marginalia writes the memories of turns beside them.
  async function marginalia(some) {
    const by = await made(scope, id, some, signal);
    for (const e of some) {
      const own = by.get(e.id) ?? [];
      fill(document.getElementById(`event-${e.id}`).querySelector(".made"), own.map((m) =>
        link([app, "users", user, "memories", m.id], [said(m.fact, "clamp"),
          m.validTo && h("span", { class: "tag" }, "held until ", time(m.validTo, { day: true }))], { class: `made-link${m.validTo ? " over" : ""}` })));
    }
  }

  const target = wanted && document.getElementById(`event-${wanted}`);
  if (target) {
    target.classList.add("sought");
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  } else if (wanted) {
    fill(silence, h("p", { class: "notice-line" }, "The turn that the link names is not among these: it was erased, or is further away."));
  }

  let young = []; // events whose memories may be in the making
  let looks = 0; // that still bring these memories up

  // live adds what has arrived since. One event tells whether anything has: the first that
  // is shown is no longer so far from the end, also if the new one is dated before others.
  async function live() {
    if (document.hidden) return;
    const now = await page({ numRecentEvents: Math.max(1, fromEnd), pageSize: 1 });
    fill(silence);
    showState(now.state);
    if (!next && now.events[0]?.id !== events[0]?.id) {
      const known = new Set(events.map((e) => e.id));
      const all = pages(at, "events", { pageSize: pageOf, state: "false", after: events[0]?.timestamp }, signal);
      const fresh = [];
      for await (const e of each(all)) if (!known.has(e.id)) fresh.push(e);
      await add(fresh);
      fromEnd = events.length;
      if (fresh.length > 0) {
        announce(count(fresh.length, "new event"));
        [young, looks] = [[...(looks > 0 ? young : []), ...fresh], 5];
      }
    }
    if (looks > 0) {
      looks--;
      await marginalia(young);
    }
  }
  const timer = setInterval(() => live().catch((error) => {
    if (error.name === "AbortError") return;
    if (error instanceof Away) { // the next look tells
      if (!silence.querySelector(".problem")) fill(silence, problem(error), h("p", { class: "quiet" }, "These are the turns as they were. The page tries again."));
      return;
    }
    clearInterval(timer);
    place.fail(error);
  }), liveEvery);
  signal.addEventListener("abort", () => clearInterval(timer));
}
