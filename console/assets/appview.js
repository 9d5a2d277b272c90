// An app: its users, and the way to one by name.

import { pages, path } from "./api.js";
import { fill, h, href, link, paged, said } from "./dom.js";

// appView lists the users of an app, by id.
export default async function appView({ main, signal, app }) {
  const list = h("ul", { class: "list columns" });
  const open = h("form", {
    class: "row", onsubmit: (event) => {
      event.preventDefault();
      location.hash = href([app, "users", new FormData(event.target).get("user")]);
    },
  }, h("label", { class: "field" }, h("span", {}, "User"), h("input", { name: "user", required: true, maxlength: 256 })),
  h("button", {}, "Open"));
  fill(main, h("h1", {}, said(app)), open, h("section", {}, h("h2", {}, "Users"), list));
  await paged(list, {
    signal, read: pages(path`/v1/apps/${app}/users`, "users", { pageSize: 200 }, signal),
    row: ({ id }) => h("li", {}, link([app, "users", id], said(id), { class: "row-link" })),
    empty: "This app has no user yet.",
  });
}
