// The items of a framework in a session of memoryd, each in a field of an event of its own. The package for
// Python has the same form, so that both can go on with a session.

import type { User } from "./calls.ts";
import { newId } from "./core.ts";
import { AlreadyExists, NotFound, Unreachable } from "./errors.ts";
import type { Event, NewEvent } from "./types.ts";

type Stored = Event & Record<string, any>;

/** The items in one session of a user. Events without the field are of others, and no items. */
export class History {
  private readonly user: User;
  private readonly session: string;
  private readonly field: string;
  private readonly remember: boolean;

  /** @param remember Whether memories are made of the items. */
  constructor(user: User, session: string, field: string, remember: boolean) {
    this.user = user;
    this.session = session;
    this.field = field;
    this.remember = remember;
  }

  /** The items in order, or the last of them. */
  async read(limit?: number): Promise<unknown[]> {
    return (await this.events(limit)).map((event) => event[this.field] as unknown);
  }

  /** Appends items, each with the fields of its event that memoryd reads, all or none. */
  async add(items: readonly { item: unknown; read: NewEvent }[]): Promise<void> {
    if (items.length === 0) return;
    const events = items.map(({ item, read }) => {
      const id = newId();
      // An invocation of its own lets pop take back this item alone.
      return { id, invocationId: id, ...read, [this.field]: item };
    });
    if (this.remember) await this.user.ingest(this.session, events);
    else await this.append(events);
  }

  /** Takes back the last item, with the memories made of it. */
  async pop(): Promise<unknown> {
    for (;;) {
      const [last] = await this.events(1);
      if (!last) return undefined;
      const popId = newId();
      // A rewind right behind the item, by its time and as ids order events of one time: it takes back this
      // item, and none that another caller adds meanwhile. Of several callers one stores the event of this
      // id, and the others look again.
      const { events } = await this.user.appendEvents(this.session, {
        id: `pop-${last.id}`,
        author: "system",
        timestamp: last.timestamp,
        invocationId: `pop-${last.id}`,
        popId,
        actions: { rewindBeforeInvocationId: last["invocationId"] as string },
      });
      if ((events[0] as Stored)["popId"] !== popId) continue;
      if (this.remember) await this.user.addSession(this.session);
      return last[this.field] as unknown;
    }
  }

  /** Deletes the session. Memories stay. */
  async clear(): Promise<void> {
    await this.user.deleteSession(this.session);
  }

  private async append(events: NewEvent[]): Promise<void> {
    for (const last of [false, true]) {
      try {
        await this.user.appendEvents(this.session, events);
        return;
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
      }
      try {
        await this.user.createSession(this.session, { events });
        return;
      } catch (error) {
        // Another caller was faster, or the answer was lost and the session may be there. Events are stored
        // once by their ids.
        if (last || !(error instanceof AlreadyExists || error instanceof Unreachable)) throw error;
      }
    }
  }

  /** The events with an item that hold, the last ones if there is a limit. */
  private async events(limit?: number): Promise<Stored[]> {
    if (limit !== undefined && limit <= 0) return [];
    for (let most = limit; ; ) {
      // Events of others and those that were taken back leave fewer items than events.
      most = most === undefined ? undefined : 2 * most + 8;
      let events: Stored[];
      try {
        const options = most === undefined ? {} : { numRecentEvents: most };
        ({ events } = await this.user.getSession(this.session, options));
      } catch (error) {
        if (error instanceof NotFound) return [];
        throw error;
      }
      const whole = most === undefined || events.length < most;
      const kept = holding(events, whole)?.filter((event) => this.field in event);
      if (kept && (whole || limit === undefined || kept.length >= limit)) {
        return limit === undefined ? kept : kept.slice(-limit);
      }
    }
  }
}

/**
 * The events that no rewind has taken back: one takes back what came before it, from the first event of an
 * invocation on. Undefined if that may lie before the first of the events.
 */
function holding(events: Stored[], whole: boolean): Stored[] | undefined {
  const firsts = new Map<string, number>();
  events.forEach((event, i) => {
    const invocation = (event["invocationId"] as string | undefined) ?? "";
    if (!firsts.has(invocation)) firsts.set(invocation, i);
  });
  const kept: Stored[] = [];
  // From the end, as a rewind may be taken back itself.
  for (let i = events.length - 1; i >= 0; ) {
    const event = events[i]!;
    const invocation = event.actions?.["rewindBeforeInvocationId"] as string | undefined;
    kept.push(event);
    if (invocation && !firsts.has(invocation) && !whole) return undefined;
    const first = invocation ? (firsts.get(invocation) ?? i) : i;
    i = Math.min(first, i) - 1;
  }
  return kept.reverse();
}
