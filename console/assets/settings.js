// Settings of an app: its configuration, its keys and its audit log. All of them take
// the verb admin.

import { call, get, pages, path, post } from "./api.js";
import { action, confirm, field, fill, h, link, paged, problem, said, time, toast } from "./dom.js";

// settings shows the three parts. Each stands alone: one that fails says so in its place.
export default async function settings(place) {
  const { main, app, signal } = place;
  const parts = [["Configuration", configuration], ["Keys", keys], ["Audit log", audit]].map(([title, part]) => {
    const section = h("section", { class: "card" }, h("h2", {}, title));
    return { section, ready: part(place, section) };
  });
  fill(main, h("h1", { class: "unseen" }, "Settings of ", said(app)), parts.map((p) => p.section));
  const outcomes = await Promise.allSettled(parts.map((p) => p.ready));
  if (signal.aborted) return;
  if (outcomes.every((o) => o.status === "rejected")) throw outcomes[0].reason; // no key, or none that may
  outcomes.forEach((o, i) => o.status === "rejected" && parts[i].section.append(problem(o.reason)));
}

// fault says what is wrong with a value by a schema of the API, and what could stand there
// instead: "" if nothing is. memoryd checks more when the value is saved.
function fault(value, schema, at, schemas) {
  if (schema.$ref) return fault(value, schemas[schema.$ref.split("/").at(-1)], at, schemas);
  if (schema.allOf || schema.anyOf) {
    const faults = (schema.allOf ?? schema.anyOf).map((s) => fault(value, s, at, schemas));
    return schema.allOf ? faults.find(Boolean) ?? "" : faults.every(Boolean) ? faults[0] : "";
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return `${at} is ${JSON.stringify(value)}: there are ${schema.enum.filter((v) => v != null).map((v) => JSON.stringify(v)).join(", ")}.`;
  }
  const type = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.includes(type) && !(type === "integer" && types.includes("number"))) {
    return `${at} is ${JSON.stringify(value).slice(0, 40)}: it takes ${types.filter((t) => t !== "null").join(" or ")}.`;
  }
  if (type === "array") {
    if (value.length > (schema.maxItems ?? Infinity)) return `${at} has ${value.length} elements: at most ${schema.maxItems}.`;
    return value.map((v, i) => fault(v, schema.items ?? {}, `${at}[${i}]`, schemas)).find(Boolean) ?? "";
  }
  if (type === "object") {
    const { properties = {}, additionalProperties: others, propertyNames: names } = schema;
    for (const [name, v] of Object.entries(value)) {
      const inner = at === "The configuration" ? name : `${at}.${name}`;
      const unknown = !(name in properties) && others === false && Object.keys(properties);
      const choices = unknown || names?.enum && !names.enum.includes(name) && names.enum;
      if (choices) return `There is no field ${JSON.stringify(inner)}: there are ${choices.join(", ")}.`;
      const wrong = fault(v, properties[name] ?? (typeof others === "object" ? others : {}), inner, schemas);
      if (wrong) return wrong;
    }
    const missing = (schema.required ?? []).find((name) => !(name in value));
    return missing ? `${at} lacks the field ${JSON.stringify(missing)}.` : "";
  }
  if (typeof value === "string" && [...value].length > (schema.maxLength ?? Infinity)) return `${at} is too long: at most ${schema.maxLength} characters.`;
  if (typeof value === "number" && (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity))) {
    return `${at} is ${value}: it takes ${schema.minimum ?? "any number"} to ${schema.maximum ?? "any"}.`;
  }
  return "";
}

// faultOf is that of the text of a configuration.
function faultOf(text, schemas) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error.message;
  }
  return fault(value, { ...schemas.ConfigFields, additionalProperties: false }, "The configuration", schemas);
}

async function configuration({ app, signal }, section) {
  const at = path`/v1/apps/${app}/config`;
  const [config, api] = await Promise.all([get(at, {}, signal), get("/openapi.json", {}, signal)]);
  const verdict = h("p", { class: "quiet", id: "config-verdict", "aria-live": "polite" });
  const input = h("textarea", {
    class: "code", rows: 14, spellcheck: "false", "aria-describedby": "config-verdict", value: JSON.stringify(config, null, 2), oninput: check,
  });
  const save = action("Save", async () => {
    const next = await call("PUT", at, { body: JSON.parse(input.value) });
    input.value = JSON.stringify(next, null, 2);
    toast(`Saved: this is revision ${next.revision}.`);
  }, { kind: "primary" });
  function check() {
    const wrong = faultOf(input.value, api.components.schemas);
    verdict.textContent = wrong || "This is a configuration. memoryd checks its values when it is saved.";
    verdict.classList.toggle("problem", Boolean(wrong));
    save.disabled = Boolean(wrong);
  }
  check();
  section.append(field("As JSON", input), verdict, h("div", { class: "row" }, save));
}

