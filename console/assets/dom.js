// Elements, texts, times and dialogs. All text reaches the page through text nodes: nothing in
// the console makes markup of a string, and the page's policy would refuse it.

import { setKey } from "./api.js";

// h makes an element. Properties that begin with "on" are listeners; null and false
// leave an attribute out, true sets it without a value. Children are nodes, texts, lists
// of these, and null.
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child != null && child !== false) element.append(child);
  }
}

// fill replaces the children of an element.
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

// said shows words that somebody said or a model wrote. They keep their own direction,
// and cannot reorder what stands beside them.
export function said(text, kind = "") {
  return h("bdi", { class: `said ${kind}`, dir: "auto" }, text);
}

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const moments = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
});

// time shows a moment in the zone of the reader. The title has all of it.
export function time(text, { day = false } = {}) {
  if (!text) return null;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return said(text);
  return h("time", { datetime: text, title: at.toString() }, (day ? days : moments).format(at));
}

// zone is the time zone of the reader, in which days begin and controls of times count.
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Mistake is a parameter of the address that cannot be read, in words for its place.
export class Mistake extends Error {}

// day reads a day of the address: "" stays "". Another text than 2026-11-23 is a Mistake.
export function day(name, text) {
  if (text && (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(new Date(`${text}T00:00:00`).getTime()))) {
    throw new Mistake(`${name}=${text} in the address is no day: write it as 2026-11-23. Days are those of this browser, ${zone}.`);
  }
  return text ?? "";
}

// moment reads a time of the address: "" stays "". It must say its zone, since the address
// may have come from somebody in another one.
export function moment(name, text) {
  if (!text) return "";
  const at = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(at.getTime())) {
    throw new Mistake(`${name}=${text} in the address is no time: write it as 2026-11-23T18:30:00Z.`);
  }
  if (!/(?:Z|[+-]\d\d:\d\d)$/.test(text)) {
    throw new Mistake(`${name}=${text} in the address says no zone: write it as ${text}Z for UTC, or ${text}+01:00.`);
  }
  return at.toISOString();
}

const numbers = new Intl.NumberFormat("en-GB");

// count says how many things there are.
export function count(n, one, many = `${one}s`) {
  return `${numbers.format(n)} ${n === 1 ? one : many}`;
}

