// The Agents SDK of OpenAI: sessions in memoryd, of which memories are made, and memoryd's tools for an agent.

import { tool } from "@openai/agents";
import type { AgentInputItem, FunctionTool, Session } from "@openai/agents";
import { Client } from "./client.ts";
import { checkOptions } from "./core.ts";
import { MemorydError } from "./errors.ts";
import { History } from "./history.ts";
import { declaredTools } from "./tools.ts";
import type { MemoryToolsOptions } from "./tools.ts";
import type { NewEvent } from "./types.ts";

export type { MemoryToolsOptions } from "./tools.ts";

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
    checkOptions("MemorydSession", options, { client, remember });
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

/**
 * The tools of memoryd, for the tools of an Agent.
 *
 * Your code chooses the user here, and the model never does.
 */
export async function memoryTools(
  client: Client,
  app: string,
  user: string,
  options: MemoryToolsOptions = {},
): Promise<FunctionTool[]> {
  const of = client.user(app, user);
  return (await declaredTools(client, options)).map(({ name, description, parameters }) =>
    tool({
      name,
      description,
      parameters: parameters as any, // the SDK's type has only schemas that take more fields
      strict: false, // optional arguments may be left out
      execute: async (args, _context, details) => {
        try {
          return JSON.stringify(await of.callTool(name, args as Record<string, unknown>, { signal: details?.signal }));
        } catch (error) {
          if (error instanceof MemorydError) return JSON.stringify({ error: error.message }); // the model may mend it
          throw error;
        }
      },
    }),
  );
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
