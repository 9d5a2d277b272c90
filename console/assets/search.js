// Search as it is: the parts of each score, what is outdated, the block for a prompt,
// and two settings side by side. The address has all of the settings.

import { get, post, scopePath } from "./api.js";
import {
  action, announce, confirm, count, field, fill, h, href, link, Mistake, moment, problem, said, select, time, toast, topicName, zone,
} from "./dom.js";

// families put the parts of a score together by what they look at. Each has one colour.
const families = [
  ["words", "Words", ["lexical", "context", "facts"]],
  ["meaning", "Meaning", ["dense", "near", "reranker"]],
  ["talk", "Conversation", ["reply", "session"]],
  ["form", "Speaker and form", ["speaker", "statement", "answer"]],
  ["clock", "Time", ["time", "recency", "holds"]],
];
const familyOf = (name) => families.find(([, , parts]) => parts.includes(name))?.[0] ?? "other";

// number prints a part of a score.
const number = (n) => n.toFixed(3).replace(/^0/, "");

// settings are those of one side, from the parameters of the place: those of the second
// side end in "2".
function settings(query, side) {
  const of = (name) => query.get(name + side) ?? "";
  return { topK: of("topK"), kind: of("kind"), minScore: of("minScore"), asOf: of("asOf"), asOfName: `asOf${side}`, filter: of("filter"), tokens: of("tokens") };
}

// body is a search of the API.
function body(question, s) {
  return {
    query: question, explain: true, topK: Number(s.topK) || 10,
    ...s.kind && { kinds: [s.kind] },
    ...s.minScore && { minScore: Number(s.minScore) },
    ...s.asOf && { asOf: moment(s.asOfName, s.asOf) },
    ...s.filter && { filter: s.filter },
  };
}

