// Who changed what, and when: one event for each change and each touch of money, written with the
// change in one transaction where that is possible. Events never change.
import { firstIdAt } from '../runtime/ids.ts';
import type { Queryable, Sql, Transaction } from './driver/sql.ts';
import { definePart, type Part } from './ledger/part.ts';
import { ownedRows, type WalletWrite } from './ledger/write.ts';

export interface NewAuditEvent {
  /** `aud_` and 24 hex characters, time-ordered. */
  id: string;
  /** Whose account it concerns; null: none. */
  accountId: string | null;
  /** The account of the administrator, `configuration`, or `command` (admin:create). */
  actor: string;
  /** Such as `provider.update`. */
  action: string;
  /** Such as `provider:name`. */
  subject: string;
  /** JSON without secrets. */
  details: Record<string, unknown>;
  /** A repeated request carries the same: its event is written once. */
  operationId?: string;
}

export interface AuditEvent extends Omit<NewAuditEvent, 'operationId'> {
  at: Date;
}

export interface AuditFilter {
  accountId: string | null;
  actor: string | null;
  action: string | null;
  subject: string | null;
  /** From this moment on, and before that one. */
  from: Date | null;
  to: Date | null;
}

type Row = {
  id: string;
  account_id: string | null;
  actor: string;
  action: string;
  subject: string;
  details: Record<string, unknown>;
  at: Date;
};

function readEvent(row: Row): AuditEvent {
  const { id, account_id, actor, action, subject, details, at } = row;
  return { id, accountId: account_id, actor, action, subject, details, at };
}

/** Writes an event; false when its operation has one already. */
export async function insertAuditEvent(sql: Queryable, event: NewAuditEvent): Promise<boolean> {
  const rows = await sql`
    INSERT INTO audit_events (id, account_id, actor, action, subject, details, operation_id)
    VALUES (${event.id}, ${event.accountId}, ${event.actor}, ${event.action}, ${event.subject},
      ${JSON.stringify(event.details)}::text::jsonb, ${event.operationId ?? null})
    ON CONFLICT (operation_id) DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

/** The events of a write. */
export function auditRows(write: WalletWrite): readonly NewAuditEvent[] {
  return ownedRows(write, 'audit_rows');
}

/**
 * The part of the ledger's statement that writes events with the money that they tell of, so that
 * there is neither without the other. Its rows are `NewAuditEvent`.
 */
export const auditPart: Part = definePart<NewAuditEvent>({
  name: 'audit_rows',
  rows: auditRows,
  columns: [
    ['id', 'text', (event) => event.id],
    ['account_id', 'text', (event) => event.accountId],
    ['actor', 'text', (event) => event.actor],
    ['action', 'text', (event) => event.action],
    ['subject', 'text', (event) => event.subject],
    ['details', 'jsonb', (event) => JSON.stringify(event.details)],
    ['operation_id', 'text', (event) => event.operationId],
  ],
  text: (rows) => `INSERT INTO audit_events
        (id, account_id, actor, action, subject, details, operation_id)
      SELECT r.id, r.account_id, r.actor, r.action, r.subject, r.details, r.operation_id
      FROM ${rows}`,
});

/** The event of an operation, or null. */
export async function findOperationEvent(
  sql: Queryable,
  operationId: string,
): Promise<AuditEvent | null> {
  const [row] = await sql<Row[]>`SELECT * FROM audit_events WHERE operation_id = ${operationId}`;
  return row === undefined ? null : readEvent(row);
}

/** By how much an event's id and its time may differ: so do clocks, and a change takes a moment. */
const idSlackMs = 86_400_000;
/** Above every id of an event. */
const noId = 'aud_g';

/**
 * Events that pass every given filter, newest first, older than `cursor` (an id). A time bounds the
 * ids as well, which is what indexes know: without that, all events since would be read.
 */
export async function listAuditEvents(
  sql: Queryable,
  filter: AuditFilter,
  limit: number,
  cursor: string | null,
): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  const { accountId, actor, action, subject, from, to } = filter;
  const sinceId = from === null ? '' : firstIdAt('aud', from.getTime() - idSlackMs);
  const untilId = to === null ? noId : firstIdAt('aud', to.getTime() + idSlackMs);
  const rows = await sql<Row[]>`
    SELECT * FROM audit_events
    WHERE id >= ${sinceId} AND id < ${untilId}
      AND (${cursor}::text IS NULL OR id < ${cursor}::text)
      AND (${accountId}::text IS NULL OR account_id = ${accountId}::text)
      AND (${actor}::text IS NULL OR actor = ${actor}::text)
      AND (${action}::text IS NULL OR action = ${action}::text)
      AND (${subject}::text IS NULL OR subject = ${subject}::text)
      AND (${from}::timestamptz IS NULL OR at >= ${from}::timestamptz)
      AND (${to}::timestamptz IS NULL OR at < ${to}::timestamptz)
    ORDER BY id DESC LIMIT ${limit + 1}`;
  const events = rows.slice(0, limit).map(readEvent);
  return { events, nextCursor: rows.length > limit ? (events.at(-1)?.id ?? null) : null };
}

/** What a change came to, and its event; null: nothing changed, nothing is told. */
export interface Audited<T> {
  result: T;
  event: NewAuditEvent | null;
}

/** Runs a change and writes its event in one transaction. */
export async function audited<T>(
  sql: Sql,
  change: (transaction: Transaction) => Promise<Audited<T>>,
): Promise<T> {
  const outcome = await sql.begin(async (transaction) => {
    const made = await change(transaction);
    if (made.event !== null) await insertAuditEvent(transaction, made.event);
    // In an object: `begin` would take an array apart for queries.
    return { result: made.result };
  });
  return outcome.result as T;
}
