// Errors that apps tell, in groups of those that are alike: how many, the first and the last of
// them. There are so many groups and no more; what comes beyond the bound is one.
import { arrayLiteral, columnLiteral } from '../driver/array.ts';
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';
import type { TimedPlace } from './installations.ts';

export const severities = ['debug', 'info', 'warning', 'error', 'fatal'] as const;
export type Severity = (typeof severities)[number];

/** An error without anything that must not be kept. */
export interface ToldError {
  fingerprint: string;
  platform: string | null;
  errorName: string | null;
  errorCode: string | null;
  message: string;
  frames: readonly string[];
  severity: Severity;
  accountId: string | null;
  installationId: string | null;
  appVersion: string | null;
  stackTrace: string | null;
  /** Any JSON. */
  details: unknown;
  email: { sealed: Buffer; keyId: string } | null;
  atMs: number;
}

/** The group of all that found no place. */
const otherGroup = 'other';

interface Tally {
  fingerprint: string;
  count: number;
  first: ToldError;
  last: ToldError;
}

function tallyOf(errors: readonly ToldError[]): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const error of errors) {
    const tally = tallies.get(error.fingerprint);
    if (tally === undefined) {
      const { fingerprint } = error;
      tallies.set(fingerprint, { fingerprint, count: 1, first: error, last: error });
    } else {
      tally.count += 1;
      tally.last = error;
    }
  }
  return tallies;
}

/**
 * Writes errors in the order in which they came, at most `groupsMax` groups of them. Whoever locks
 * the count of groups does so before any group, so nobody waits in a circle.
 */
export async function putErrors(
  sql: Sql,
  errors: readonly ToldError[],
  groupsMax: number,
): Promise<void> {
  const tallies = tallyOf(errors);
  const fresh = await sql.begin(async (transaction) => ({
    tallies: await putKnown(transaction, [...tallies.values()]),
  }));
  if (fresh.tallies.length === 0) return;
  await sql.begin(async (transaction) => {
    const [counted] = await transaction<{ groups: number }[]>`
      SELECT groups FROM app_error_count FOR UPDATE`;
    // Somebody may have made them meanwhile.
    const left = await putKnown(transaction, fresh.tallies);
    const room = Math.max(0, groupsMax - (counted?.groups ?? 0));
    const fitting = left.slice(0, room);
    for (const tally of fitting) await putGroup(transaction, tally);
    await transaction`UPDATE app_error_count SET groups = groups + ${fitting.length}`;
    await putOthers(transaction, left.slice(room));
  });
}

/** Counts what is of known groups. Returns what is not. */
async function putKnown(transaction: Transaction, tallies: readonly Tally[]): Promise<Tally[]> {
  const known = new Set(await countKnown(transaction, tallies));
  for (const { fingerprint, last } of tallies) {
    if (known.has(fingerprint)) await putSample(transaction, fingerprint, 'last', last);
  }
  return tallies.filter(({ fingerprint }) => !known.has(fingerprint));
}

/** Counts those of known groups; they are locked in one order, so that nobody waits in a circle. */
async function countKnown(transaction: Transaction, tallies: readonly Tally[]): Promise<string[]> {
  const names = columnLiteral(tallies, ({ fingerprint }) => fingerprint);
  const rows = await transaction<{ fingerprint: string }[]>`
    WITH told AS (
      SELECT * FROM unnest(${names}::text[],
        ${columnLiteral(tallies, ({ count }) => count)}::bigint[],
        ${columnLiteral(tallies, ({ last }) => last.atMs)}::float8[])
        AS t (fingerprint, count, last_ms)),
    locked AS (
      SELECT e.fingerprint FROM app_errors e JOIN told USING (fingerprint)
      ORDER BY e.fingerprint FOR UPDATE OF e)
    UPDATE app_errors e SET count = e.count + t.count,
      last_at = greatest(e.last_at, to_timestamp(t.last_ms / 1000)), resolved_at = NULL
    FROM told t, locked l
    WHERE l.fingerprint = t.fingerprint AND e.fingerprint = t.fingerprint
    RETURNING e.fingerprint`;
  return rows.map(({ fingerprint }) => fingerprint);
}

async function putGroup(
  transaction: Transaction,
  { fingerprint, count, first, last }: Tally,
): Promise<void> {
  const { platform, errorName, errorCode, message, frames, severity } = first;
  await transaction`
    INSERT INTO app_errors (fingerprint, platform, error_name, error_code, message, frames,
      severity, count, first_at, last_at)
    VALUES (${fingerprint}, ${platform}, ${errorName}, ${errorCode}, ${message},
      ${arrayLiteral(frames)}::text[], ${severity}, ${count}, ${new Date(first.atMs)},
      ${new Date(last.atMs)})`;
  await putSample(transaction, fingerprint, 'first', first);
  if (count > 1) await putSample(transaction, fingerprint, 'last', last);
}

/** What found no room is one group. */
async function putOthers(transaction: Transaction, tallies: readonly Tally[]): Promise<void> {
  const first = tallies[0]?.first;
  const last = tallies.at(-1)?.last;
  if (first === undefined || last === undefined) return;
  const count = tallies.reduce((sum, tally) => sum + tally.count, 0);
  const [row] = await transaction<{ count: number }[]>`
    INSERT INTO app_errors AS e (fingerprint, message, severity, count, first_at, last_at)
    VALUES (${otherGroup}, 'Errors beyond the bound of groups.', ${first.severity}, ${count},
      ${new Date(first.atMs)}, ${new Date(last.atMs)})
    ON CONFLICT (fingerprint) DO UPDATE SET count = e.count + excluded.count,
      last_at = greatest(e.last_at, excluded.last_at), resolved_at = NULL
    RETURNING count::float8 AS count`;
  if (row?.count === count) await putSample(transaction, otherGroup, 'first', first);
  await putSample(transaction, otherGroup, 'last', last);
}

