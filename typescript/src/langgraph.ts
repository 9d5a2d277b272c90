// LangGraph.js: its store, long-term memory for graphs and agents, and memoryd's tools for a model. Items have the
// form that the package for Python gives them, so that both can share a store.

import { tool } from "@langchain/core/tools";
import type { StructuredTool } from "@langchain/core/tools";
import { BaseStore } from "@langchain/langgraph";
import type { Item, MatchCondition, Operation, OperationResults } from "@langchain/langgraph";
import { Client } from "./client.ts";
import { checkOptions } from "./core.ts";
import { AlreadyExists, InvalidArgument, NotFound, Unreachable } from "./errors.ts";
import { declaredTools } from "./tools.ts";
import type { MemoryToolsOptions } from "./tools.ts";
import type { Fields, Memory } from "./types.ts";

export type { MemoryToolsOptions } from "./tools.ts";

type Value = Record<string, any>;
type SearchItem = Item & { score?: number };
type Put = Extract<Operation, { value: unknown }>;
type Search = Extract<Operation, { namespacePrefix: unknown }>;
type List = Extract<Operation, { limit: number }>;

// The metadata of an item. Each field of its value is there under its own name behind `value.`, so that
// filters can compare it.
const labels = "langgraph.namespace"; // escaped, each with / behind it
const keyName = "langgraph.key";
const indexed = "langgraph.indexed"; // whether searches by meaning find the item
const putTime = "langgraph.putTime";
const valueName = "value.";

const mostFound = 100; // by one search of memoryd
const longestText = 64 << 10; // bytes of a fact
const pageSize = 1000;

/**
 * The tools of memoryd, for bindTools, ToolNode and agents. A ToolNode tells the model of an error.
 *
 * Your code chooses the user here, and the model never does.
 */
export async function memoryTools(
  client: Client,
  app: string,
  user: string,
  options: MemoryToolsOptions = {},
): Promise<StructuredTool[]> {
  const of = client.user(app, user);
  return (await declaredTools(client, options)).map(({ name, description, parameters }) =>
    tool(
      async (args: unknown, { signal }: { signal?: AbortSignal }) =>
        JSON.stringify(await of.callTool(name, args as Fields, { signal })),
      { name, description, schema: parameters },
    ),
  );
}

/** The options of a MemorydStore. */
export interface MemorydStoreOptions {
  /** Without one it is that of MEMORYD_URL and MEMORYD_KEY. */
  client?: Client;
  /** The place in a namespace that names the user of memoryd: 0 by default. */
  userLabel?: number;
  /**
   * The paths in a value whose text searches by meaning compare, unless put names others. Without them it is
   * the whole value.
   */
  fields?: readonly string[];
}

/**
 * A store of LangGraph. An item is a memory of the user whom its namespace names: contexts, tools and other
 * frameworks find it too.
 *
 * With userLabel 0 the user is ann in ["ann", "memories"], with 1 in ["memories", "ann"]. Every namespace has
 * such a label. A search and a list whose prefix ends before it reads all users of the app, which takes an
 * admin's key.
 */
export class MemorydStore extends BaseStore {
  private readonly client: Client;
  private readonly app: string;
  private readonly userLabel: number;
  private readonly fields: readonly string[];

  constructor(app: string, options: MemorydStoreOptions = {}) {
    super();
    const { client = new Client(), userLabel = 0, fields = ["$"] } = options;
    checkOptions("MemorydStore", options, { client, userLabel, fields });
    if (!Number.isInteger(userLabel) || userLabel < 0) {
      throw new InvalidArgument(`userLabel is ${userLabel}: want 0 or more`);
    }
    this.client = client;
    this.app = app;
    this.userLabel = userLabel;
    this.fields = fields;
  }

