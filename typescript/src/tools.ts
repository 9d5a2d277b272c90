// memoryd's tools for models, as the modules for frameworks declare them.

import type { Client } from "./client.ts";
import { checkOptions } from "./core.ts";
import { InvalidArgument } from "./errors.ts";
import type { Fields } from "./types.ts";

/**
 * The tools that an agent gets unless it names others. It reads: tools that store and delete are for agents whose
 * program says so.
 */
const defaultNames: readonly string[] = ["search_memory"];

/** The options of memoryTools. */
export interface MemoryToolsOptions {
  /** Some of load_memory, search_memory, remember and forget: search_memory alone by default. */
  names?: readonly string[];
}

/** A tool as memoryd declares it to models. */
export interface Declared {
  name: string;
  description: string;
  /** The JSON schema of its arguments. */
  parameters: Fields;
}

/** The tools that options name, in that order, with memoryd's own texts. */
export async function declaredTools(client: Client, options: MemoryToolsOptions): Promise<Declared[]> {
  const { names } = options;
  checkOptions("memoryTools", options, { names });
  const known = new Map((await client.listTools()).tools.map(({ function: f }) => [f.name, f]));
  return (names ?? defaultNames).map((name) => {
    const tool = known.get(name);
    if (!tool) {
      throw new InvalidArgument(`memoryd has no tool ${name}: want some of ${[...known.keys()].join(", ")}`);
    }
    return tool;
  });
}
