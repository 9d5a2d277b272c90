// The tour: six steps over the data of `memoryd demo -serve`, told in a strip at the foot
// of the page while the page itself stays in use.

import { APIError, get } from "./api.js";
import { fill, h, href } from "./dom.js";

const maya = ["demo", "users", "maya"];

// steps are places, each with a title and what to look at.
const steps = [
  [href([]), "A house of memories", "This memoryd stores what two people have told an assistant. The tiles say how it is; they refresh by themselves."],
  [href(maya), "What is remembered of Maya", "Facts that hold, newest first. Choose the one about peanuts: beside it are the words it rests on, and the way to their turn."],
  [href(maya, { show: "history", q: "moved to" }), "Nothing is lost when it ends",
    "Maya has moved. Choose the fact about Porto: “Through time” shows how long it held, and what took its place."],
  [href([...maya, "sessions", "lisbon"]), "Where memories come from",
    "The conversation, with the memories of each turn beside it. Calls of tools are folded, and the state is at the side."],
  [href([...maya, "search"], { q: "Where does Maya live?" }), "Why a search finds what it finds",
    "Each bar is a score, made of parts. What no longer holds is marked, with what holds instead. The block is what an agent's prompt gets."],
  [href(maya, { show: "quarantined" }), "Words that give orders",
    "Somebody had Maya paste an advertisement that instructs the agent. It is held back until a person approves or rejects it. That is the tour: correct a fact next, and undo it."],
];

let strip = null;

// at shows a step, and leads the page there.
function at(i) {
  const [place, title, text] = steps[i];
  fill(strip, h("div", {}, h("h2", { tabindex: "-1" }, `${i + 1} of ${steps.length}. ${title}`), h("p", {}, text)),
    h("div", { class: "row" },
      i > 0 && h("button", { type: "button", onclick: () => at(i - 1) }, "Back"),
      i + 1 < steps.length && h("button", { type: "button", class: "primary", onclick: () => at(i + 1) }, "Next"),
      h("button", { type: "button", onclick: end }, i + 1 < steps.length ? "End the tour" : "Done")));
  location.hash = place;
  strip.querySelector("h2").focus();
}

// end takes the strip away.
function end() {
  strip?.remove();
  strip = null;
}

// tour begins the tour, if the data of the demo is there.
export default async function tour({ main, signal }) {
  try {
    await get("/v1/apps/demo/users/maya/sessions/lisbon", { numRecentEvents: 0 }, signal);
  } catch (error) {
    if (!(error instanceof APIError) || error.code !== 404) throw error;
    fill(main, h("section", { class: "notice" }, h("h1", {}, "The tour needs the demo's data"),
      h("p", {}, "Start it with ", h("code", {}, "memoryd demo -serve"), ", and open the address that it prints.")));
    return;
  }
  end();
  strip = h("aside", { id: "tour", "aria-label": "Tour" });
  document.getElementById("toasts").before(strip);
  at(0);
}
