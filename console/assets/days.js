// A user by day: how many facts were learned, changed, ended, and forgotten. A figure leads
// to the list of them.

import { each, pages, scopePath } from "./api.js";
import { field, fill, h, href, link, said, select, time } from "./dom.js";

const ranges = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["365", "a year"]];

// midnight is the beginning of a day, some days after another one, in the reader's zone.
function midnight(at, days = 0) {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);
}

// kinds are the figures of a day: a name, a colour, and the field of a memory's time that
// makes it one of that day's. A memory counts once as learned, and once more by its last
// change.
const kinds = [
  ["learned", "Learned", "words", "create_time", (m) => !m.gone && m.createTime],
  ["changed", "Changed", "talk", "update_time", (m) => !m.gone && m.revision > 1 && !m.validTo && m.updateTime],
  ["ended", "Ended", "other", "update_time", (m) => !m.gone && m.revision > 1 && m.validTo && m.updateTime],
  ["forgotten", "Forgotten", "clock", "update_time", (m) => m.gone && m.updateTime],
];

// conditions are those of the list that a figure leads to, beside the bounds of the day.
const conditions = { learned: "", changed: " AND revision > 1 AND NOT valid_to:*", ended: " AND revision > 1 AND valid_to:*", forgotten: " AND kind = fact" };

// tally counts the facts of a user by day, newest first.
async function tally(scope, since, signal) {
  const days = new Map();
  const filter = `update_time >= "${since.toISOString()}"`; // a creation is an update too
  const read = (which) => each(pages(`${scopePath(scope)}/memories`, "memories",
    { kind: "fact", ...which, filter, pageSize: 1000, orderBy: "updateTime desc" }, signal));
  const count = (m) => {
    for (const [name, , , , of] of kinds) {
      const at = of(m) && new Date(of(m));
      if (!at || at < since) continue;
      const day = midnight(at).getTime();
      if (!days.has(day)) days.set(day, Object.fromEntries(kinds.map(([k]) => [k, 0])));
      days.get(day)[name]++;
    }
  };
  for await (const m of read({ history: true })) count(m);
  for await (const m of read({ deleted: true })) count({ ...m, gone: true });
  return [...days].sort(([a], [b]) => b - a);
}

// row is a day.
function row(base, day, figures, most) {
  const from = new Date(day);
  const bounds = (of) => `${of} >= "${from.toISOString()}" AND ${of} < "${midnight(day, 1).toISOString()}"`;
  const bar = h("div", { class: "bar", "aria-hidden": "true" }, kinds.map(([name, , colour]) => {
    const part = h("span", { class: `part ${colour}` });
    part.style.width = `${100 * figures[name] / most}%`;
    return figures[name] > 0 && part;
  }));
  return h("tr", {}, h("th", { scope: "row" }, time(from.toISOString(), { day: true })), h("td", { class: "chart" }, bar),
    kinds.map(([name, , , of]) => h("td", {}, figures[name] === 0 ? "0"
      : link(base, String(figures[name]), { query: { show: name === "forgotten" ? "deleted" : "history", q: bounds(of) + conditions[name] } }))));
}

// days shows the days of a range on which anything happened.
export default async function days({ main, signal, app, user, query }) {
  const base = [app, "users", user];
  const range = ranges.find(([r]) => r === query.get("days"))?.[0] ?? "30"; // the control shows which it is
  const since = midnight(Date.now(), 1 - Number(range));
  const all = await tally({ app, user }, since, signal);
  const most = Math.max(1, ...all.map(([, f]) => kinds.reduce((sum, [name]) => sum + f[name], 0)));
  fill(main, h("h1", { class: "unseen" }, "Days of ", said(user)),
    h("div", { class: "row" }, field("The last", select("days", ranges, range, {
      onchange: (event) => { location.hash = href([...base, "days"], { days: event.target.value }); },
    }))),
    h("p", { class: "legend" }, kinds.map(([, title, colour]) => h("span", {}, h("span", { class: `key ${colour}`, "aria-hidden": "true" }), title))),
    all.length === 0 ? h("p", { class: "empty" }, "Nothing was learned, changed, ended or forgotten in these days.")
      : h("table", { class: "days" }, h("caption", { class: "unseen" }, "Facts by day"),
        h("thead", {}, h("tr", {}, ["Day", "", ...kinds.map(([, title]) => title)].map((t) => h("th", { scope: "col" }, t || h("span", { class: "unseen" }, "Chart"))))),
        h("tbody", {}, all.map(([day, figures]) => row(base, day, figures, most)))),
    h("p", { class: "quiet" }, "By when memoryd stored it. A fact counts once as learned, and once more by its last change. ",
      "Forgotten is a fact that was deleted, by words or by a call, and that can be brought back; one that was erased, purged or has expired leaves nothing."));
}
