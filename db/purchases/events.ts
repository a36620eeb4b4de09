// What providers called, and what was read in their lists: kept before it is worked on, so nothing
// that was told is lost. Only what it points at is kept of it.
import type { Queryable } from '../driver/sql.ts';

/** What an event points at. */
export interface EventObjects {
  purchase_id: string | null;
  order_ids: string[];
  payment_ids: string[];
}

export interface PaymentEvent {
  provider: string;
  eventId: string;
  type: string;
  objects: EventObjects;
  tries: number;
}

/** Keeps an event. `known`: it is there; one that is not done yet is due again at once. */
export async function keepEvent(
  sql: Queryable,
  event: Pick<PaymentEvent, 'provider' | 'eventId' | 'type' | 'objects'>,
): Promise<'new' | 'known'> {
  const { provider, eventId, type, objects } = event;
  const [row] = await sql<{ fresh: boolean }[]>`
    INSERT INTO payment_events AS e (provider, event_id, type, objects)
    VALUES (${provider}, ${eventId}, ${type}, ${JSON.stringify(objects)}::text::jsonb)
    ON CONFLICT (provider, event_id) DO UPDATE SET next_try_at = least(e.next_try_at, now())
    RETURNING (xmax = 0) AS fresh`;
  return row?.fresh === true ? 'new' : 'known';
}

/**
 * Takes events that are due, the oldest first: they are not due again before the lease is over,
 * whatever becomes of who took them.
 */
export async function takeEvents(
  sql: Queryable,
  limit: number,
  leaseMs: number,
): Promise<PaymentEvent[]> {
  const rows = await sql<(Omit<PaymentEvent, 'eventId'> & { event_id: string })[]>`
    WITH due AS (
      SELECT provider, event_id FROM payment_events
      WHERE done_at IS NULL AND next_try_at <= now()
      ORDER BY next_try_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE payment_events e SET tries = e.tries + 1,
      next_try_at = now() + ${leaseMs}::float8 * interval '1 ms'
    FROM due d WHERE e.provider = d.provider AND e.event_id = d.event_id
    RETURNING e.provider, e.event_id, e.type, e.objects, e.tries`;
  return rows.map(({ event_id: eventId, ...row }) => ({ ...row, eventId }));
}

/** The work on an event is done; `purchaseId` null: it is none of ours. */
export async function endEvent(
  sql: Queryable,
  { provider, eventId }: Pick<PaymentEvent, 'provider' | 'eventId'>,
  purchaseId: string | null,
): Promise<void> {
  await sql`
    UPDATE payment_events SET done_at = now(), purchase_id = ${purchaseId}
    WHERE provider = ${provider} AND event_id = ${eventId} AND done_at IS NULL`;
}

/** The work failed: it is tried again then. */
export async function delayEvent(
  sql: Queryable,
  { provider, eventId }: Pick<PaymentEvent, 'provider' | 'eventId'>,
  delayMs: number,
): Promise<void> {
  await sql`
    UPDATE payment_events SET next_try_at = now() + ${delayMs}::float8 * interval '1 ms'
    WHERE provider = ${provider} AND event_id = ${eventId} AND done_at IS NULL`;
}

export interface ListedEvent {
  eventId: string;
  type: string;
  receivedAt: Date;
  doneAt: Date | null;
  tries: number;
}

/** What was told of a purchase, the newest first. */
export async function listEventsOf(
  sql: Queryable,
  purchaseId: string,
  limit: number,
): Promise<ListedEvent[]> {
  return sql<ListedEvent[]>`
    SELECT event_id AS "eventId", type, received_at AS "receivedAt", done_at AS "doneAt", tries
    FROM payment_events WHERE purchase_id = ${purchaseId}
    ORDER BY received_at DESC, event_id DESC LIMIT ${limit}`;
}

/** Removes old events whose work is done; returns how many. */
export async function sweepEvents(
  sql: Queryable,
  keptDays: number,
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM payment_events WHERE (provider, event_id) IN (
      SELECT provider, event_id FROM payment_events
      WHERE received_at < now() - make_interval(days => ${keptDays}) AND done_at IS NOT NULL
      ORDER BY received_at LIMIT ${limit})`;
  return result.count;
}

/** How far a list of a provider was read; null: never. */
export async function findCursor(
  sql: Queryable,
  provider: string,
  list: string,
): Promise<Date | null> {
  const [row] = await sql<{ read_until: Date }[]>`
    SELECT read_until FROM payment_cursors WHERE provider = ${provider} AND list = ${list}`;
  return row?.read_until ?? null;
}

/** Notes how far a list was read; never back. */
export async function moveCursor(
  sql: Queryable,
  provider: string,
  list: string,
  readUntil: Date,
): Promise<void> {
  await sql`
    INSERT INTO payment_cursors AS c (provider, list, read_until)
    VALUES (${provider}, ${list}, ${readUntil})
    ON CONFLICT (provider, list) DO UPDATE
      SET read_until = greatest(c.read_until, excluded.read_until)`;
}
