// Calls of memoryd's HTTP API. The key is in the session storage of the tab alone: it
// goes when the tab is closed.

// The root of memoryd: this module is served at its /console/api.js.
const root = new URL("..", import.meta.url);
const keyName = "memoryd.key";

// APIError is an answer that is an error.
export class APIError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "APIError";
    this.code = code;
  }
}

// Away is the failure to get any answer, or a memoryd that cannot serve now.
export class Away extends Error {
  constructor(message, seconds = 2) {
    super(message);
    this.name = "Away";
    this.seconds = seconds;
  }
}

// key returns the key of this tab, "" if there is none.
export function key() {
  return sessionStorage.getItem(keyName) ?? "";
}

// setKey keeps a key for this tab; "" forgets it. A text that no header can have is an
// error.
export function setKey(text) {
  if (/[^!-~]/.test(text)) {
    throw new Error("This is no key: it has a space, or a character beyond ASCII, which may be invisible.");
  }
  if (text) sessionStorage.setItem(keyName, text);
  else sessionStorage.removeItem(keyName);
}

// path makes a path of segments that may have any characters.
export function path(strings, ...values) {
  return strings.reduce((out, s, i) => out + encodeURIComponent(values[i - 1]) + s);
}

// send makes one call, and returns the response if it is no error. The key goes into a
// header, never into a URL.
async function send(method, to, { body, query, signal } = {}) {
  const url = new URL(to.replace(/^\//, ""), root);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== "" && value != null && value !== false) url.searchParams.set(name, value);
  }
  const headers = {};
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(url, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Away("memoryd does not answer.");
  }
  if (response.ok) return response;
  let message = `HTTP ${response.status}`;
  try {
    message = (await response.json()).error.message;
  } catch {
    // An answer of something between the page and memoryd has another form.
  }
  if (response.status === 429 || response.status >= 502 && response.status <= 504) {
    throw new Away(message, Number(response.headers.get("Retry-After")) || 2);
  }
  throw new APIError(response.status, message);
}

// call makes one call and returns its JSON; null without a body.
export async function call(method, to, options) {
  const response = await send(method, to, options);
  return response.status === 204 ? null : response.json();
}

// get reads.
export function get(to, query, signal) {
  return call("GET", to, { query, signal });
}

// post calls with a body.
export function post(to, body = {}, { query, signal } = {}) {
  return call("POST", to, { body, query, signal });
}

// text reads an answer that is no JSON.
export async function text(to, signal) {
  return (await send("GET", to, { signal })).text();
}

// pages makes a reader of a list for dom.paged: field is the name of the list.
export function pages(to, field, query, signal) {
  return async (token) => {
    const page = await get(to, { ...query, pageToken: token }, signal);
    return { ...page, items: page[field], next: page.nextPageToken };
  };
}

// each reads all items of a list with a reader of pages.
export async function* each(read) {
  for (let token = ""; token != null;) {
    const page = await read(token);
    yield* page.items;
    token = page.next ?? null;
  }
}

// scopePath is the path of a user.
export function scopePath({ app, user }) {
  return path`/v1/apps/${app}/users/${user}`;
}
