// The shell: it finds the view of the place in the address, and shows signing in, errors
// and the absence of memoryd in its stead.

import { APIError, Away, get, key, setKey } from "./api.js";
import { action, fill, goTo, h, keyField, link, said, toast } from "./dom.js";
import home from "./home.js";
import app from "./appview.js";
import settings from "./settings.js";
import memories from "./memories.js";
import { session, sessions } from "./sessions.js";
import search from "./search.js";
import operations, { appOperations } from "./operations.js";
import days from "./days.js";
import tour from "./tour.js";

// routes are the places, in the order of the API's paths: "*" is a name of somebody's.
const routes = [
  [[], home],
  [["*"], app],
  [["*", "settings"], settings],
  [["*", "operations"], appOperations],
  [["*", "users", "*"], memories],
  [["*", "users", "*", "memories", "*"], memories],
  [["*", "users", "*", "sessions"], sessions],
  [["*", "users", "*", "sessions", "*"], session],
  [["*", "users", "*", "search"], search],
  [["*", "users", "*", "days"], days],
  [["*", "users", "*", "operations"], operations],
  [["*", "users", "*", "operations", "*"], operations],
];

const main = document.getElementById("main");
let shown = null; // {view, place, stop} of the view on the page

// parse reads the place in the address.
function parse() {
  const [way, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  let segments;
  try {
    segments = way.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    segments = ["?", "?"]; // leads to the page that says so
  }
  // In a path of the API these two would lead fetch to another route, beyond the user.
  if (segments.includes(".") || segments.includes("..")) segments = ["?", "?"];
  for (const [pattern, view] of routes) {
    if (pattern.length === segments.length && pattern.every((p, i) => p === "*" || p === segments[i])) {
      const [name, , user, , id] = segments;
      const parameters = new URLSearchParams(query);
      return { view: view === home && parameters.has("tour") ? tour : view, segments, app: name, user, id, query: parameters };
    }
  }
  return { view: null, segments, query: new URLSearchParams() };
}

// route shows the place in the address. A view that is there already may follow by
// itself, as the list of memories does when another one is chosen.
async function route() {
  const place = parse();
  // A dialog asks about the place that was left. One that is kept has a secret to show.
  document.querySelectorAll("dialog:not(.kept)").forEach((d) => d.close());
  if (shown?.view === place.view && shown?.follow && shown.app === place.app && shown.user === place.user) {
    try {
      if (await shown.follow(place)) return;
    } catch (error) {
      fail(error);
      return;
    }
  }
  show(place);
}

async function show(place) {
  shown?.stop.abort();
  const stop = new AbortController();
  shown = { view: place.view, app: place.app, user: place.user, stop };
  const mine = shown;
  heading(place);
  fill(main, h("p", { class: "loading" }, "Reading…"));
  main.setAttribute("aria-busy", "true");
  try {
    if (!place.view) throw new APIError(404, "The console has no such place.");
    const follow = await place.view({ ...place, main, signal: stop.signal, fail, again: () => show(parse()) });
    if (mine === shown) mine.follow = follow;
    away(null);
  } catch (error) {
    if (mine === shown) fail(error);
  } finally {
    if (mine === shown) main.removeAttribute("aria-busy");
  }
  if (mine === shown && document.activeElement === document.body) main.focus({ preventScroll: true });
}

// fail shows why a view has nothing to show. The data of the view goes first: a key
// that is no longer valid sees none of it.
function fail(error) {
  if (error.name === "AbortError") return;
  shown.follow = null; // what it would follow with is no longer on the page
  if (error instanceof Away) {
    fill(main, h("p", { class: "empty" }, "Nothing to show until memoryd answers."));
    away(error);
    return;
  }
  const code = error instanceof APIError ? error.code : 0;
  if (code === 401) {
    fill(main, signIn(key() ? "This key is not valid: it has another spelling, has expired or was revoked." : ""));
    main.querySelector("input")?.focus();
  } else if (code === 403) {
    fill(main, h("section", { class: "notice" }, h("h1", {}, "This key may not look here"),
      h("p", {}, said(error.message)),
      h("p", {}, "A key may be for one app or one user, and some places need the verb admin."),
      goTo(), h("h2", {}, "Use another key"), signIn("")));
  } else if (code === 404) {
    const { segments } = parse();
    fill(main, h("section", { class: "notice" }, h("h1", {}, "There is nothing here"),
      h("p", {}, said(error.message)),
      h("p", {}, "It was deleted or erased, has expired, or never was."),
      h("p", {}, link(segments.slice(0, segments.length > 3 ? 3 : 0), segments.length > 3 ? "To this user" : "To the start"))));
  } else {
    fill(main, h("section", { class: "notice" }, h("h1", {}, "That did not work"), h("p", {}, said(error.message)),
      action("Try again", () => show(parse()))));
    if (!(error instanceof APIError)) console.error(error);
  }
}

// signIn asks for a key.
function signIn(why) {
  return h("form", {
    class: "sign-in card", onsubmit: (event) => {
      event.preventDefault();
      try {
        setKey(new FormData(event.target).get("key").trim());
      } catch (error) {
        fill(main, signIn(error.message));
        main.querySelector("input").focus();
        return;
      }
      show(parse());
    },
  }, h("h2", {}, "Sign in"), why && h("p", { class: "problem", role: "alert" }, why),
  keyField(), h("p", { class: "quiet" }, "This tab alone keeps it, until it is closed. The console can do what the key may do."),
  h("button", { class: "primary" }, "Sign in"));
}

// heading shows where one is, and the views of that place.
function heading(place) {
  const { segments, app: name, user } = place;
  const crumbs = [];
  if (place.view && name) crumbs.push(link([name], said(name)));
  if (user) crumbs.push(link([name, "users", user], said(user)));
  fill(document.getElementById("crumbs"), crumbs.map((c) => [h("span", { class: "slash", "aria-hidden": "true" }, "/"), c]));
  const tabs = !place.view || !name ? [] : user ? [
    [[name, "users", user], "Memories", !segments[3] || segments[3] === "memories"],
    [[name, "users", user, "search"], "Search", segments[3] === "search"],
    [[name, "users", user, "sessions"], "Sessions", segments[3] === "sessions"],
    [[name, "users", user, "days"], "Days", segments[3] === "days"],
    [[name, "users", user, "operations"], "Operations", segments[3] === "operations"],
  ] : [
    [[name], "Users", segments.length === 1],
    [[name, "operations"], "Operations", segments[1] === "operations"],
    [[name, "settings"], "Settings", segments[1] === "settings"],
  ];
  fill(document.getElementById("tabs"), tabs.map(([to, text, here]) => link(to, text, { "aria-current": here ? "page" : null })));
  document.title = [...segments].reverse().filter((s) => s !== "users").concat("memoryd").join(" · ");
  fill(document.getElementById("status"), key()
    ? h("button", { type: "button", class: "plain", onclick: () => { setKey(""); toast("Signed out."); show(parse()); } }, "Sign out")
    : null);
}

let retry = 0; // the timer of the next attempt

// away says that memoryd does not answer, and asks again until it does: then the view
// is shown once more, unless a dialog or a form has words in it.
function away(error) {
  const banner = document.getElementById("away");
  clearTimeout(retry);
  if (!error) {
    banner.hidden = true;
    return;
  }
  fill(banner, h("span", {}, said(error.message), " Trying again every few seconds."));
  banner.hidden = false;
  retry = setTimeout(async () => {
    try {
      await get("/readyz");
      banner.hidden = true;
      show(parse());
    } catch (still) {
      away(still instanceof Away ? still : null);
    }
  }, Math.min(10, error.seconds) * 1000);
}

// The address has the place behind its #, so that the link to the content must not go there.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", route);
route();
