// Limits: meters of how much of its limits an app or a user uses.

import { get } from "./api.js";
import { fill, h, problem, time } from "./dom.js";

// names are the limits in words, by the name behind "key-", "app-", "user-" or "shared-".
const names = {
  rate: "requests at once", requests: "requests in progress", "model-calls": "calls of models today", "model-tokens": "tokens of models today",
  memories: "memories", bytes: "bytes of memories", sessions: "sessions",
};
const owners = { key: "Your key", app: "The app", user: "The user", shared: "What the app shares" };

// meter shows one limit, in words beside its bar. Of a rate a part of a second's requests
// may come at once, and one at least.
function meter({ name, limit, used, resetTime }) {
  const [of, what] = [name.slice(0, name.indexOf("-")), name.slice(name.indexOf("-") + 1)];
  const most = what === "rate" ? Math.max(1, Math.floor(limit)) : limit;
  const amount = (n) => n.toLocaleString("en");
  return h("div", {}, h("dt", {}, `${owners[of]}: ${names[what]}`),
    h("dd", {}, h("meter", { "aria-label": name, max: most, high: 0.9 * most, optimum: 0, value: Math.min(used, most) }),
      h("span", {}, `${amount(used)} of ${amount(most)}`, what === "rate" && most !== limit ? `, ${limit} a second` : ""),
      h("span", { class: "quiet" }, h("code", {}, `-${name}`), resetTime && what !== "rate" ? [" begins again ", time(resetTime)] : "")));
}

// limits is a part of a page, which gets the limits that are set once they are read; it stays
// out of sight if none is.
export default function limits(at, signal) {
  const card = h("section", { class: "card", hidden: true });
  const show = (...content) => {
    fill(card, h("h2", {}, "Limits"), content);
    card.hidden = false;
  };
  get(`${at}/limits`, {}, signal).then(
    (answer) => answer.limits.length > 0 && show(h("dl", { class: "limits" }, answer.limits.map(meter))),
    (error) => error.name !== "AbortError" && show(problem(error)));
  return card;
}