// create asks for what a key may do, and shows it once. The first key may do everything
// unless somebody says otherwise: without the verb admin it would lock everybody out.
async function create(app, first, again) {
  let made;
  const verbs = ["read", "write", "admin"];
  await confirm({
    title: "Make a key", verb: "Make it",
    content: [field("Name", h("input", { name: "name", maxlength: 256, autofocus: true, placeholder: "agent of the shop" })),
      field("For one user", h("input", { name: "user", maxlength: 256, placeholder: "all users" })),
      h("fieldset", { class: "row" }, h("legend", {}, "It may"), verbs.map((v) =>
        h("label", {}, h("input", { type: "checkbox", name: "can", value: v, checked: first || v === "read" }), v))),
      field("Expires after", h("input", { name: "ttl", placeholder: "720h, or never" })),
      h("p", { class: "quiet" }, "If it is the first key, memoryd is closed from then on: every caller must show one, and so must this page.")],
    run: async (form) => {
      const values = new FormData(form);
      const optional = (field, name) => values.get(name) ? { [field]: values.get(name) } : {};
      made = await post(path`/v1/apps/${app}/keys`, {
        can: values.getAll("can"), ...optional("name", "name"), ...optional("userId", "user"), ...optional("ttl", "ttl"),
      });
    },
  });
  if (made) await showOnce(made, "The new key");
  again();
}

// showOnce shows a secret that nothing shows again.
function showOnce(shown, title) {
  return confirm({
    title, verb: "I have kept it", kept: true, run: async () => {},
    content: [h("p", {}, "Keep it now: nothing shows it again."), h("pre", { class: "secret", tabindex: "0" }, shown.key)],
  });
}

async function keys({ app, signal, again }, section) {
  const list = h("ul", { class: "list" });
  section.append(h("div", { class: "row" }, action("Make a key", () => create(app, list.children.length === 0, again))), list);
  const at = (id) => `${path`/v1/apps/${app}/keys`}/${encodeURIComponent(id)}`;
  await paged(list, {
    signal, empty: "There is no key for this app.", read: pages(path`/v1/apps/${app}/keys`, "keys", {}, signal),
    row: (k) => h("li", { class: "row spread" }, h("div", {}, said(k.name || k.id),
      h("div", { class: "meta" }, h("code", {}, k.id), k.can.map((v) => h("span", { class: "tag" }, v)), k.userId ? ["user ", said(k.userId)] : "all users",
        "made ", time(k.createTime), k.lastUsedTime ? ["used ", time(k.lastUsedTime)] : "never used",
        k.expireTime && ["expires ", time(k.expireTime)], k.revokeTime && h("span", { class: "tag bad" }, "revoked"))),
    !k.revokeTime && h("div", { class: "row" }, action("Rotate", () => rotate(k)), action("Revoke", () => revoke(k), { kind: "danger quiet-danger" }))),
  });

  // rotate gives a key another secret.
  async function rotate(k) {
    let made;
    await confirm({
      title: "Rotate this key?", verb: "Rotate",
      content: [h("p", {}, said(k.name || k.id), " gets another secret."),
        field("The one before stays valid for", h("input", { name: "grace", placeholder: "0s", value: "24h" }))],
      run: async (form) => {
        const grace = new FormData(form).get("grace");
        made = await post(`${at(k.id)}/rotate`, grace ? { grace } : {});
      },
    });
    if (made) await showOnce(made, "The key from now on");
  }

  // revoke ends a key.
  function revoke(k) {
    return confirm({
      title: "Revoke this key?", verb: "Revoke", danger: true,
      content: h("p", {}, said(k.name || k.id), " is refused within a second, everywhere. Nothing makes it valid again."),
      run: async () => {
        await call("DELETE", at(k.id));
        toast("Revoked.");
        again();
      },
    });
  }
}

async function audit({ app, signal }, section) {
  const list = h("tbody", {});
  const table = h("table", {}, h("caption", { class: "unseen" }, "Who did what, newest first"),
    h("thead", {}, h("tr", {}, ["Time", "Who", "Action", "Outcome"].map((t) => h("th", { scope: "col" }, t)))), list);
  const frame = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Audit log" }, table);
  section.append(frame);
  // The rows of a table cannot stand beside what ends a list, which goes below the table.
  const after = { append: (...rows) => list.append(...rows), after: (end) => frame.after(end) };
  await paged(after, {
    signal, empty: "It has no entry. There is a log once there are keys.",
    read: pages(path`/v1/apps/${app}/audit`, "entries", { pageSize: 50 }, signal),
    row: (e) => h("tr", {}, h("td", {}, time(e.time)), h("td", {}, said(e.actor)),
      h("td", {}, said(e.action), e.userId && h("div", { class: "meta" }, link([app, "users", e.userId], said(e.userId)),
        e.sessionId && ["session ", said(e.sessionId)])),
      h("td", {}, h("span", { class: `tag ${e.outcome === "failed" ? "bad" : ""}` }, e.outcome), e.status ? ` ${e.status}` : "")),
  });
}