// href is a place of the console: a list of segments, and parameters.
export function href(segments, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== "" && v != null && v !== false));
  const text = query.toString();
  return `#/${segments.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

// link leads to a place of the console.
export function link(segments, text, { query, ...properties } = {}) {
  return h("a", { href: href(segments, query), ...properties }, text);
}

// topicNames are the built-in topics in words.
const topicNames = {
  USER_PERSONAL_INFO: "Personal", USER_PREFERENCES: "Preference",
  KEY_CONVERSATION_DETAILS: "Detail", EXPLICIT_INSTRUCTIONS: "Instruction",
};

// topicName is the label of a topic.
export function topicName(topic) {
  return topicNames[topic] ?? topic;
}

// builtInTopics are the labels that every app has.
export const builtInTopics = Object.keys(topicNames);

// announce tells screen readers a change that is seen on the page anyway.
export function announce(text) {
  const place = document.getElementById("said");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 50); // the same text twice is a change too
}

// toast tells the outcome of an action, with a button that takes it back if there is
// one. It stays until it is dismissed or another one comes: an undo has no deadline.
export function toast(text, undo) {
  const note = h("div", { class: "toast" }, h("span", {}, text),
    undo && h("button", {
      class: "plain", onclick: async (event) => {
        event.target.disabled = true;
        try {
          await withKey(undo);
        } catch (error) {
          toast(`Not undone: ${error.message}`);
        }
      },
    }, "Undo"),
    h("button", { class: "plain", "aria-label": "Dismiss", onclick: () => note.remove() }, "×"));
  document.getElementById("toasts").replaceChildren(note);
}

// action is a button. It is disabled while run runs, and shows an error of it beside itself.
export function action(text, run, { kind = "" } = {}) {
  const button = h("button", {
    type: "button", class: kind, onclick: async () => {
      button.disabled = true;
      button.parentElement?.querySelector(":scope > .problem")?.remove();
      try {
        await withKey(run);
      } catch (error) {
        if (error.name !== "AbortError") button.after(problem(error));
      } finally {
        button.disabled = false;
        // A disabled button loses the focus, and a dialog cannot give it back to one.
        if (document.activeElement === document.body) {
          (button.isConnected ? button : document.querySelector("aside.detail") ?? document.getElementById("main")).focus({ preventScroll: true });
        }
      }
    },
  }, text);
  return button;
}

// problem shows an error in place.
export function problem(error) {
  return h("p", { class: "problem", role: "alert" }, said(error.message));
}

// withKey runs an action, and once more with each key that somebody signs in with after a
// 401. The page stays as it is meanwhile, so that nothing typed is lost.
async function withKey(run) {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (error.code !== 401 || !await askKey()) throw error;
    }
  }
}

// askKey asks for a key above all that is open, and reports whether the tab has it now.
function askKey() {
  return confirm({
    title: "Sign in again", verb: "Sign in",
    content: [h("p", {}, "memoryd takes no call with the key of this tab, or needs one. What you have typed stays."), keyField()],
    run: async (form) => setKey(new FormData(form).get("key").trim()),
  });
}

// keyField is the control that a key is typed into.
export function keyField() {
  return field("Key or token",
    h("input", { name: "key", type: "password", required: true, autocomplete: "off", spellcheck: "false" }));
}

// confirm asks before a change. content says what will change; run makes it. The dialog
// stays open with the error if run fails, so that nothing typed is lost.
// With kept it has no other way out than the verb.
export function confirm({ title, content, verb, danger, kept, run }) {
  return new Promise((resolve) => {
    const error = h("div", {});
    let done = false, running = false;
    const submit = h("button", { type: "submit", class: danger ? "danger" : "primary" }, verb);
    const form = h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = running = true;
        fill(error);
        try {
          await withKey(() => run(form));
          done = true;
        } catch (failure) {
          fill(error, problem(failure));
          if (!dialog.open) toast(failure.message);
        }
        submit.disabled = running = false;
        if (!dialog.open) resolve(done); // it was closed meanwhile
        else if (done) dialog.close();
      },
    }, h("h2", {}, title), content, error,
    h("div", { class: "row end" },
      !kept && h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), submit));
    const dialog = h("dialog", {
      class: kept ? "kept" : null, "aria-label": title,
      onkeydown: (event) => { if (kept && event.key === "Escape") event.preventDefault(); },
      onclose: () => {
        dialog.remove();
        if (!running) resolve(done);
      },
    }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}

// paged fills a list page by page: the next page is read when its end comes near, or
// by the button. read returns {items, next}; row makes an element of an item.
export async function paged(list, { read, row, empty, signal }) {
  const more = h("button", { type: "button", class: "more", onclick: () => load() }, "Show more");
  const end = h("div", { class: "end-of-list" });
  list.after(end);
  let next = "", loading = false, shown = 0;
  const near = new IntersectionObserver((entries) => {
    if (entries.some((e) => e.isIntersecting)) load();
  }, { rootMargin: "1200px" });
  signal?.addEventListener("abort", () => near.disconnect());
  async function load() {
    if (loading || next == null) return;
    loading = true;
    more.disabled = true;
    near.disconnect();
    try {
      const page = await read(next);
      list.append(...page.items.map(row));
      shown += page.items.length;
      next = page.next || null;
      fill(end, next ? more : shown === 0 ? h("p", { class: "empty" }, empty) : null);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (shown === 0) throw error;
      fill(end, problem(error), more);
      return;
    } finally {
      loading = false;
      more.disabled = false;
    }
    if (next) near.observe(end);
  }
  await load();
}

// field is a labelled control.
export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", {}, label), control, hint && h("small", {}, hint));
}

// select is a control with options: pairs of a value and a text.
export function select(name, options, value, properties = {}) {
  return h("select", { name, ...properties },
    options.map(([v, text]) => h("option", { value: v, selected: v === (value ?? "") }, text)));
}

// goTo leads to a user by name, for keys that may not list them.
export function goTo() {
  return h("form", {
    class: "row", onsubmit: (event) => {
      event.preventDefault();
      const names = new FormData(event.target);
      location.hash = href([names.get("app"), "users", names.get("user")]);
    },
  }, h("label", { class: "field" }, h("span", {}, "App"), h("input", { name: "app", required: true, maxlength: 256 })),
  h("label", { class: "field" }, h("span", {}, "User"), h("input", { name: "user", required: true, maxlength: 256 })),
  h("button", {}, "Open"));
}
