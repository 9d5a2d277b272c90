// Calls memoryd's HTTP API. Needs Node only.

const url = process.env.MEMORYD_URL ?? "http://127.0.0.1:8080";
const headers = { Authorization: `Bearer ${process.env.MEMORYD_KEY ?? ""}` }; // where memoryd wants a key

/** One call: a POST if there is a body, else a GET. */
export async function memoryd(path: string, body?: unknown): Promise<any> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url + path, { ...init, headers, signal: AbortSignal.timeout(40_000) });
  if (!response.ok) throw new Error(`memoryd: ${response.status}: ${await response.text()}`); // the body names the error
  return response.json();
}

/** The path of a scope: a user of an app. */
export function scope(app: string, user: string): string {
  for (const id of [app, user]) {
    if (["", ".", ".."].includes(id)) throw new Error(`"${id}" cannot be an id`); // it would name another path
  }
  return `/v1/apps/${encodeURIComponent(app)}/users/${encodeURIComponent(user)}`;
}
