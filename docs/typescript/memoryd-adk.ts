// Memory of ADK agents in memoryd.

import type { BaseMemoryService, SearchMemoryRequest, SearchMemoryResponse, Session } from "@google/adk";
import { memoryd, scope } from "./memoryd.ts";

/** ADK's PRELOAD_MEMORY puts texts between such tags as they are. */
const unfenced = (text: string) => text.replace(/<(?=\s*\/?\s*PAST_CONVERSATIONS)/gi, "&lt;");

export class MemorydMemoryService implements BaseMemoryService {
  private readonly wait: boolean;

  /** wait: adding answers when facts are extracted, too; what was said can be found in any case. */
  constructor({ wait = false } = {}) {
    this.wait = wait;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const events = session.events.map((event) => ({
      ...event,
      timestamp: new Date(event.timestamp).toISOString(), // ADK has milliseconds here, and seconds in Python
      content: event.content && {
        ...event.content,
        parts: event.content.parts?.map(({ inlineData, ...part }) => part), // pictures and sound; memory is of words
      },
    }));
    const path = `${scope(session.appName, session.userId)}/memories/ingest?wait=${this.wait}`;
    for (let i = 0; i < events.length; i += 1000) { // a request may have 10,000 events and 32 MiB
      await memoryd(path, { sessionId: session.id, events: events.slice(i, i + 1000) });
    }
  }

  async searchMemory({ appName, userId, query }: SearchMemoryRequest): Promise<SearchMemoryResponse> {
    if (!query.trim()) return { memories: [] };
    const found = await memoryd(`${scope(appName, userId)}/memories/search`, { query: query.slice(0, 4000) });
    return {
      memories: found.memories.map(({ memory: { fact, author, timestamp } }: any) => ({
        content: { role: author === "user" ? "user" : "model", parts: [{ text: unfenced(fact.slice(0, 4000)) }] },
        author,
        timestamp,
      })),
    };
  }
}
