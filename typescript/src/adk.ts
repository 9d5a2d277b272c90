// Services of Google's Agent Development Kit: sessions and memory of agents in memoryd.

import { BaseSessionService, createEvent } from "@google/adk";
import type {
  AppendEventRequest,
  BaseMemoryService,
  CreateSessionRequest,
  DeleteSessionRequest,
  Event,
  GetSessionRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  MemoryEntry,
  SearchMemoryRequest,
  SearchMemoryResponse,
  Session,
} from "@google/adk";
import { Client } from "./client.ts";
import { checkOptions, question, segment } from "./core.ts";
import { MemorydError, NotFound } from "./errors.ts";
import type { Fields, NewEvent, Session as Stored } from "./types.ts";

/** How many events go in one request, which takes 10,000 and 32 MiB. */
const batch = 1000;

/** Sessions of ADK in memoryd. Those of ADK for other languages can be read and continued. */
export class SessionService extends BaseSessionService {
  private readonly client: Client;

  /** @param client Without one it is that of MEMORYD_URL and MEMORYD_KEY. */
  constructor(client: Client = new Client()) {
    super();
    this.client = client;
  }

  /** Makes a session. An id that is in use fails with AlreadyExists. */
  override async createSession({ appName, userId, state, sessionId }: CreateSessionRequest): Promise<Session> {
    const options = state === undefined ? {} : { state };
    return session(await this.client.user(appName, userId).createSession(sessionId?.trim() || undefined, options));
  }

  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const { appName, userId, sessionId, config } = request;
    const options = {
      ...(config?.numRecentEvents && { numRecentEvents: config.numRecentEvents }),
      ...(config?.afterTimestamp && { after: new Date(config.afterTimestamp) }),
    };
    const user = this.client.user(appName, userId);
    try {
      segment("session", sessionId);
    } catch {
      return undefined; // no session can have this id
    }
    try {
      return session(await user.getSession(sessionId, options));
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** Lists sessions without their events. Without a user that takes an admin's key. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { appName, userId, limit, offset = 0, page, order } = request;
    const pages =
      userId === undefined
        ? this.client.app(appName).listAppSessions({ pageSize: 1000 })
        : this.client.user(appName, userId).listSessions({ pageSize: 1000 });
    const all = (await pages.toArray()).map(session); // the answer has their number
    const turn = order === "desc" ? -1 : 1;
    if (order !== undefined) {
      all.sort((a, b) => turn * (a.lastUpdateTime - b.lastUpdateTime) || (a.id < b.id ? -1 : 1));
    }
    if (limit === undefined) {
      const number = all.length;
      return { sessions: all.slice(offset), page: 1, limit: number, totalItems: number, totalPages: number && 1 };
    }
    const from = page === undefined ? offset : (page - 1) * limit;
    return {
      sessions: all.slice(from, from + limit),
      page: page ?? (limit === 0 ? 1 : Math.floor(from / limit) + 1),
      limit,
      totalItems: all.length,
      totalPages: limit === 0 ? 0 : Math.ceil(all.length / limit),
    };
  }

  override async deleteSession({ appName, userId, sessionId }: DeleteSessionRequest): Promise<void> {
    await this.client.user(appName, userId).deleteSession(sessionId);
  }

  /**
   * Appends an event, whose state is stored with it. One of an id that the session has already changes
   * nothing there: the first stays.
   */
  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial) return event;
    const user = this.client.user(session.appName, session.userId);
    const stored = await user.appendEvents(session.id, sent(event)); // first: if it fails the session stays as it is
    const appended = await super.appendEvent({ session, event });
    session.lastUpdateTime = Date.parse(stored.lastUpdateTime);
    return appended;
  }
}

/** The options of a MemoryService. */
export interface MemoryServiceOptions {
  /** Adding waits for facts too. Without it turns can be found at once, and facts follow. */
  wait?: boolean;
}

/** Memory of ADK in memoryd. */
export class MemoryService implements BaseMemoryService {
  private readonly client: Client;
  private readonly wait: boolean;

  /** @param client Without one it is that of MEMORYD_URL and MEMORYD_KEY. */
  constructor(client: Client = new Client(), options: MemoryServiceOptions = {}) {
    const { wait = false } = options;
    checkOptions("MemoryService", options, { wait });
    this.client = client;
    this.wait = wait;
  }

  /** Remembers the events of a session. Those that memoryd knows change nothing. */
  async addSessionToMemory({ appName, userId, id, events }: Session): Promise<void> {
    await this.addEventsToMemory({ appName, userId, sessionId: id, events });
  }

  /** Remembers events, such as the latest of a session. */
  async addEventsToMemory(request: {
    appName: string;
    userId: string;
    events: Event[];
    sessionId?: string;
  }): Promise<void> {
    const { appName, userId, events, sessionId = "unknown" } = request;
    const user = this.client.user(appName, userId);
    for (let i = 0; i < events.length; i += batch) {
      await user.ingest(sessionId, events.slice(i, i + batch).map(remembered), { wait: this.wait });
    }
  }

  /** Stores each entry as a fact. A repeated call stores it again. */
  async addMemory(request: {
    appName: string;
    userId: string;
    memories: MemoryEntry[];
    customMetadata?: Record<string, unknown>;
  }): Promise<void> {
    const user = this.client.user(request.appName, request.userId);
    for (const { content, author } of request.memories) {
      const fact = (content.parts ?? []).map(({ text }) => text ?? "").join(" ").trim();
      await user.addMemory(fact, {
        ...(author !== undefined && { author }),
        ...(request.customMetadata && { metadata: request.customMetadata }),
      });
    }
  }

  async searchMemory({ appName, userId, query }: SearchMemoryRequest): Promise<SearchMemoryResponse> {
    if (!query.trim()) return { memories: [] };
    // A tool's answer has no characters that a model could read and no person see.
    const result = await this.client.user(appName, userId).callTool("load_memory", { query: question(query) });
    if (result["error"]) throw new MemorydError(String(result["error"]), { url: this.client.url });
    return { memories: (result["memories"] as Found[]).map(entry) };
  }
}

/** A memory as the tool load_memory has it. */
interface Found {
  content: { role: string; parts: [{ text: string }] };
  author?: string;
  timestamp?: string;
}

function entry({ content: { role, parts }, author, timestamp }: Found): MemoryEntry {
  // ADK's PRELOAD_MEMORY puts texts between such tags, and begins each with a line "author: text".
  const text = parts[0].text.replace(/<(?=\s*\/?\s*PAST_CONVERSATIONS)/gi, "&lt;").replaceAll("\n", "\n  ");
  return {
    content: { role, parts: [{ text }] },
    ...(author !== undefined && { author }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

/** An event as memoryd takes it. ADK has milliseconds here, and seconds in Python. */
function sent(event: Event): NewEvent {
  return { ...event, timestamp: new Date(event.timestamp) };
}

/** An event without pictures and sound: only text is remembered. */
function remembered(event: Event): NewEvent {
  const parts = event.content?.parts?.map(({ inlineData: _, ...part }) => part);
  return { ...sent(event), ...(parts && { content: { ...event.content, parts } }) };
}

/** A session of memoryd as ADK has it. */
function session(stored: Stored & { events?: Fields[] }): Session {
  return {
    id: stored.id,
    appName: stored.appName,
    userId: stored.userId,
    state: stored.state ?? {},
    events: (stored.events ?? []).map(({ utcOffset: _, ...event }) =>
      createEvent({ ...event, timestamp: Date.parse(event["timestamp"] as string) }),
    ),
    lastUpdateTime: Date.parse(stored.lastUpdateTime),
  };
}
