// Mails to people, from the transaction that needs one to a day after its end. An attempt is noted
// before it begins, so that a crash in it is known. Whoever ends an attempt names it by its number.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';

export interface NewMail {
  /** `mail_…` */
  id: string;
  accountId: string | null;
  template: string;
  sealed: Uint8Array;
  /** The key that it is sealed under. */
  keyId: string;
  expiresAt: Date | null;
}

/** A mail whose attempt is under way. */
export interface TakenMail {
  id: string;
  sealed: Uint8Array;
  keyId: string;
  /** The number of this attempt, from 1. */
  attempt: number;
  createdAt: Date;
  /** Until it expires; null: it does not. */
  leftMs: number | null;
}

/** What bounds the attempts at one mail. */
export interface MailBounds {
  attemptsMax: number;
  /** Attempts that may have left a copy. */
  doubtsMax: number;
}

export interface MailCounts {
  queued: number;
  sent: number;
  failed: number;
  oldestQueuedAt: Date | null;
  lastError: { at: Date; text: string } | null;
}

export async function insertMail(sql: Queryable, mail: NewMail): Promise<void> {
  const { id, accountId, template, sealed, keyId, expiresAt } = mail;
  await sql`
    INSERT INTO mails (id, account_id, template, sealed, key_id, expires_at)
    VALUES (${id}, ${accountId}, ${template}, ${sealed}, ${keyId}, ${expiresAt})`;
}

/**
 * Begins an attempt, unless the mail is over, not due, or hopeless. The attempt counts as doubtful
 * until its outcome is known. Nobody else begins one within `leaseMs`.
 */
export async function takeMail(
  sql: Queryable,
  id: string,
  { instanceId, leaseMs, attemptsMax, doubtsMax }: MailBounds & TakingOptions,
): Promise<TakenMail | null> {
  const [row] = await sql<TakenMail[]>`
    UPDATE mails SET attempts = attempts + 1, doubts = doubts + 1, taken_by = ${instanceId},
      next_at = now() + ${leaseMs}::float8 * interval '1 ms'
    WHERE id = ${id} AND state = 'queued' AND next_at <= now()
      AND attempts < ${attemptsMax} AND doubts < ${doubtsMax}
      AND (expires_at IS NULL OR expires_at > now())
    RETURNING id, sealed, key_id AS "keyId", attempts AS attempt, created_at AS "createdAt",
      (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "leftMs"`;
  return row ?? null;
}

interface TakingOptions {
  instanceId: string;
  leaseMs: number;
}

type Attempt = Pick<TakenMail, 'id' | 'attempt'>;

/** The server has it. What was in it is forgotten. */
export async function noteMailSent(sql: Queryable, { id, attempt }: Attempt): Promise<void> {
  await sql`
    UPDATE mails SET state = 'sent', ended_at = now(), sealed = NULL, key_id = NULL,
      taken_by = NULL, doubts = doubts - 1
    WHERE id = ${id} AND attempts = ${attempt} AND state = 'queued'`;
}

/** It is not tried again. */
export async function noteMailFailed(
  sql: Queryable,
  { id, attempt }: Attempt,
  error: string,
): Promise<void> {
  await sql`
    UPDATE mails SET state = 'failed', ended_at = now(), sealed = NULL, key_id = NULL,
      taken_by = NULL, doubts = doubts - 1, last_error = ${error}, last_error_at = now()
    WHERE id = ${id} AND attempts = ${attempt} AND state = 'queued'`;
}

/** It is tried again after a while. `isInDoubt`: the server may have it already. */
export async function deferMail(
  sql: Queryable,
  { id, attempt }: Attempt,
  { error, isInDoubt, waitMs }: { error: string; isInDoubt: boolean; waitMs: number },
): Promise<void> {
  await sql`
    UPDATE mails SET next_at = now() + ${waitMs}::float8 * interval '1 ms', taken_by = NULL,
      doubts = doubts - ${isInDoubt ? 0 : 1}::integer, last_error = ${error}, last_error_at = now()
    WHERE id = ${id} AND attempts = ${attempt} AND state = 'queued'`;
}