// local is a time of the address as its control has it, in the reader's zone; "" if it
// cannot be read.
function local(text) {
  const at = new Date(text);
  if (!text || Number.isNaN(at.getTime())) return "";
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// controls are the settings of one side.
function controls(query, side) {
  const s = settings(query, side);
  return h("fieldset", { class: "settings" }, h("legend", {}, side ? "Second setting" : "Setting"),
    field("Results", h("input", { name: `topK${side}`, type: "number", min: 1, max: 100, value: s.topK || "10" })),
    field("Kind", select(`kind${side}`, [["", "All"], ["fact", "Facts"], ["turn", "Turns"], ["profile", "Profiles"]], s.kind)),
    field("Least score", h("input", { name: `minScore${side}`, type: "number", min: 0, max: 1, step: "0.01", value: s.minScore })),
    field("As of", h("input", { name: `asOf${side}`, type: "datetime-local", title: `Time of ${zone}`, value: local(s.asOf) })),
    field("Filter", h("input", { name: `filter${side}`, value: s.filter, placeholder: "kind = fact AND topics:work" })),
    field("Tokens of the block", h("input", { name: `tokens${side}`, type: "number", min: 1, max: 100000, value: s.tokens || "1024" })));
}

// bar is a score as a stacked bar, whose whole width is 1. The list below it has the
// same in words.
function bar(match, scale) {
  const parts = (match.explain?.parts ?? []).filter((p) => p.value * p.weight > 0);
  const stack = h("div", { class: "bar", "aria-hidden": "true" }, parts.map((p) => {
    const piece = h("span", { class: `part ${familyOf(p.name)}`, title: `${p.name} ${number(p.value * p.weight)}` });
    piece.style.width = `${100 * p.value * p.weight / scale}%`;
    return piece;
  }));
  const table = h("table", {}, h("caption", { class: "unseen" }, "The parts of the score"),
    h("thead", {}, h("tr", {}, ["Part", "Value", "Weight", "Adds"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, (match.explain?.parts ?? []).map((p) => h("tr", {},
      h("th", { scope: "row" }, h("span", { class: `key ${familyOf(p.name)}`, "aria-hidden": "true" }), p.name),
      [p.value, p.weight, p.value * p.weight].map((n) => h("td", {}, number(n)))))));
  return [stack, h("details", { class: "folded" }, h("summary", {}, "Parts"), table,
    match.explain?.terms?.length > 0 && h("p", { class: "quiet" }, "Words of the question in it: ", said(match.explain.terms.join(", "))))];
}

// words shows memories by their words, which load reads.
function words(title, ids, { base, load }) {
  return ids?.length > 0 && h("p", { class: "meta" }, h("span", {}, title), ids.map((id) => {
    const to = link([...base, "memories", id], "…");
    load(id).then((fact) => fill(to, said(fact)));
    return to;
  }));
}

// result is one match.
function result(match, i, { base, scale, other, load }) {
  const m = match.memory;
  const place = other?.findIndex((o) => o.memory.id === m.id) ?? -1;
  const moved = !other ? null : place < 0 ? "only here" : place === i ? "same place" : `there at ${place + 1}`;
  return h("li", { class: "match" },
    h("div", { class: "match-head" }, h("span", { class: "rank" }, `${i + 1}`),
      link([...base, "memories", m.id], said(m.fact, "clamp")), h("span", { class: "score" }, number(match.score))),
    h("div", { class: "meta" }, h("span", { class: "tag" }, m.kind), time(m.timestamp, { day: true }), m.author && said(m.author),
      m.topics.map((t) => h("span", { class: "tag" }, said(topicName(t)))), moved && h("span", { class: "tag" }, moved),
      match.outdated && h("span", { class: "tag warn" }, "outdated since ", time(match.outdated.since, { day: true }))),
    words("Holds instead:", match.outdated?.by, { base, load }),
    words("May be overtaken by:", match.newer, { base, load }),
    bar(match, scale));
}

// column is the answer to one setting. The block is open where there is room for it.
function column(found, block, options, side) {
  const open = !options.other && matchMedia("(min-width: 1200px)").matches;
  return h("section", { class: "column" },
    h("h2", {}, side ? "Second setting" : "Results", " ", h("small", {}, count(found.length, "match", "matches"))),
    found.length === 0 ? h("p", { class: "empty" }, "Nothing is found.")
      : h("ol", { class: "matches" }, found.map((m, i) => result(m, i, options))),
    h("details", { class: "card", open }, h("summary", {}, "Context block ", h("small", {}, count(block.tokens, "token"))),
      block.text ? h("pre", {}, said(block.text)) : h("p", { class: "quiet" }, "It is empty: nothing fits.")));
}

// loader reads the words of memories, each once. It knows those that were found.
function loader(scope, matches, signal) {
  const known = new Map(matches.map((m) => [m.memory.id, Promise.resolve(m.memory.fact)]));
  return (id) => {
    if (!known.has(id)) {
      known.set(id, get(`${scope}/memories/${encodeURIComponent(id)}`, {}, signal).then((m) => m.fact, () => id));
    }
    return known.get(id);
  };
}

// copyLink copies the address. A browser has no clipboard for a page that came by http from
// another machine: then it shows the address, chosen, to be copied by hand.
async function copyLink() {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(location.href);
    toast("The link is copied. It has the question and the settings, and no key.");
    return;
  }
  const input = h("input", { readonly: true, value: location.href, autofocus: true, onfocus: (event) => event.target.select() });
  await confirm({
    title: "The link to this search", verb: "Done", run: async () => {},
    content: [field("Copy it from here", input), h("p", { class: "quiet" }, "It has the question and the settings, and no key.")],
  });
}

// search shows the question, the settings and what they find.
export default async function search(place) {
  const { main, signal, app, user, query } = place;
  const base = [app, "users", user];
  const scope = scopePath({ app, user });
  const two = query.get("compare") === "1";
  const answers = h("div", { class: `columns-2 ${two ? "two" : ""}` });
  const form = h("form", {
    class: "search-form", role: "search", onsubmit: (event) => { event.preventDefault(); go(query.get("compare") === "1"); },
  }, h("div", { class: "row question" },
    h("label", { class: "field wide" }, h("span", {}, "Question"),
      h("input", { name: "q", type: "search", required: true, maxlength: 16384, dir: "auto", value: query.get("q") ?? "" })),
    h("button", { class: "primary" }, "Search")),
  h("details", { open: two || ["topK", "kind", "minScore", "asOf", "filter", "tokens"].some((n) => query.has(n)) },
    h("summary", {}, "Settings"), h("div", { class: "columns-2 two" }, controls(query, ""), two && controls(query, "2")),
    h("div", { class: "row" },
      h("button", { type: "button", onclick: () => go(!two) }, two ? "One setting" : "Compare with a second setting"),
      action("Copy the link to this search", copyLink))));

  // go leads to the place of what the form says.
  function go(compare) {
    const defaults = { topK: "10", tokens: "1024" };
    const parameters = new URLSearchParams([...new FormData(form)].filter(([name, v]) => v && v !== defaults[name.replace(/2$/, "")]));
    // The address says the zone, so that the link means the same to somebody in another one.
    ["asOf", "asOf2"].filter((n) => parameters.get(n)).forEach((n) => parameters.set(n, new Date(parameters.get(n)).toISOString()));
    if (compare) parameters.set("compare", "1");
    else [...parameters.keys()].filter((k) => k.endsWith("2")).forEach((k) => parameters.delete(k));
    const to = href([...base, "search"], Object.fromEntries(parameters));
    if (location.hash === to) place.again();
    else location.hash = to;
  }

  fill(main, h("h1", { class: "unseen" }, "Search the memories of ", said(user)), form,
    h("p", { class: "legend" }, families.map(([kind, name]) => h("span", {}, h("span", { class: `key ${kind}`, "aria-hidden": "true" }), name)),
      h("span", {}, h("span", { class: "key other", "aria-hidden": "true" }), "Other")), answers);
  const question = query.get("q");
  if (!question) {
    main.querySelector("[name=q]").focus();
    fill(answers, h("p", { class: "empty" }, "Ask as an agent would: Where does she live?"));
    return;
  }
  const sides = two ? ["", "2"] : [""];
  let found;
  try {
    found = await Promise.all(sides.map((side) => {
      const s = settings(query, side);
      return Promise.all([post(`${scope}/memories/search`, body(question, s), { signal }),
        post(`${scope}/memories/context`, { ...body(question, s), maxTokens: Number(s.tokens) || 1024 }, { signal })]);
    }));
  } catch (error) {
    if (error.code !== 400 && !(error instanceof Mistake)) throw error;
    fill(answers, problem(error)); // of what the form or the address says, to be mended
    return;
  }
  const scale = Math.max(0.05, ...found.flatMap(([f]) => f.memories.map((m) => m.score)));
  const load = loader(scope, found.flatMap(([f]) => f.memories), signal);
  fill(answers, found.map(([f, block], i) => column(f.memories, block,
    { base, scale, load, other: two ? found[1 - i][0].memories : null }, sides[i])));
  announce(found.map(([f]) => count(f.memories.length, "match", "matches")).join(" and "));
}
