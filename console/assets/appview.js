// An app: its users, and the way to one by name.

import { get, pages, path, scopePath } from "./api.js";
import limits from "./limits.js";
import { action, count, fill, h, href, link, paged, said } from "./dom.js";
import { eraseApp } from "./erase.js";

// figures are the counts of a user in words.
function figures(n) {
  return [count(n.facts, "fact"), count(n.sessions, "session"), n.quarantined > 0 && h("span", { class: "tag warn" }, `${n.quarantined} quarantined`)];
}

// appView lists the users of an app, by id.
export default async function appView({ main, signal, app }) {
  const list = h("ul", { class: "list" });
  const waiting = new Map(); // rows whose figures were not in sight yet
  // The rows that are in sight are counted, one after the other: an app may have many.
  let counting = Promise.resolve();
  const seen = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach(({ target }) => {
    seen.unobserve(target);
    const { user, counts } = waiting.get(target);
    waiting.delete(target);
    counting = counting.then(async () => {
      if (signal.aborted || !target.isConnected) return;
      fill(counts, figures(await get(`${scopePath({ app, user })}/counts`, {}, signal)));
    }).catch(() => {}); // a row without figures leads on all the same
  }));
  signal.addEventListener("abort", () => seen.disconnect());
  const open = h("form", {
    class: "row", onsubmit: (event) => {
      event.preventDefault();
      location.hash = href([app, "users", new FormData(event.target).get("user")]);
    },
  }, h("label", { class: "field" }, h("span", {}, "User"), h("input", { name: "user", required: true, maxlength: 256 })),
  h("button", {}, "Open"));
  const forget = action("Forget this app", async () => {
    if (await eraseApp(path`/v1/apps/${app}`, app, signal)) location.hash = href([]);
  }, { kind: "quiet-danger small" });
  fill(main, h("div", { class: "row spread" }, h("h1", {}, said(app)), forget), open, limits(path`/v1/apps/${app}`, signal), h("section", {}, h("h2", {}, "Users"), list));
  await paged(list, {
    signal, read: pages(path`/v1/apps/${app}/users`, "users", { pageSize: 200 }, signal),
    row: (user) => {
      const counts = h("span", { class: "meta" });
      const item = h("li", {}, link([app, "users", user.id], [said(user.id), counts], { class: "row-link" }));
      seen.observe(item);
      waiting.set(item, { user: user.id, counts });
      return item;
    },
    empty: "This app has no user yet.",
  });
}