/** An attempt that was called off before the server could have taken anything: it never was. */
export async function returnMail(sql: Queryable, { id, attempt }: Attempt): Promise<void> {
  await sql`
    UPDATE mails SET next_at = now(), taken_by = NULL, attempts = attempts - 1, doubts = doubts - 1
    WHERE id = ${id} AND attempts = ${attempt} AND state = 'queued'`;
}

/**
 * Fails mails that no further attempt may be made at: all that are not under way, or one. Returns
 * how many.
 */
export async function endHopelessMails(
  sql: Queryable,
  { attemptsMax, doubtsMax }: MailBounds,
  { id, limit }: { id?: string; limit: number },
): Promise<number> {
  const result = await sql`
    UPDATE mails SET state = 'failed', ended_at = now(), sealed = NULL, key_id = NULL,
      taken_by = NULL, last_error_at = coalesce(last_error_at, now()),
      last_error = coalesce(last_error, CASE WHEN attempts = 0 THEN 'expired' ELSE 'crashed' END)
    WHERE id IN (
      SELECT id FROM mails
      WHERE state = 'queued' AND (${id ?? null}::text IS NULL OR id = ${id ?? null}::text)
        AND (taken_by IS NULL OR next_at <= now())
        AND (attempts >= ${attemptsMax} OR doubts >= ${doubtsMax}
          OR expires_at <= greatest(next_at, now()))
      ORDER BY next_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return result.count;
}

/** Mails whose next attempt is due, the longest due first. */
export async function listDueMails(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM mails WHERE state = 'queued' AND next_at <= now()
    ORDER BY next_at LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * The attempts of dead instances are over: what they were made at is due, and returned. Null:
 * nobody but the caller has the database.
 */
export async function freeMails(
  sql: Queryable,
  instanceIds: readonly string[] | null,
): Promise<string[]> {
  const dead = instanceIds === null ? null : arrayLiteral(instanceIds);
  const rows = await sql<{ id: string }[]>`
    UPDATE mails SET next_at = now(), taken_by = NULL
    WHERE state = 'queued' AND taken_by IS NOT NULL
      AND (${dead}::text[] IS NULL OR taken_by = ANY(${dead}::text[]))
    RETURNING id`;
  return rows.map(({ id }) => id);
}

/** Forgets mails a while after their end, at most `limit`; returns how many. */
export async function forgetMails(
  sql: Queryable,
  { sentMs, failedMs }: { sentMs: number; failedMs: number },
  limit: number,
): Promise<number> {
  const result = await sql`
    DELETE FROM mails WHERE id IN (
      SELECT id FROM mails
      WHERE state = 'sent' AND ended_at < now() - ${sentMs}::float8 * interval '1 ms'
        OR state = 'failed' AND ended_at < now() - ${failedMs}::float8 * interval '1 ms'
      ORDER BY ended_at LIMIT ${limit})`;
  return result.count;
}

export async function countQueuedMails(sql: Queryable): Promise<number> {
  const [row] = await sql<{ queued: number }[]>`
    SELECT count(*)::integer AS queued FROM mails WHERE state = 'queued'`;
  return row?.queued ?? 0;
}

/** What an administrator is told of mail. */
export async function readMailCounts(sql: Queryable): Promise<MailCounts> {
  type Row = Omit<MailCounts, 'lastError'> & { errorAt: Date | null; error: string | null };
  const [row] = await sql<Row[]>`
    SELECT count(*) FILTER (WHERE state = 'queued')::integer AS queued,
      count(*) FILTER (WHERE state = 'sent')::integer AS sent,
      count(*) FILTER (WHERE state = 'failed')::integer AS failed,
      min(created_at) FILTER (WHERE state = 'queued') AS "oldestQueuedAt",
      (SELECT last_error_at FROM mails WHERE last_error_at IS NOT NULL
        ORDER BY last_error_at DESC, id DESC LIMIT 1) AS "errorAt",
      (SELECT last_error FROM mails WHERE last_error_at IS NOT NULL
        ORDER BY last_error_at DESC, id DESC LIMIT 1) AS error
    FROM mails`;
  if (row === undefined) throw new Error('a count has a row');
  const { errorAt, error, ...counts } = row;
  const lastError = errorAt === null || error === null ? null : { at: errorAt, text: error };
  return { ...counts, lastError };
}
