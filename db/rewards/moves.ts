// Moves of submissions that are judged: whose turn it is, and what whoever has the epoch notes. A
// write of an epoch that is over changes nothing.
import type { HeldRow } from '../../runtime/work/turn-desk.ts';
import { arrayLiteral } from '../driver/array.ts';
import { classifyError, type Queryable, type Sql, type Transaction } from '../driver/sql.ts';
import { isEligible } from '../promotions/eligible.ts';
import { keepPrint, listNearPrints } from './prints.ts';

/** One that is judged, as whoever took it sees it. */
export interface JudgedSubmission extends HeldRow {
  accountId: string;
  walletId: string;
  task: string;
  challengeCode: string | null;
  evidenceUrl: string;
  /** How many evidences it had: each is asked about under keys of its own. */
  evidences: number;
  nonce: string;
  /** Tries to fetch before this one. */
  fetches: number;
  /** How often the work on this evidence was begun, this time included. */
  starts: number;
}

/** It waits for somebody to judge it. */
const isOpen = `state = 'verifying' AND claimed_at IS NULL`;

/** Sets the next one that is due aside for the caller. Null: there is none. */
export async function setAsideNextReward(sql: Sql, leaseMs: number): Promise<HeldRow | null> {
  const [next] = await sql.unsafe<HeldRow[]>(
    `UPDATE reward_submissions SET lease_until = now() + $1::float8 * interval '1 ms'
      WHERE id = (
        SELECT id FROM reward_submissions
        WHERE ${isOpen} AND next_at <= now() AND lease_until <= now()
        ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id::text, epoch::float8 AS epoch`,
    [leaseMs],
  );
  return next ?? null;
}

/** Takes the one that was set aside under this epoch; the next epoch is the caller's. */
export async function takeReward(
  sql: Queryable,
  { id, epoch }: HeldRow,
  leaseMs: number,
): Promise<JudgedSubmission | null> {
  const [row] = await sql.unsafe<JudgedSubmission[]>(
    `UPDATE reward_submissions SET epoch = epoch + 1, starts = starts + 1,
        lease_until = now() + $3::float8 * interval '1 ms'
      WHERE id = $1::uuid AND epoch = $2 AND next_at <= now() AND ${isOpen}
      RETURNING id::text, epoch::float8 AS epoch, account_id AS "accountId",
        wallet_id AS "walletId", task, challenge_code AS "challengeCode",
        evidence_url AS "evidenceUrl", evidences, nonce::text, fetches, starts`,
    [id, epoch, leaseMs],
  );
  return row ?? null;
}

