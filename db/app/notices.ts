// Notices to those who use apps: to everybody, to whoever is signed in, to administrators, or to
// named accounts. Other domains write one to an account within their own transaction.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { millisecondsOf } from '../video-jobs.ts';

export type NoticeLevel = 'info' | 'success' | 'warning' | 'critical';
export type NoticeAudience = 'all' | 'authenticated' | 'admin' | 'accounts';

export interface NewNotice {
  /** `ntc_` and 24 hex characters. */
  id: string;
  title: string;
  body: string;
  level: NoticeLevel;
  actionUrl: string | null;
  audience: NoticeAudience;
  /** Empty: all of them. */
  platforms: string[];
  channels: string[];
  appVersionMin: string | null;
  appVersionMax: string | null;
  startsAtMs: number;
  endsAtMs: number | null;
  dismissible: boolean;
}

export interface Notice extends NewNotice {
  origin: 'admin' | 'billing';
  revision: number;
  createdAtMs: number;
}

/** A notice of one account, such as that its automatic top-up was paused. */
export interface AccountNotice {
  /** `newId('ntc', node)`. */
  id: string;
  accountId: string;
  title: string;
  body: string;
  level: NoticeLevel;
  /** A path of the web origin, or a https URL. */
  actionUrl?: string;
  /** The same name again writes nothing: a repeated step tells once. */
  operationId?: string;
}

/** Every shard has them in memory: with texts of full length that is a megabyte. */
export const toldNoticesMax = 200;
const ofAccountMax = 50;
const readsMax = 1_000;

const columns = `n.id, n.title, n.body, n.level, n.action_url AS "actionUrl", n.audience,
  n.platforms, n.channels, n.app_version_min AS "appVersionMin",
  n.app_version_max AS "appVersionMax", n.dismissible, n.origin, n.revision,
  ${millisecondsOf('n.starts_at')} AS "startsAtMs", ${millisecondsOf('n.ends_at')} AS "endsAtMs",
  ${millisecondsOf('n.created_at')} AS "createdAtMs"`;

/** Notices for more than named accounts that have not ended, the newest first. */
export async function listToldNotices(sql: Queryable): Promise<Notice[]> {
  return sql.unsafe<Notice[]>(
    `SELECT ${columns} FROM app_notices n
    WHERE n.audience <> 'accounts' AND (n.ends_at IS NULL OR n.ends_at > now())
    ORDER BY n.id DESC LIMIT $1`,
    [toldNoticesMax],
  );
}

