// Installations of apps as they last told of themselves, and how often each was active on a day.
import { columnLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export interface ToldInstallation {
  id: string;
  /** Who is signed in there; null leaves who was. */
  accountId: string | null;
  platform: string | null;
  appVersion: string | null;
  channel: string | null;
  source: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface Installation extends ToldInstallation {
  firstAtMs: number;
  lastAtMs: number;
}

/** What is absent stays as it was told before; the further members are replaced. */
export async function putInstallation(sql: Queryable, told: ToldInstallation): Promise<void> {
  await sql`
    INSERT INTO app_installations AS i (id, account_id, platform, app_version, channel, source,
      details)
    VALUES (${told.id}, ${told.accountId}, ${told.platform}, ${told.appVersion}, ${told.channel},
      ${told.source}, ${JSON.stringify(told.details)}::text::jsonb)
    ON CONFLICT (id) DO UPDATE SET
      account_id = coalesce(excluded.account_id, i.account_id),
      platform = coalesce(excluded.platform, i.platform),
      app_version = coalesce(excluded.app_version, i.app_version),
      channel = coalesce(excluded.channel, i.channel),
      source = coalesce(excluded.source, i.source),
      details = excluded.details, last_at = now()`;
}

/** How often somebody was active, since the last time that it was written. */
export interface ActivityCount {
  /** UTC, `2026-11-27`. */
  day: string;
  /** The account, or the installation where nobody was signed in. */
  subject: string;
  accountId: string | null;
  platform: string | null;
  appVersion: string | null;
  source: string | null;
  count: number;
  firstAtMs: number;
  lastAtMs: number;
}

/** Adds counts; a day and subject stands once among them. Each is written whole or not at all. */
export async function addActivity(sql: Queryable, counts: readonly ActivityCount[]): Promise<void> {
  // In one order everywhere: two that write the same rows wait for each other, in no circle.
  const rows = [...counts].sort((one, other) =>
    `${one.day} ${one.subject}` < `${other.day} ${other.subject}` ? -1 : 1,
  );
  const column = (cellOf: (count: ActivityCount) => string | number | null) =>
    columnLiteral(rows, cellOf);
  await sql`
    INSERT INTO app_activity AS a (day, subject, account_id, platform, app_version, source, count,
      first_at, last_at)
    SELECT r.day, r.subject, r.account_id, r.platform, r.app_version, r.source, r.count,
      to_timestamp(r.first_ms / 1000), to_timestamp(r.last_ms / 1000)
    FROM unnest(${column(({ day }) => day)}::date[], ${column(({ subject }) => subject)}::text[],
      ${column(({ accountId }) => accountId)}::text[],
      ${column(({ platform }) => platform)}::text[],
      ${column(({ appVersion }) => appVersion)}::text[],
      ${column(({ source }) => source)}::text[], ${column(({ count }) => count)}::bigint[],
      ${column(({ firstAtMs }) => firstAtMs)}::float8[],
      ${column(({ lastAtMs }) => lastAtMs)}::float8[])
      AS r (day, subject, account_id, platform, app_version, source, count, first_ms, last_ms)
    ON CONFLICT (day, subject) DO UPDATE SET count = a.count + excluded.count,
      platform = coalesce(excluded.platform, a.platform),
      app_version = coalesce(excluded.app_version, a.app_version),
      source = coalesce(excluded.source, a.source),
      first_at = least(a.first_at, excluded.first_at),
      last_at = greatest(a.last_at, excluded.last_at)`;
}

export interface InstallationFilter {
  platform: string | null;
  appVersion: string | null;
  accountId: string | null;
}

/** A place in a list in the order of times: the time as PostgreSQL writes it, and the id. */
export interface TimedPlace {
  at: string;
  id: string;
}

const columns = `i.id, i.account_id AS "accountId", i.platform, i.app_version AS "appVersion",
  i.channel, i.source, i.details, ${millisecondsOf('i.first_at')} AS "firstAtMs",
  ${millisecondsOf('i.last_at')} AS "lastAtMs", i.last_at::text AS at`;

/** The last active ones first, those behind a place. */
export async function listInstallations(
  sql: Queryable,
  { platform, appVersion, accountId }: InstallationFilter,
  limit: number,
  before: TimedPlace | null,
): Promise<(Installation & TimedPlace)[]> {
  return sql.unsafe<(Installation & TimedPlace)[]>(
    `SELECT ${columns} FROM app_installations i
    WHERE ($1::text IS NULL OR (i.last_at, i.id) < ($1::text::timestamptz, $2::text))
      AND ($3::text IS NULL OR i.platform = $3) AND ($4::text IS NULL OR i.app_version = $4)
      AND ($5::text IS NULL OR i.account_id = $5)
    ORDER BY i.last_at DESC, i.id DESC LIMIT $6`,
    [before?.at ?? null, before?.id ?? null, platform, appVersion, accountId, limit],
  );
}

/** False: there was none. */
export async function deleteInstallation(sql: Queryable, id: string): Promise<boolean> {
  const { count } = await sql`DELETE FROM app_installations WHERE id = ${id}`;
  await sql`DELETE FROM app_activity WHERE subject = ${id} AND account_id IS NULL`;
  return count > 0;
}

export interface ActiveDay {
  day: string;
  /** Accounts and installations that were active. */
  subjects: number;
  count: number;
}

/** UTC days from `from` to `to`, both included, the last one first. */
export async function listActiveDays(
  sql: Queryable,
  from: string,
  to: string,
): Promise<ActiveDay[]> {
  return sql<ActiveDay[]>`
    SELECT a.day::text AS day, count(*)::float8 AS subjects, sum(a.count)::float8 AS count
    FROM app_activity a WHERE a.day BETWEEN ${from}::date AND ${to}::date
    GROUP BY a.day ORDER BY a.day DESC`;
}
