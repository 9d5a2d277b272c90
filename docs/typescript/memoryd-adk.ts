// Memory of ADK agents in memoryd.

import type { BaseMemoryService, SearchMemoryRequest, SearchMemoryResponse, Session } from "@google/adk";
import { memoryd, scope } from "./memoryd.ts";

/** Escapes the tags between which ADK's PRELOAD_MEMORY puts texts, which it begins with a line "author: text". */
const unfenced = (text: string) =>
  text.replace(/<(?=\s*\/?\s*PAST_CONVERSATIONS)/gi, "&lt;").replaceAll("\n", "\n  ");

export class MemorydMemoryService implements BaseMemoryService {
  private readonly wait: boolean;

  /** wait: adding waits for facts too. Without it turns can be found at once, and facts follow. */
  constructor({ wait = false } = {}) {
    this.wait = wait;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const events = session.events.map((event) => ({
      ...event,
      timestamp: new Date(event.timestamp).toISOString(), // milliseconds in this ADK, seconds in Python's
      content: event.content && {
        ...event.content,
        parts: event.content.parts?.map(({ inlineData, ...part }) => part), // only text is remembered
      },
    }));
    const path = `${scope(session.appName, session.userId)}/memories/ingest?wait=${this.wait}`;
    for (let i = 0; i < events.length; i += 1000) { // a request takes 10,000 events and 32 MiB
      await memoryd(path, { sessionId: session.id, events: events.slice(i, i + 1000) });
    }
  }

  async searchMemory({ appName, userId, query }: SearchMemoryRequest): Promise<SearchMemoryResponse> {
    if (!query.trim()) return { memories: [] };
    // A tool's answer has no characters that a model could read and no person see.
    const path = `${scope(appName, userId)}/tools/load_memory`;
    const { result } = await memoryd(path, { args: { query: query.slice(0, 4000) } });
    if (result.error) throw new Error(result.error);
    return {
      memories: result.memories.map(({ content: { role, parts }, author, timestamp }: any) => ({
        content: { role, parts: [{ text: unfenced(parts[0].text) }] },
        author,
        timestamp,
      })),
    };
  }
}