export async function countToldNotices(sql: Queryable): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::float8 AS count FROM app_notices
    WHERE audience <> 'accounts' AND (ends_at IS NULL OR ends_at > now())`;
  return row?.count ?? 0;
}

export interface AccountNotices {
  notices: Notice[];
  /** Ids of what it has read, of every audience. */
  read: string[];
}

export async function readAccountNotices(
  sql: Queryable,
  accountId: string,
): Promise<AccountNotices> {
  const notices = await sql.unsafe<Notice[]>(
    `SELECT ${columns} FROM app_notice_accounts a JOIN app_notices n ON n.id = a.notice_id
    WHERE a.account_id = $1 AND (n.ends_at IS NULL OR n.ends_at > now())
    ORDER BY a.notice_id DESC LIMIT $2`,
    [accountId, ofAccountMax],
    { prepare: true },
  );
  const reads = await sql<{ id: string }[]>`
    SELECT notice_id AS id FROM app_notice_reads WHERE account_id = ${accountId}
    ORDER BY notice_id DESC LIMIT ${readsMax}`;
  return { notices: [...notices], read: reads.map(({ id }) => id) };
}

/** What it may see of these is read from now on; others are left out. */
export async function markNoticesRead(
  sql: Queryable,
  accountId: string,
  ids: readonly string[],
  isAdmin: boolean,
): Promise<void> {
  await sql`
    INSERT INTO app_notice_reads (account_id, notice_id)
    SELECT ${accountId}, n.id FROM app_notices n
    WHERE n.id = ANY (${arrayLiteral(ids)}::text[])
      AND (n.audience IN ('all', 'authenticated') OR (n.audience = 'admin' AND ${isAdmin})
        OR EXISTS (SELECT 1 FROM app_notice_accounts a
          WHERE a.account_id = ${accountId} AND a.notice_id = n.id))
    ON CONFLICT DO NOTHING`;
}

/**
 * Writes a notice of billing to one account, with what it tells of. The account sees it within
 * seconds. False: the operation had told it before.
 */
export async function notifyAccount(
  transaction: Transaction,
  { id, accountId, title, body, level, actionUrl, operationId }: AccountNotice,
): Promise<boolean> {
  const written = await transaction`
    INSERT INTO app_notices (id, title, body, level, action_url, audience, starts_at, origin,
      operation_id)
    VALUES (${id}, ${title}, ${body}, ${level}, ${actionUrl ?? null}, 'accounts', now(), 'billing',
      ${operationId ?? null})
    ON CONFLICT (operation_id) DO NOTHING`;
  if (written.count === 0) return false;
  await transaction`
    INSERT INTO app_notice_accounts (account_id, notice_id) VALUES (${accountId}, ${id})`;
  return true;
}

/** What an administrator writes, to these accounts where it is for named ones. */
export async function putNotice(
  transaction: Transaction,
  notice: NewNotice,
  accountIds: readonly string[],
): Promise<void> {
  await transaction`
    INSERT INTO app_notices (id, title, body, level, action_url, audience, platforms, channels,
      app_version_min, app_version_max, starts_at, ends_at, dismissible)
    VALUES (${notice.id}, ${notice.title}, ${notice.body}, ${notice.level}, ${notice.actionUrl},
      ${notice.audience}, ${arrayLiteral(notice.platforms)}::text[],
      ${arrayLiteral(notice.channels)}::text[],
      ${notice.appVersionMin}, ${notice.appVersionMax}, ${new Date(notice.startsAtMs)},
      ${notice.endsAtMs === null ? null : new Date(notice.endsAtMs)}, ${notice.dismissible})
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, body = excluded.body,
      level = excluded.level, action_url = excluded.action_url, audience = excluded.audience,
      platforms = excluded.platforms, channels = excluded.channels,
      app_version_min = excluded.app_version_min, app_version_max = excluded.app_version_max,
      starts_at = excluded.starts_at, ends_at = excluded.ends_at,
      dismissible = excluded.dismissible, revision = app_notices.revision + 1, updated_at = now()`;
  await transaction`DELETE FROM app_notice_accounts WHERE notice_id = ${notice.id}`;
  await transaction`
    INSERT INTO app_notice_accounts (account_id, notice_id)
    SELECT a.id, ${notice.id} FROM accounts a
    WHERE a.id = ANY (${arrayLiteral(accountIds)}::text[])`;
}

export interface AddressedNotice extends Notice {
  accountIds: string[];
}

const addressed = `${columns}, ARRAY(SELECT a.account_id FROM app_notice_accounts a
  WHERE a.notice_id = n.id ORDER BY a.account_id) AS "accountIds"`;

export async function findNotice(sql: Queryable, id: string): Promise<AddressedNotice | null> {
  const [notice] = await sql.unsafe<AddressedNotice[]>(
    `SELECT ${addressed} FROM app_notices n WHERE n.id = $1`,
    [id],
  );
  return notice ?? null;
}

export interface NoticeFilter {
  audience: NoticeAudience | null;
  origin: 'admin' | 'billing' | null;
  accountId: string | null;
}

/** Newest first, older than `before`. */
export async function listNotices(
  sql: Queryable,
  { audience, origin, accountId }: NoticeFilter,
  limit: number,
  before: string | null,
): Promise<AddressedNotice[]> {
  return sql.unsafe<AddressedNotice[]>(
    `SELECT ${addressed} FROM app_notices n
    WHERE ($1::text IS NULL OR n.id < $1) AND ($2::text IS NULL OR n.audience = $2)
      AND ($3::text IS NULL OR n.origin = $3)
      AND ($4::text IS NULL OR EXISTS (SELECT 1 FROM app_notice_accounts a
        WHERE a.account_id = $4 AND a.notice_id = n.id))
    ORDER BY n.id DESC LIMIT $5`,
    [before, audience, origin, accountId, limit],
  );
}

export async function deleteNotice(transaction: Transaction, id: string): Promise<void> {
  await transaction`DELETE FROM app_notices WHERE id = ${id}`;
}
