// The memories of a user: a list with filters, and beside it the chosen one.

import { get, pages, path, scopePath } from "./api.js";
import {
  action, announce, builtInTopics, day, field, fill, h, href, link, Mistake, paged, problem, said, select, time, topicName, zone,
} from "./dom.js";
import { eraseUser } from "./erase.js";
import { detail } from "./memory.js";

// Memories of the first request, so that they are there at once, and of each later one.
const firstPage = 100;
const laterPage = 250;

// shows are the choices of what the list has, with the parameters of the API.
const shows = {
  "": ["Facts that hold", { kind: "fact" }],
  history: ["Facts, with history", { kind: "fact", history: true }],
  deleted: ["Forgotten", { deleted: true, orderBy: "updateTime" }],
  turn: ["Turns as they were said", { kind: "turn" }],
  profile: ["Values of profiles", { kind: "profile" }],
  quarantined: ["Quarantined", { state: "quarantined" }],
  rejected: ["Rejected", { state: "rejected" }],
};

// expression is the filter of the words in the box: they are an expression of the API
// if they begin with a field and an operator, and else a part of the text.
function expression(words) {
  if (!words) return "";
  if (/^[\s(]*(?:-|NOT\s[\s(]*)?[a-z_][\w.]*(?:\."[^"]*")?\s*(?:!=|[=:<>])/i.test(words)) return words;
  return `fact:"${words.replace(/["\\]/g, "\\$&")}"`;
}

// bounds is the filter of the days from and to, both included, in the reader's zone.
function bounds(query) {
  const from = day("from", query.get("from"));
  const to = day("to", query.get("to"));
  const out = [];
  if (from) out.push(`timestamp >= "${new Date(`${from}T00:00:00`).toISOString()}"`);
  if (to) {
    const next = new Date(`${to}T00:00:00`);
    next.setDate(next.getDate() + 1);
    out.push(`timestamp < "${next.toISOString()}"`);
  }
  return out;
}

// request is the query of the list for the parameters of a place.
function request(query) {
  const conditions = bounds(query);
  const words = expression(query.get("q"));
  if (words) conditions.push(`(${words})`);
  const [, chosen] = shows[query.get("show") ?? ""] ?? shows[""];
  return { ...chosen, topic: query.get("topic"), sessionId: query.get("session"), filter: conditions.join(" AND ") };
}

// row is a memory in the list.
export function row(m, { to, query, current }) {
  const over = m.validTo && new Date(m.validTo) <= new Date();
  return h("a", {
    class: `memory-row${over ? " over" : ""}`, href: to, "aria-current": current ? "true" : null,
  }, said(m.fact, "clamp"), h("span", { class: "meta" },
    time(m.timestamp, { day: true }),
    m.author && said(m.author),
    m.topics.map((t) => h("span", { class: "tag" }, said(topicName(t)))),
    m.state && h("span", { class: "tag warn" }, m.state),
    m.deletion && h("span", { class: "tag bad" }, "deleted ", time(m.deletion.time), " by ", said(m.deletion.actor)),
    over && h("span", { class: "tag" }, "held until ", time(m.validTo, { day: true })),
    m.evidence && h("span", {}, `said ${m.evidence} times`),
    m.edited && h("span", {}, "edited")));
}

// wide reports whether all filters fit into one row.
const wide = () => matchMedia("(min-width: 1100px)").matches;

// filters is the form above the list. change gets the parameters as they become.
function filters(query, custom, change) {
  const form = h("form", {
    class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); apply(); },
    onchange: () => apply(),
  }, field("Show", select("show", Object.entries(shows).map(([v, [text]]) => [v, text]), query.get("show"))),
  field("Topic", topicControl(query.get("topic"), custom)),
  h("label", { class: "field wide" }, h("span", {}, "Words, or a filter expression"),
    h("input", { name: "q", type: "search", value: query.get("q") ?? "", placeholder: "peanuts, or metadata.priority >= 3" })),
  h("details", { class: "more-filters", open: ["from", "to", "session"].some((n) => query.has(n)) || wide() }, h("summary", {}, "More"),
    h("div", { class: "row" }, field("From", h("input", { name: "from", type: "date", title: `Days of ${zone}`, value: query.get("from") ?? "" })),
    field("To", h("input", { name: "to", type: "date", title: `Days of ${zone}`, value: query.get("to") ?? "" })),
    field("Session", h("input", { name: "session", value: query.get("session") ?? "" })))));
  function apply() {
    change(new URLSearchParams([...new FormData(form)].filter(([, v]) => v)));
  }
  return form;
}

// topicControl offers the topics that every app has and custom ones, and takes others.
function topicControl(value, custom) {
  return [h("input", { name: "topic", list: "topics", value: value ?? "", placeholder: "any" }),
    h("datalist", { id: "topics" }, builtInTopics.map((t) => h("option", { value: t }, topicName(t))),
      custom.map((t) => h("option", { value: t })))];
}

// customTopics reads the topics of an app's own; none with a key that may not.
async function customTopics(app, signal) {
  try {
    const config = await get(path`/v1/apps/${app}/config`, {}, signal);
    return (config.customTopics ?? []).map((t) => t.label);
  } catch {
    return []; // they are suggestions, and the form takes any topic
  }
}

// memories shows the list, and the memory of the place if it names one.
export default async function memories(place) {
  const { main, signal, app, user } = place;
  const scope = { app, user };
  const base = [app, "users", user];
  let custom = []; // topics of the app's own, once they are read
  const rows = new Map(); // by id of the memory
  const list = h("ul", { class: "memory-list", "aria-label": "Memories" });
  const column = h("div", { class: "list-column" }, list);
  const side = h("aside", { class: "detail", "aria-label": "The chosen memory", tabindex: "-1" });
  const split = h("div", { class: "split" }, column, side);
  const form = h("div", {});
  const figures = h("p", { class: "figures" });
  const forget = action("Forget this user", async () => {
    if (await eraseUser(scopePath(scope), user, signal)) location.hash = href([app]);
  }, { kind: "quiet-danger small" });
  fill(main, h("h1", { class: "unseen" }, "Memories of ", said(user)), h("div", { class: "row spread" }, figures, forget), form, split);
  let query = new URLSearchParams();
  let reading = new AbortController();

  const placeOf = (id) => href(id ? [...base, "memories", id] : base, Object.fromEntries(query));
  const element = (m) => {
    const item = h("li", {}, row(m, { to: placeOf(m.id), current: m.id === chosen }));
    rows.set(m.id, item);
    return item;
  };
  let chosen;

  // recount shows how much there is, each figure with the way to it.
  async function recount() {
    const n = await get(`${scopePath(scope)}/counts`, {}, signal);
    const figure = (number, name, show) => number > 0 && link(base, [h("strong", {}, String(number)), ` ${name}`], { query: { show } });
    fill(figures, link(base, [h("strong", {}, String(n.facts)), n.facts === 1 ? " fact holds" : " facts hold"]),
      figure(n.superseded, "superseded", "history"), figure(n.quarantined, "quarantined", "quarantined"),
      figure(n.turns, n.turns === 1 ? "turn" : "turns", "turn"),
      figure(n.values, n.values === 1 ? "value of profiles" : "values of profiles", "profile"),
      link([...base, "sessions"], [h("strong", {}, String(n.sessions)), n.sessions === 1 ? " session" : " sessions"]));
  }

  // relist reads the list of the parameters.
  async function relist(parameters) {
    query = parameters;
    reading.abort();
    reading = new AbortController();
    signal.addEventListener("abort", () => reading.abort());
    rows.clear();
    fill(list);
    fill(column, list);
    fill(form, filters(query, custom, (changed) => {
      const to = href(base, Object.fromEntries(changed));
      if (location.hash !== to) location.hash = to;
    }));
    try {
      const wanted = request(query);
      const page = (pageSize) => pages(`${scopePath(scope)}/memories`, "memories", { pageSize, ...wanted }, reading.signal);
      await paged(list, {
        signal: reading.signal, row: element,
        empty: query.size > 0 ? "No memory passes these filters." : "Nothing that holds is remembered of this user.",
        read: async (token) => {
          const { items, next, deletions } = await page(token ? laterPage : firstPage)(token);
          return { items: deletions ? items.map((m, i) => ({ ...m, deletion: deletions[i] })) : items, next };
        },
      });
    } catch (error) {
      if (error.code !== 400 && !(error instanceof Mistake)) throw error;
      fill(column, problem(error)); // of what the form or the address says, to be mended
      return;
    }
    announce(`${rows.size} memories shown`);
  }

  // changed brings a row up after the memory has changed; null if it is gone.
  function changed(id, m) {
    recount().catch(() => {}); // the figures are those of before until the next look
    const item = rows.get(id);
    if (!item) return;
    if (m) item.replaceChildren(row(m, { to: placeOf(m.id), current: m.id === chosen }));
    else item.remove();
  }

  // choose shows a memory beside the list.
  async function choose(id) {
    rows.get(chosen)?.firstChild.removeAttribute("aria-current");
    chosen = id;
    split.classList.toggle("chosen", Boolean(id));
    if (!id) {
      fill(side);
      return;
    }
    rows.get(id)?.firstChild.setAttribute("aria-current", "true");
    const again = () => chosen === id && !signal.aborted && choose(id);
    const shownOne = await detail(scope, id, { signal, changed, again, relist: () => relist(query) });
    if (chosen !== id) return;
    fill(side, h("a", { class: "back", href: placeOf() }, "Close"), shownOne);
    side.scrollTop = 0;
  }

  await Promise.all([relist(place.query), choose(place.id)]);
  recount().catch(() => {});
  customTopics(app, signal).then((all) => {
    custom = all;
    form.querySelector("datalist")?.append(...all.map((t) => h("option", { value: t })));
  });

  // The list stays where it was scrolled to when another memory is chosen.
  return async (next) => {
    if (next.query.toString() !== query.toString()) await relist(next.query);
    await choose(next.id);
    if (next.id) side.focus({ preventScroll: true });
    return true;
  };
}
