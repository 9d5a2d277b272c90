// The Agents SDK of OpenAI: sessions in memoryd, of which memories are made.

import type { AgentInputItem, Session } from "@openai/agents";
import { Client } from "./client.ts";
import { History } from "./history.ts";
import type { NewEvent } from "./types.ts";

/** The field of an event that has the item: the package for Python has it too. */
const field = "openaiAgents";
const roles: Record<string, string> = { user: "user", assistant: "model" };

/** The options of a MemorydSession. */
export interface MemorydSessionOptions {
  /** Without one it is that of MEMORYD_URL and MEMORYD_KEY. */
  client?: Client;
  /** Whether memories are made of the items: they are by default. */
  remember?: boolean;
}

/**
 * A session of the Agents SDK. Items come back as they were added.
 *
 * popItem takes the last item back, with the memories made of it. clearSession deletes the session, and the
 * memories made of it stay.
 */
export class MemorydSession implements Session {
  private readonly id: string;
  private readonly history: History;

  /** @param id The id of the session, which is made with its first item. */
  constructor(app: string, user: string, id: string, options: MemorydSessionOptions = {}) {
    const { client = new Client(), remember = true } = options;
    this.id = id;
    this.history = new History(client.user(app, user), id, field, remember);
  }

  async getSessionId(): Promise<string> {
    return this.id;
  }

  /** The items, oldest first: the last ones if there is a limit. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    return (await this.history.read(limit)) as AgentInputItem[];
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    await this.history.add(items.map((item) => ({ item, read: read(item) })));
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    return (await this.history.pop()) as AgentInputItem | undefined;
  }

  async clearSession(): Promise<void> {
    await this.history.clear();
  }
}

/** The fields of an event that memoryd reads: who spoke, the text, and calls of tools. */
function read(item: AgentInputItem): NewEvent {
  switch (item.type) {
    case undefined:
    case "message": {
      const role = roles[item.role] ?? "system";
      return { content: { role, parts: texts(item.content).map((text) => ({ text })) } };
    }
    case "function_call": {
      const functionCall = { id: item.callId, name: item.name, args: parsed(item.arguments) };
      return { content: { role: "model", parts: [{ functionCall }] } };
    }
    case "function_call_result": {
      const functionResponse = { id: item.callId, name: item.name, response: { result: item.output } };
      return { content: { role: "tool", parts: [{ functionResponse }] } };
    }
    default:
      return { content: { role: "model", parts: [] } }; // reasoning, and calls of hosted tools
  }
}

function texts(content: string | readonly object[]): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : []));
}

/** The arguments of a call as an object. A model may have written something else. */
function parsed(args: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(args || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // as it is written
  }
  return { arguments: args };
}