async function putSample(
  transaction: Transaction,
  fingerprint: string,
  place: 'first' | 'last',
  error: ToldError,
): Promise<void> {
  const details = error.details === null ? null : JSON.stringify(error.details);
  await transaction`
    INSERT INTO app_error_samples (fingerprint, place, account_id, installation_id, app_version,
      message, stack_trace, details, email, email_key_id, at)
    VALUES (${fingerprint}, ${place}, ${error.accountId}, ${error.installationId},
      ${error.appVersion}, ${error.message}, ${error.stackTrace}, ${details}::text::jsonb,
      ${error.email?.sealed ?? null}, ${error.email?.keyId ?? null}, ${new Date(error.atMs)})
    ON CONFLICT (fingerprint, place) DO UPDATE SET account_id = excluded.account_id,
      installation_id = excluded.installation_id, app_version = excluded.app_version,
      message = excluded.message, stack_trace = excluded.stack_trace, details = excluded.details,
      email = excluded.email, email_key_id = excluded.email_key_id, at = excluded.at`;
}

export interface ErrorGroup {
  fingerprint: string;
  platform: string | null;
  errorName: string | null;
  errorCode: string | null;
  message: string;
  frames: string[];
  severity: Severity;
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  resolvedAtMs: number | null;
}

export interface ErrorSample {
  place: 'first' | 'last';
  accountId: string | null;
  installationId: string | null;
  appVersion: string | null;
  message: string;
  stackTrace: string | null;
  details: unknown;
  email: Buffer | null;
  atMs: number;
}

const columns = `e.fingerprint, e.platform, e.error_name AS "errorName",
  e.error_code AS "errorCode", e.message, e.frames, e.severity, e.count::float8 AS count,
  ${millisecondsOf('e.first_at')} AS "firstAtMs", ${millisecondsOf('e.last_at')} AS "lastAtMs",
  ${millisecondsOf('e.resolved_at')} AS "resolvedAtMs"`;

export interface ErrorFilter {
  platform: string | null;
  severity: Severity | null;
  resolved: boolean | null;
}

/** The ones that came last first, those behind a place. */
export async function listErrors(
  sql: Queryable,
  { platform, severity, resolved }: ErrorFilter,
  limit: number,
  before: TimedPlace | null,
): Promise<(ErrorGroup & TimedPlace)[]> {
  return sql.unsafe<(ErrorGroup & TimedPlace)[]>(
    `SELECT ${columns}, e.last_at::text AS at, e.fingerprint AS id FROM app_errors e
    WHERE ($1::text IS NULL OR (e.last_at, e.fingerprint) < ($1::text::timestamptz, $2::text))
      AND ($3::text IS NULL OR e.platform = $3) AND ($4::text IS NULL OR e.severity = $4)
      AND ($5::boolean IS NULL OR (e.resolved_at IS NOT NULL) = $5)
    ORDER BY e.last_at DESC, e.fingerprint DESC LIMIT $6`,
    [before?.at ?? null, before?.id ?? null, platform, severity, resolved, limit],
  );
}

export async function findError(
  sql: Queryable,
  fingerprint: string,
): Promise<{ group: ErrorGroup; samples: ErrorSample[] } | null> {
  const [group] = await sql.unsafe<ErrorGroup[]>(
    `SELECT ${columns} FROM app_errors e WHERE e.fingerprint = $1`,
    [fingerprint],
  );
  if (group === undefined) return null;
  const samples = await sql.unsafe<ErrorSample[]>(
    `SELECT s.place, s.account_id AS "accountId", s.installation_id AS "installationId",
      s.app_version AS "appVersion", s.message, s.stack_trace AS "stackTrace", s.details, s.email,
      ${millisecondsOf('s.at')} AS "atMs"
    FROM app_error_samples s WHERE s.fingerprint = $1 ORDER BY s.place`,
    [fingerprint],
  );
  return { group, samples: [...samples] };
}

/** It is open again when it comes again. False: there is no such group. */
export async function resolveError(
  transaction: Transaction,
  fingerprint: string,
  isResolved: boolean,
): Promise<boolean> {
  const { count } = await transaction`
    UPDATE app_errors SET resolved_at = CASE WHEN ${isResolved} THEN now() END
    WHERE fingerprint = ${fingerprint}`;
  return count > 0;
}

/** Removes groups with their samples, and makes room for as many. Returns how many it removed. */
export async function deleteErrors(
  transaction: Transaction,
  fingerprints: readonly string[],
): Promise<number> {
  // The count first, as those who make groups take it: nobody waits in a circle.
  await transaction`SELECT 1 FROM app_error_count FOR UPDATE`;
  const gone = await transaction<{ fingerprint: string }[]>`
    DELETE FROM app_errors WHERE fingerprint = ANY (${arrayLiteral(fingerprints)}::text[])
    RETURNING fingerprint`;
  const counted = gone.filter(({ fingerprint }) => fingerprint !== otherGroup).length;
  await transaction`UPDATE app_error_count SET groups = greatest(0, groups - ${counted})`;
  return gone.length;
}

/** Groups that nothing came to for so long. */
export async function listOldErrors(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ fingerprint: string }[]>`
    SELECT fingerprint FROM app_errors
    WHERE last_at <= now() - ${keptMs}::float8 * interval '1 ms' ORDER BY last_at LIMIT ${limit}`;
  return rows.map(({ fingerprint }) => fingerprint);
}