  /** Results in the order of operations. Reads see the store as it was before the puts, and the last put of a
   * key counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    // Labels are not checked here. BaseStore refuses those with dots and colons before it calls batch, and path
    // escapes all that a caller of batch itself may send, so that no two namespaces are one.
    const results: unknown[] = [];
    const puts = new Map<string, Put>();
    for (const op of operations) {
      if ("value" in op) {
        puts.set(JSON.stringify([...op.namespace, op.key]), op);
        results.push(undefined);
      } else if ("namespacePrefix" in op) {
        results.push(await this.found(op));
      } else if ("key" in op) {
        results.push(await this.item(op.namespace, op.key));
      } else {
        results.push(await this.namespaces(op as List));
      }
    }
    for (const put of puts.values()) await this.store(put);
    return results as OperationResults<Op>;
  }

  private user(namespace: readonly string[]): string {
    const user = namespace[this.userLabel];
    if (user === undefined) {
      throw new InvalidArgument(
        `the namespace ${JSON.stringify(namespace)} has no label at place ${this.userLabel}, which names the user: ` +
          "add one, or choose another userLabel for the store",
      );
    }
    return user;
  }

  private async item(namespace: string[], key: string): Promise<Item | null> {
    try {
      return itemOf(await this.client.user(this.app, this.user(namespace)).getMemory(await idOf(namespace, key)));
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  private async store({ namespace, key, value, index }: Put): Promise<void> {
    const user = this.client.user(this.app, this.user(namespace));
    const id = await idOf(namespace, key);
    if (value === null) {
      await user.deleteMemory(id).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
      return;
    }
    const text = index === false ? "" : textOf(value, index ?? this.fields);
    const metadata: Fields = {
      [labels]: path(namespace),
      [keyName]: key,
      [indexed]: text !== "",
      [putTime]: new Date().toISOString(),
    };
    for (const [name, v] of Object.entries(value)) metadata[valueName + name] = v;
    const fact = text || key || "-";
    try {
      // The time in the metadata makes it another request than all before, so that a memory of this id is a
      // conflict also if it began with the same value.
      await user.addMemory(fact, { id, metadata, ttl: 0 });
      return;
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
    // validTo: the item holds again if a later statement of the user has ended it.
    const changed = { fact, validTo: null, metadata, ttl: 0 };
    try {
      await twice(() => user.patchMemory(id, changed));
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      for await (const { action, revision } of user.listRevisions(id)) {
        if (action === "DELETED") continue; // it was deleted, or has expired
        // In one step, so that no reader and no failure between brings the old value back.
        await twice(() => user.rollbackMemory(id, revision, { change: changed }));
        return;
      }
      throw error; // its revisions have expired, and nothing can bring the memory back
    }
  }

  private async found(op: Search): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, limit = 10, offset = 0, query } = op;
    if (offset < 0 || limit < 0) {
      throw new InvalidArgument(`offset is ${offset} and limit ${limit}: neither may be below 0`);
    }
    const conditions = [`metadata.${quoted(keyName)}:*`];
    if (namespacePrefix.length > 0) {
      conditions.push(`metadata.${quoted(labels)} =~ ${quoted("^" + path(namespacePrefix))}`);
    }
    conditions.push(...conditionsOf(filter));
    const most = offset + limit;
    const users = await this.users(namespacePrefix);
    const found: { score: number | undefined; memory: Memory }[] = [];
    if (query) {
      const expression = [...conditions, `metadata.${quoted(indexed)} = true`].join(" AND ");
      // Some filters are compared here, so that more must come than are wanted.
      const topK = Object.keys(filter).length > 0 ? mostFound : Math.min(Math.max(most, 1), mostFound);
      for (const user of users) {
        const options = { filter: expression, topK, kinds: ["fact" as const], shared: false };
        found.push(...(await this.client.user(this.app, user).search(query, options)));
      }
      const passed = found.filter(({ memory }) => matches(valueOf(memory), filter));
      passed.sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
      found.splice(0, found.length, ...passed);
    }
    if (found.length < most) {
      // A query ranks items and leaves none out: those that have nothing in common with it follow.
      const known = new Set(found.map(({ memory }) => `${memory.userId}/${memory.id}`));
      const rest: Memory[] = [];
      for (const user of users) {
        // history: an item stays one if the user has said otherwise since.
        const pages = this.client.user(this.app, user).listMemories({
          filter: conditions.join(" AND "),
          kind: "fact",
          history: true,
          orderBy: "updateTime desc",
          // Some filters are compared here, so that a page must have more than are wanted.
          pageSize: Object.keys(filter).length > 0 ? pageSize : Math.min(most, pageSize),
        });
        let taken = found.length;
        for await (const memory of pages) {
          if (known.has(`${memory.userId}/${memory.id}`) || !matches(valueOf(memory), filter)) continue;
          rest.push(memory);
          if (++taken >= most) break;
        }
      }
      rest.sort((a, b) => (a.updateTime < b.updateTime ? 1 : -1));
      found.push(...rest.map((memory) => ({ score: query ? 0 : undefined, memory })));
    }
    return found.slice(offset, most).map(({ score, memory }) => ({
      ...itemOf(memory),
      ...(score !== undefined && { score }),
    }));
  }

  private async namespaces({ matchConditions = [], maxDepth, limit, offset }: List): Promise<string[][]> {
    const known = matchConditions.find(({ matchType, path }) => {
      const label = path[this.userLabel];
      return matchType === "prefix" && label !== undefined && label !== "*";
    });
    const users = known ? [known.path[this.userLabel]!] : await this.users([]);
    const found = new Map<string, string[]>();
    for (const user of users) {
      const options = { filter: `metadata.${quoted(keyName)}:*`, kind: "fact", history: true, pageSize };
      for await (const memory of this.client.user(this.app, user).listMemories(options)) {
        const namespace = namespaceOf(memory);
        if (!matchConditions.every((condition) => fits(condition, namespace))) continue;
        const cut = namespace.slice(0, maxDepth);
        found.set(path(cut), cut);
      }
    }
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, namespace]) => namespace);
    return sorted.slice(offset, offset + limit);
  }

  /** The users that namespaces with a prefix may name. */
  private async users(prefix: readonly string[]): Promise<string[]> {
    const user = prefix[this.userLabel];
    if (user !== undefined) return [user];
    return (await this.client.app(this.app).listUsers({ pageSize }).toArray()).map(({ id }) => id);
  }
}

