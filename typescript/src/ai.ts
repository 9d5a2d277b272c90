// The AI SDK: memoryd's tools for a model, and a middleware that puts memories before the user's turn.

import { dynamicTool, jsonSchema } from "ai";
import type { LanguageModelMiddleware, ToolSet } from "ai";
import type { User } from "./calls.ts";
import type { Client } from "./client.ts";
import { checkOptions, question } from "./core.ts";
import { declaredTools } from "./tools.ts";
import type { MemoryToolsOptions } from "./tools.ts";

export type { MemoryToolsOptions } from "./tools.ts";

/**
 * The tools of memoryd, for generateText and streamText.
 *
 * Your code chooses the user here, and the model never does.
 */
export async function memoryTools(
  client: Client,
  app: string,
  user: string,
  options: MemoryToolsOptions = {},
): Promise<ToolSet> {
  const of = client.user(app, user);
  const tools: ToolSet = {};
  for (const { name, description, parameters } of await declaredTools(client, options)) {
    tools[name] = dynamicTool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: async (args, { abortSignal }) => {
        return await of.callTool(name, args as Record<string, unknown>, { signal: abortSignal });
      },
    });
  }
  return tools;
}

/** The options of preloadMemory. */
export interface PreloadMemoryOptions {
  /** Gets the error of a memoryd that cannot be asked: the model then goes on without memories. */
  onError?: (error: unknown) => void;
}

/**
 * A middleware for wrapLanguageModel, which searches memory with the user's latest words and puts what it
 * finds before them. The messages of the program stay as they are.
 *
 * If memoryd cannot be asked the call of the model fails, unless there is an onError.
 */
export function preloadMemory(user: User, options: PreloadMemoryOptions = {}): LanguageModelMiddleware {
  const { onError } = options;
  checkOptions("preloadMemory", options, { onError });
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      const at = params.prompt.findLastIndex(({ role }) => role === "user");
      const turn = params.prompt[at];
      if (turn?.role !== "user") return params;
      const query = turn.content.map((part) => (part.type === "text" ? part.text : "")).join("\n").trim();
      const text = await preloaded(user, query, params.abortSignal, onError);
      if (text === "") return params;
      const before = { type: "text" as const, text: `${text}\n` };
      return { ...params, prompt: params.prompt.with(at, { ...turn, content: [before, ...turn.content] }) };
    },
  };
}

/** What memoryd has to put before a turn: nothing if nothing fits, or if the search takes too long. */
async function preloaded(
  user: User,
  query: string,
  signal: AbortSignal | undefined,
  onError: PreloadMemoryOptions["onError"],
): Promise<string> {
  if (query === "") return "";
  try {
    const { text } = await user.callTool("preload_memory", { query: question(query) }, { signal });
    return typeof text === "string" ? text : "";
  } catch (error) {
    if (!onError || signal?.aborted) throw error;
    onError(error);
    return "";
  }
}