/** Renews leases. Returns the ids that are still held. */
export async function renewRewards(
  sql: Queryable,
  held: readonly HeldRow[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `UPDATE reward_submissions s SET lease_until = now() + $3::float8 * interval '1 ms'
      FROM unnest($1::uuid[], $2::bigint[]) AS r (id, epoch)
      WHERE s.id = r.id AND s.epoch = r.epoch AND ${isOpen} RETURNING s.id::text`,
    [...columnsOf(held), leaseMs],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Lets others take them at once. */
export async function leaveRewards(sql: Queryable, held: readonly HeldRow[]): Promise<void> {
  await sql.unsafe(
    `UPDATE reward_submissions s SET lease_until = now()
      FROM unnest($1::uuid[], $2::bigint[]) AS r (id, epoch)
      WHERE s.id = r.id AND s.epoch = r.epoch AND ${isOpen}`,
    columnsOf(held),
  );
}

function columnsOf(held: readonly HeldRow[]): string[] {
  return [arrayLiteral(held.map(({ id }) => id)), arrayLiteral(held.map(({ epoch }) => epoch))];
}

/** Lists those that are due and nobody has, the oldest first. */
export function listLeftRewards(sql: Queryable, limit: number): Promise<HeldRow[]> {
  return sql.unsafe<HeldRow[]>(
    `SELECT id::text, epoch::float8 AS epoch FROM reward_submissions
      WHERE ${isOpen} AND next_at <= now() AND lease_until <= now() ORDER BY next_at LIMIT $1`,
    [limit],
  );
}

/** Its page is tried again later: that is no start. */
export async function deferReward(
  sql: Queryable,
  { id, epoch }: HeldRow,
  waitMs: number,
): Promise<void> {
  await sql`
    UPDATE reward_submissions SET fetches = fetches + 1, starts = 0, lease_until = now(),
      next_at = now() + ${waitMs}::float8 * interval '1 ms'
    WHERE id = ${id}::uuid AND epoch = ${epoch} AND state = 'verifying' AND claimed_at IS NULL`;
}

/**
 * The page is this submission's, while it waits and once it is approved. `taken`: it is another's.
 * `lost`: somebody else judges it.
 */
export async function notePage(
  sql: Queryable,
  { id, epoch }: HeldRow,
  { pageUrl, print }: { pageUrl: string; print: bigint },
): Promise<'noted' | 'taken' | 'lost'> {
  try {
    const { count } = await sql`
      UPDATE reward_submissions SET page_url = ${pageUrl}, page_print = ${print.toString()}::bigint
      WHERE id = ${id}::uuid AND epoch = ${epoch} AND state = 'verifying' AND claimed_at IS NULL`;
    return count > 0 ? 'noted' : 'lost';
  } catch (error) {
    if (classifyError(error) === 'unique') return 'taken';
    throw error;
  }
}

/** What was found, in our words. */
export interface Findings {
  confidence: number | null;
  summary: string;
  checks: readonly string[];
}

/** The end without credits. False: it is another's, or over. */
export async function endJudging(
  sql: Queryable,
  { id, epoch }: HeldRow,
  state: 'rejected' | 'needs_review',
  { confidence, summary, checks }: Findings,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE reward_submissions SET state = ${state}, confidence = ${confidence},
      summary = ${summary}, checks = ${JSON.stringify(checks)}::text::jsonb, updated_at = now()
    WHERE id = ${id}::uuid AND epoch = ${epoch} AND state = 'verifying' AND claimed_at IS NULL`;
  return count > 0;
}

export type AutoClaim =
  | 'claimed'
  | 'lost'
  /** Another text that is nearly this one was approved meanwhile. */
  | 'near'
  /** What may be given today without an administrator is given. */
  | 'day_full'
  | 'ineligible';

/** Claims the credits, within what a day may give. Claims are made one after the other. */
export function claimReward(
  sql: Sql,
  { id, epoch }: HeldRow,
  { confidence, summary, checks }: Findings,
  bounds: { dayMaxMicros: bigint; nearBitsMax: number },
): Promise<AutoClaim> {
  return sql.begin(async (transaction): Promise<AutoClaim> => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('reward claims'))`;
    const [row] = await transaction.unsafe<{ print: string; micros: string; eligible: boolean }[]>(
      `SELECT s.page_print::text AS print, s.micros::text AS micros, ${isEligible('a')} AS eligible
        FROM reward_submissions s JOIN accounts a ON a.id = s.account_id
        WHERE s.id = $1::uuid AND s.epoch = $2 AND s.page_print IS NOT NULL AND ${isOpen}
        FOR UPDATE OF s`,
      [id, epoch],
    );
    if (row === undefined) return 'lost';
    if (!row.eligible) return 'ineligible';
    const print = BigInt(row.print);
    if ((await listNearPrints(transaction, print, bounds.nearBitsMax)).length > 0) return 'near';
    if (!(await spendDay(transaction, BigInt(row.micros), bounds.dayMaxMicros))) return 'day_full';
    await keepPrint(transaction, id, print);
    await transaction`
      UPDATE reward_submissions SET claimed_at = now(), confidence = ${confidence},
        summary = ${summary}, checks = ${JSON.stringify(checks)}::text::jsonb, updated_at = now()
      WHERE id = ${id}::uuid`;
    return 'claimed';
  });
}

async function spendDay(
  transaction: Transaction,
  micros: bigint,
  dayMaxMicros: bigint,
): Promise<boolean> {
  const rows = await transaction`
    INSERT INTO reward_days AS d (day, micros)
    SELECT (now() AT TIME ZONE 'UTC')::date, ${micros.toString()}::bigint
      WHERE ${micros.toString()}::bigint <= ${dayMaxMicros.toString()}::bigint
    ON CONFLICT (day) DO UPDATE SET micros = d.micros + excluded.micros
      WHERE d.micros + excluded.micros <= ${dayMaxMicros.toString()}::bigint
    RETURNING 1`;
  return rows.length > 0;
}

/** Nobody works on any: of a process that has the database alone. */
export async function leaveAllRewards(sql: Queryable): Promise<void> {
  await sql.unsafe(
    `UPDATE reward_submissions SET lease_until = now() WHERE ${isOpen} AND lease_until > now()`,
  );
}