/**
 * Makes a call that writes a whole item, and once more if its answer is lost: the item is then the same. The
 * client itself repeats no change, as most are of a part.
 */
async function twice(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof Unreachable && error.sent)) throw error;
    await write();
  }
}

/** The id of an item's memory. A hash, as ids have 256 bytes at most: of a list of JSON as Python writes it. */
async function idOf(namespace: readonly string[], key: string): Promise<string> {
  const ascii = (text: string) =>
    JSON.stringify(text).replace(/[^\0-~]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const bytes = new TextEncoder().encode(`[${[...namespace, key].map(ascii).join(", ")}]`);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return "langgraph-" + Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A namespace as text. Escaped labels have no character that a pattern reads otherwise. */
function path(namespace: readonly string[]): string {
  const escape = (c: string) => "%" + c.charCodeAt(0).toString(16).toUpperCase();
  return namespace.map((label) => encodeURIComponent(label).replace(/[!'()*]/g, escape) + "/").join("");
}

function namespaceOf({ metadata = {} }: Memory): string[] {
  return String(metadata[labels]).split("/").slice(0, -1).map(decodeURIComponent);
}

function valueOf({ metadata = {} }: Memory): Value {
  const fields = Object.entries(metadata).filter(([name]) => name.startsWith(valueName));
  return Object.fromEntries(fields.map(([name, v]) => [name.slice(valueName.length), v as unknown]));
}

function itemOf(memory: Memory): Item {
  const createdAt = new Date(memory.createTime);
  // The time of a put is the clock of the program that has put it, the other one memoryd's.
  const updated = new Date(memory.metadata?.[putTime] as string);
  const updatedAt = updated > createdAt ? updated : createdAt;
  const key = memory.metadata?.[keyName] as string;
  return { namespace: namespaceOf(memory), key, value: valueOf(memory), createdAt, updatedAt };
}

/** The text of a value at some paths, for search by meaning and for models to read. */
function textOf(value: Value, paths: readonly string[]): string {
  const texts = paths.flatMap((at) => (at === "" || at === "$" ? [whole(value)] : textsAt(value, at)));
  const text = texts.filter((t) => t.trim() !== "").join("\n");
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= longestText) return text;
  return new TextDecoder().decode(bytes.slice(0, longestText)).replace(/\ufffd+$/, ""); // a cut character
}

/** The texts at a path such as metadata.title, chapters[*].content or authors[0].name. */
function textsAt(value: unknown, at: string): string[] {
  let found: unknown[] = [value];
  for (const step of at.replace(/\[(-?\d+|\*)\]/g, ".[$1]").split(".").filter(Boolean)) {
    const place = /^\[(.*)\]$/.exec(step)?.[1];
    found = found.flatMap((v) => {
      if (place === "*") return Array.isArray(v) ? (v as unknown[]) : Object.values(v ?? {});
      if (place !== undefined) return Array.isArray(v) ? [v.at(Number(place)) as unknown] : [];
      return typeof v === "object" && v !== null ? [(v as Value)[step] as unknown] : [];
    });
  }
  return found.flatMap((v) => {
    if (v === undefined || v === null) return [];
    return [typeof v === "string" ? v : JSON.stringify(v)];
  });
}

/** A whole value as text: that of its only field, or a line for each. */
function whole(value: Value): string {
  const fields = Object.entries(value).filter(([, v]) => v !== null && v !== undefined);
  if (fields.length === 1 && typeof fields[0]![1] === "string") return fields[0]![1];
  return fields.map(([name, v]) => `${name}: ${typeof v === "string" ? v : JSON.stringify(v)}`).join("\n");
}

/** A text as filters have it. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

const signs: Record<string, string> = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

/** The parts of a filter that memoryd can compare. matches compares all of them again. */
function conditionsOf(filter: Value): string[] {
  const found: string[] = [];
  for (const [name, wanted] of Object.entries(filter)) {
    for (const [operator, operand] of Object.entries(hasOperators(wanted) ? wanted : { $eq: wanted })) {
      const number = typeof operand === "number" && Number.isFinite(operand);
      const equal = operator === "$eq" && (number || typeof operand === "string" || typeof operand === "boolean");
      const sign = equal ? "=" : number ? signs[operator] : undefined;
      if (sign === undefined) continue;
      const text = typeof operand === "string" ? quoted(operand) : String(operand);
      found.push(`metadata.${quoted(valueName + name)} ${sign} ${text}`);
    }
  }
  return found;
}

function isObject(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOperators(wanted: unknown): wanted is Value {
  return isObject(wanted) && Object.keys(wanted).some((name) => name.startsWith("$"));
}

/** Whether a value passes a filter, as LangGraph's stores compare it. */
function matches(value: unknown, filter: Value): boolean {
  return isObject(value) && Object.entries(filter).every(([name, wanted]) => equals(value[name], wanted));
}

function equals(value: unknown, wanted: unknown): boolean {
  if (hasOperators(wanted)) return Object.entries(wanted).every(([name, operand]) => compares(value, name, operand));
  if (isObject(wanted)) return matches(value, wanted);
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((w, i) => equals(value[i], w));
  }
  return (value ?? null) === (wanted ?? null);
}

function compares(value: unknown, name: string, operand: unknown): boolean {
  if (name === "$eq") return equals(value, operand);
  if (name === "$ne") return !equals(value, operand);
  if (!(name in signs)) {
    throw new InvalidArgument(`the operator ${name} of a filter: want $eq, $ne, $gt, $gte, $lt or $lte`);
  }
  const same = typeof value === typeof operand && (typeof value === "string" || typeof value === "number");
  if (!same) return false;
  const [a, b] = [value as number, operand as number];
  return name === "$gt" ? a > b : name === "$gte" ? a >= b : name === "$lt" ? a < b : a <= b;
}

/** Whether a namespace begins or ends with a path, where * is any label. */
function fits({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (namespace.length < path.length) return false;
  const from = matchType === "suffix" ? namespace.length - path.length : 0;
  return path.every((wanted, i) => wanted === "*" || wanted === namespace[from + i]);
}
