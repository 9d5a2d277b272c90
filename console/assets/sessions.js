// The sessions of a user, and one of them as a conversation, with the memories that
// were made of each turn.

import { each, get, pages, scopePath } from "./api.js";
import { action, announce, count, fill, h, link, paged, said, time } from "./dom.js";

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

const recent = 200; // events that a session shows at first
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

// made reads the memories of a session, by the event that they come from.
async function made(scope, id, signal) {
  const by = new Map();
  const read = pages(`${scopePath(scope)}/memories`, "memories",
    { kind: "fact", sessionId: id, history: true, pageSize: 500 }, signal);
  for await (const m of each(read)) {
    for (const event of m.source.eventIds ?? []) by.set(event, [...by.get(event) ?? [], m]);
  }
  return by;
}

// session shows a session, and its events as they arrive.
export async function session(place) {
  const { main, signal, app, user, id, query } = place;
  const scope = { app, user };
  const at = `${scopePath(scope)}/sessions/${encodeURIComponent(id)}`;
  const wanted = query.get("event");
  const [s, memoriesOf] = await Promise.all([
    get(at, wanted ? {} : { numRecentEvents: recent }, signal), made(scope, id, signal)]);
  const list = h("ol", { class: "conversation", "aria-label": "Conversation" });
  const state = h("aside", { class: "state" });
  const earlier = !wanted && s.events.length === recent &&
    action("Show the whole session", async () => {
      const whole = await get(at, {}, signal);
      fill(list, whole.events.map((e) => turn(e, user)));
      marginalia(memoriesOf);
      earlier.remove();
    });
  fill(main, h("header", { class: "page-head" }, h("h1", {}, said(s.displayName || s.id)),
    h("p", { class: "meta" }, "Begun ", time(s.createTime), " · changed ", time(s.lastUpdateTime),
      s.expireTime && [" · expires ", time(s.expireTime)], " · ", link([app, "users", user], "Its memories", { query: { session: id } }))),
  h("div", { class: "session" }, h("div", {}, earlier, list), state));
  fill(list, s.events.map((e) => turn(e, user)));
  if (s.events.length === 0) list.after(h("p", { class: "empty" }, "It has no events yet."));
  showState(s.state);
  marginalia(memoriesOf);

  function showState(values) {
    fill(state, h("h2", {}, "State"), Object.keys(values ?? {}).length ? stateTable(values) : h("p", { class: "quiet" }, "None."));
  }

  // marginalia writes the memories of each turn beside it.
  function marginalia(by) {
    for (const item of list.children) {
      const own = by.get(item.id.slice("event-".length)) ?? [];
      fill(item.querySelector(".made"), own.map((m) =>
        link([app, "users", user, "memories", m.id], [said(m.fact, "clamp"),
          m.validTo && h("span", { class: "tag" }, "held until ", time(m.validTo, { day: true }))], { class: `made-link${m.validTo ? " over" : ""}` })));
    }
  }

  const target = wanted && document.getElementById(`event-${wanted}`);
  if (target) {
    target.classList.add("sought");
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }

  let last = s.events.at(-1)?.timestamp;
  let changedAt = s.lastUpdateTime;
  let later = 0; // looks that still bring the memories of new events up

  // live adds what has arrived since.
  async function live() {
    if (document.hidden) return;
    const now = await get(at, last ? { after: last } : {}, signal);
    const fresh = now.events.filter((e) => !document.getElementById(`event-${e.id}`));
    if (now.lastUpdateTime !== changedAt) {
      changedAt = now.lastUpdateTime;
      showState(now.state);
      later = 5;
    }
    if (fresh.length > 0) {
      list.append(...fresh.map((e) => turn(e, user)));
      last = fresh.at(-1).timestamp;
      announce(count(fresh.length, "new event"));
    }
    if (later > 0) {
      later--;
      marginalia(await made(scope, id, signal));
    }
  }
  const timer = setInterval(() => live().catch((error) => {
    if (!(error.code >= 400 && error.code < 500)) return; // the next look tells
    clearInterval(timer);
    place.fail(error);
  }), liveEvery);
  signal.addEventListener("abort", () => clearInterval(timer));
}
