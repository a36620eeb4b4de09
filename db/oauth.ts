// What stands between a person's approval and an app's tokens: codes, devices, and approvals that
// are remembered. A code and a device are good once, and their row decides who was first.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import { type DeviceStatus, deviceStatus } from './oauth/device-status.ts';
import type { SignInMethod } from './sessions.ts';

/** What a person lets an app do. */
export interface Approval {
  accountId: string;
  /** The client id. */
  client: string;
  scopes: readonly string[];
  /** `ses_…` that the person approves by: once it has ended, nothing is approved by it. */
  sessionId: string;
  /** How the person is signed in, and since when. */
  method: SignInMethod;
  authenticatedAt: Date;
}

/**
 * The session of an approval, as a part of a statement. It cannot end before the statement does, so
 * whoever ends it and voids what it approved finds this approval.
 */
function heldSession(sql: Queryable, approval: Approval | null) {
  return sql`held AS MATERIALIZED (
    SELECT FROM sessions WHERE id = ${approval?.sessionId ?? null}
      AND account_id = ${approval?.accountId ?? null} FOR KEY SHARE)`;
}

/**
 * Keeps a code that the app may redeem once, from this redirect and with this challenge. False: the
 * session that approved it has ended.
 */
export async function issueCode(
  sql: Queryable,
  code: {
    codeHash: Uint8Array;
    approval: Approval;
    redirectUri: string;
    challenge: string;
    expiresAt: Date;
  },
): Promise<boolean> {
  const { codeHash, approval, redirectUri, challenge, expiresAt } = code;
  const rows = await sql`
    WITH ${heldSession(sql, approval)}
    INSERT INTO oauth_codes (code_hash, account_id, client, scopes, method, authenticated_at,
      redirect_uri, challenge, expires_at)
    SELECT ${codeHash}::bytea, ${approval.accountId}, ${approval.client},
      ${arrayLiteral(approval.scopes)}::text[], ${approval.method},
      ${approval.authenticatedAt}::timestamptz, ${redirectUri}, ${challenge},
      ${expiresAt}::timestamptz FROM held
    RETURNING 1`;
  return rows.length > 0;
}

/** The scopes that the account has approved for the app before; null: it never did. */
export async function findRemembered(
  sql: Queryable,
  accountId: string,
  client: string,
): Promise<string[] | null> {
  const [row] = await sql<{ scopes: string[] }[]>`
    SELECT scopes FROM oauth_approvals WHERE account_id = ${accountId} AND client = ${client}`;
  return row?.scopes ?? null;
}

/** Adds to what the account has approved for the app. */
export async function remember(
  sql: Queryable,
  accountId: string,
  client: string,
  scopes: readonly string[],
): Promise<void> {
  await sql`
    INSERT INTO oauth_approvals AS a (account_id, client, scopes)
    VALUES (${accountId}, ${client}, ${arrayLiteral(scopes)}::text[])
    ON CONFLICT (account_id, client) DO UPDATE SET approved_at = now(), scopes = ARRAY(
      SELECT DISTINCT scope FROM unnest(a.scopes || excluded.scopes) AS s (scope) ORDER BY scope)`;
}

export interface NewDevice {
  /** `dev_…` */
  id: string;
  deviceCodeHash: Uint8Array;
  userCodeDigest: string;
  client: string;
  scopes: readonly string[];
  /** The /24 or /48 that it asked from. */
  network: string | null;
  expiresAt: Date;
}

/** Keeps what a device asks for; false: another one has the user code, so make a new one. */
export async function startDevice(sql: Queryable, device: NewDevice): Promise<boolean> {
  const { id, deviceCodeHash, userCodeDigest, client, scopes, network, expiresAt } = device;
  const rows = await sql`
    INSERT INTO oauth_devices (id, device_code_hash, user_code_digest, client, scopes, network,
      expires_at)
    VALUES (${id}, ${deviceCodeHash}, ${userCodeDigest}, ${client}, ${arrayLiteral(scopes)}::text[],
      ${network}, ${expiresAt})
    ON CONFLICT (user_code_digest) DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

export interface AskingDevice {
  /** `dev_…` */
  id: string;
  client: string;
  /** What it asks for. */
  scopes: string[];
  askedAt: Date;
  /** The /24 or /48 that it asked from. */
  network: string | null;
  status: DeviceStatus;
}

type DeviceRow = {
  id: string;
  client: string;
  scopes: string[];
  asked_at: Date;
  network: string | null;
  status: DeviceStatus;
};

/** The device of a user code; null: there is none. */
export async function findDevice(
  sql: Queryable,
  userCodeDigest: string,
): Promise<AskingDevice | null> {
  const [row] = await sql<DeviceRow[]>`
    SELECT id, client, scopes, asked_at, network, ${deviceStatus(sql)} AS status
    FROM oauth_devices WHERE user_code_digest = ${userCodeDigest}`;
  if (row === undefined) return null;
  const { id, client, scopes, asked_at: askedAt, network, status } = row;
  return { id, client, scopes, askedAt, network, status };
}

/**
 * Decides about a device, once; `approval` null: it was denied. `gone`: it has expired, another
 * decision was quicker, or the approval is of another app or of a session that has ended.
 */
export async function decideDevice(
  sql: Queryable,
  userCodeDigest: string,
  approval: Approval | null,
): Promise<'decided' | 'gone'> {
  const scopes = approval === null ? null : arrayLiteral(approval.scopes);
  const rows = await sql`
    WITH ${heldSession(sql, approval)}
    UPDATE oauth_devices SET decided_at = now(), account_id = ${approval?.accountId ?? null},
      granted_scopes = ${scopes}::text[], method = ${approval?.method ?? null},
      authenticated_at = ${approval?.authenticatedAt ?? null}
    WHERE user_code_digest = ${userCodeDigest} AND decided_at IS NULL AND expires_at > now()
      AND (${approval === null}::boolean
        OR client = ${approval?.client ?? null}::text AND EXISTS (SELECT FROM held))
    RETURNING 1`;
  return rows.length > 0 ? 'decided' : 'gone';
}

/**
 * Voids what an account approved, or what was approved for an app, and is not fetched yet; and
 * forgets what was approved before. It waits for who is just fetching: what they got is there then.
 * The time of the void lies before every statement: one that began earlier fetches nothing after.
 */
export async function voidApprovals(
  sql: Queryable,
  accountId: string | null,
  client: string | null,
): Promise<void> {
  const isMeant = sql`(${accountId}::text IS NULL OR account_id = ${accountId}::text)
    AND (${client}::text IS NULL OR client = ${client}::text)`;
  await sql`
    WITH codes AS (
      UPDATE oauth_codes SET expires_at = created_at
      WHERE redeemed_at IS NULL AND expires_at > now() AND ${isMeant}),
    devices AS (
      UPDATE oauth_devices SET expires_at = asked_at
      WHERE redeemed_at IS NULL AND expires_at > now() AND ${isMeant})
    DELETE FROM oauth_approvals WHERE ${isMeant}`;
}
