// Home: the apps, how memoryd is, and its backlog. It refreshes by itself.

import { APIError, get, path, text } from "./api.js";
import { count, fill, goTo, h, link, paged, said } from "./dom.js";

const refreshEvery = 5000; // milliseconds
const mostUsers = 100; // of an app that are counted; of more the page says that there are

// series reads the values of a metric, by its labels as they are written.
function series(metrics, name) {
  const out = {};
  for (const line of metrics.split("\n")) {
    const found = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/);
    if (found?.[1] === name) out[found[2] ?? ""] = Number(found[3]);
  }
  return out;
}

// tile is a figure with its name. A mood other than good has its own colour and words.
function tile(name, value, note, mood = "") {
  return h("div", { class: `tile ${mood}` }, h("dt", {}, name), h("dd", {}, value), note && h("dd", { class: "quiet" }, note));
}

const mostApps = 5; // to whose operations a tile leads

// operationsOf leads to the operations of apps that are in a state.
function operationsOf(apps, state) {
  const some = apps.slice(0, mostApps).map(({ id }, i) => [i > 0 && ", ", link([id, "operations"], said(id), { query: { state } })]);
  return some.length > 0 && h("span", {}, " See ", some);
}

const modelNames = ["extractor", "embedder", "reranker", "expander"]; // in /readyz, where a flag names one

// modelTile tells how the models are, as their last calls went: none is made for it.
function modelTile(parts) {
  const named = parts.filter(([name]) => modelNames.includes(name));
  const ill = named.filter(([, value]) => value !== "ok");
  if (named.length === 0) return tile("Models", "Built in", "no other model is called");
  return tile("Models", ill.length ? "Failing" : "Well", named.map(([name, value]) => `${name}: ${value}`).join(", "), ill.length ? "warn" : "good");
}

// state reads how memoryd is. /readyz is a 503 where a store is away.
async function state(apps, signal) {
  const [ready, metrics] = await Promise.all([
    get("/readyz", {}, signal).then((r) => ({ parts: r }), (error) => {
      if (error.name === "AbortError") throw error;
      return { problem: error.message };
    }),
    text("/metrics", signal),
  ]);
  const failed = series(metrics, "memoryd_operations_total")['state="FAILED"'] ?? 0;
  const scopes = series(metrics, "memoryd_backlog_scopes")[""];
  const oldest = series(metrics, "memoryd_backlog_oldest_seconds")[""];
  const triggers = series(metrics, "memoryd_waiting_sessions")[""] ?? 0;
  const build = Object.keys(series(metrics, "memoryd_build_info"))[0] ?? "";
  const all = Object.entries(ready.parts ?? {});
  const parts = all.filter(([name]) => !modelNames.includes(name));
  const worried = parts.filter(([, value]) => value !== "ok");
  return [
    tile("Health", ready.problem ? "Not ready" : worried.length ? "Degraded" : "Ready",
      ready.problem ? said(ready.problem) : parts.map(([name, value]) => `${name}: ${value}`).join(", "),
      ready.problem ? "bad" : worried.length ? "warn" : "good"),
    all.length > 0 && modelTile(all),
    tile("Waiting", scopes == null ? "Unknown" : scopes ? count(scopes, "user") : "Nothing",
      scopes || triggers ? [scopes ? `the oldest for ${Math.round(oldest)} s.` : `${count(triggers, "session")} until a trigger fires.`,
        operationsOf(apps, "PENDING")] : "All memories are made",
      scopes && oldest > 60 ? "warn" : ""),
    tile("Failed", count(failed, "operation"), ["in this process, since it started.", operationsOf(apps, "FAILED")], failed ? "warn" : ""),
    tile("Build", said(build.match(/version="([^"]*)"/)?.[1] ?? "unknown"), said(build.match(/go="([^"]*)"/)?.[1] ?? "")),
  ];
}

// home shows the apps.
export default async function home({ main, signal }) {
  const tiles = h("dl", { class: "tiles" });
  let apps;
  try {
    apps = await get("/v1/apps", {}, signal);
  } catch (error) {
    if (!(error instanceof APIError) || error.code !== 403) throw error;
  }
  fill(tiles, await state(apps?.apps ?? [], signal));
  const list = h("ul", { class: "list" });
  const demo = apps?.apps.some(({ id }) => id === "demo");
  fill(main, h("header", { class: "row spread" }, h("h1", {}, "memoryd"),
    demo && link([], "Take the tour", { query: { tour: "1" } })),
  tiles, h("section", {}, h("h2", {}, "Apps"), apps ? list : null),
  h("details", { class: "card", open: !apps || apps.apps.length === 0 }, h("summary", {}, "Go to a user"), goTo()));
  // The users of the apps that are in sight are counted, one app after the other.
  const waiting = new Map(); // by row
  let counting = Promise.resolve();
  const seen = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach(({ target }) => {
    seen.unobserve(target);
    counting = counting.then(async () => {
      const { id, users } = waiting.get(target);
      const page = await get(path`/v1/apps/${id}/users`, { pageSize: mostUsers }, signal);
      fill(users, page.nextPageToken ? `more than ${mostUsers} users` : count(page.users.length, "user"));
    }).catch(() => {}); // a row without the figure leads on all the same
  }));
  signal.addEventListener("abort", () => seen.disconnect());
  if (apps) {
    await paged(list, {
      signal, read: async (token) => {
        const page = token ? await get("/v1/apps", { pageToken: token }, signal) : apps;
        return { items: page.apps, next: page.nextPageToken };
      },
      row: ({ id }) => {
        const users = h("span", { class: "meta" });
        const item = h("li", {}, link([id], [said(id), users], { class: "row-link" }));
        waiting.set(item, { id, users });
        seen.observe(item);
        return item;
      },
      empty: "No app has stored anything yet.",
    });
  }
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try {
      fill(tiles, await state(apps?.apps ?? [], signal));
    } catch (error) {
      if (error.name !== "AbortError") fill(tiles, tile("Health", "No answer", said(error.message), "bad"));
    }
  }, refreshEvery);
  signal.addEventListener("abort", () => clearInterval(timer));
}
