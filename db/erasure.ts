// The way of an account out: `deleting`, for a while in which it can be undone, then erased step by
// step. What ended at its beginning stays ended: nobody gets back a credential that may be stolen.
import { isLastAdministrator } from './accounts.ts';
import { endAuthorizations } from './authorizations.ts';
import type { Queryable, Transaction } from './driver/sql.ts';
import { revokeAllKeys } from './keys.ts';
import { ownsOrganization } from './organizations/closing.ts';
import { isHeldByOrganization } from './organizations/erasure.ts';
import { fenceMemberships } from './organizations/fence-person.ts';
import { endSessionsBut } from './sessions.ts';

/** Why an account must stay. */
export type DeletionBar = 'last_administrator' | 'organization_owner' | 'legal_hold';

interface Bar {
  reason: DeletionBar;
  /** It holds until the transaction ends: what could raise the bar meanwhile has to wait. */
  bars(transaction: Transaction, accountId: string): Promise<boolean>;
  /** Whether it also stops what has begun. */
  stopsErasing: boolean;
}

/** A domain that knows a reason adds a line here. */
const bars: readonly Bar[] = [
  // First: an act of an organization holds its row before it changes an account.
  { reason: 'legal_hold', bars: isHeldByOrganization, stopsErasing: true },
  { reason: 'last_administrator', bars: isLastAdministrator, stopsErasing: false },
  { reason: 'organization_owner', bars: ownsOrganization, stopsErasing: false },
];

/** The reason for which the account must stay, or null. */
async function findBar(
  transaction: Transaction,
  accountId: string,
  known: readonly Bar[],
): Promise<DeletionBar | null> {
  for (const bar of known) if (await bar.bars(transaction, accountId)) return bar.reason;
  return null;
}

export type Deletion =
  /** `ended`: how many sessions, authorizations and keys. */
  | { status: 'deleting'; deletingAt: Date; ended: number }
  | { status: 'barred'; reason: DeletionBar }
  /** There is none, or it is erased. */
  | { status: 'not_found' };

/**
 * The account is to be erased. Its credentials end with the transaction; the shards have to be told
 * of the account. Repeated, it changes nothing.
 */
export async function deleteAccount(
  transaction: Transaction,
  accountId: string,
): Promise<Deletion> {
  const reason = await findBar(transaction, accountId, bars);
  if (reason !== null) return { status: 'barred', reason };
  const [row] = await transaction<{ deleting_at: Date }[]>`
    UPDATE accounts SET deleting_at = coalesce(deleting_at, now()),
      revision = revision + (deleting_at IS NULL)::integer, updated_at = now()
    WHERE id = ${accountId} AND erased_at IS NULL AND kind = 'person' RETURNING deleting_at`;
  if (row === undefined) return { status: 'not_found' };
  await fenceMemberships(transaction, accountId);
  const sessions = await endSessionsBut(transaction, accountId, null);
  const apps = await endAuthorizations(transaction, { accountId }, 'account');
  const keys = await revokeAllKeys(transaction, accountId);
  const ended = sessions.length + apps.length + keys.length;
  return { status: 'deleting', deletingAt: row.deleting_at, ended };
}

/**
 * The account is not deleted after all; its sessions, authorizations and keys stay ended. False:
 * it was not to be deleted, or its erasing has begun.
 */
export async function restoreAccount(
  transaction: Transaction,
  accountId: string,
): Promise<boolean> {
  const rows = await transaction`
    UPDATE accounts SET deleting_at = NULL, revision = revision + 1, updated_at = now()
    WHERE id = ${accountId} AND deleting_at IS NOT NULL AND erasing_at IS NULL RETURNING 1`;
  if (rows.length === 0) return false;
  await fenceMemberships(transaction, accountId);
  // One that was being made while the account was deleted.
  await revokeAllKeys(transaction, accountId);
  return true;
}

/** Accounts whose erasing is due or has begun, the one that was deleted first before others. */
export async function listDueErasures(
  sql: Queryable,
  graceMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM accounts
    WHERE deleting_at <= now() - ${graceMs}::float8 * interval '1 ms'
      AND deleting_at IS NOT NULL AND erased_at IS NULL
    ORDER BY deleting_at LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Begins the erasing of an account whose time has come, or goes on with it: from now on it cannot
 * be undone. False: it is not due, or something of it still runs, and would write again.
 */
export async function beginErasing(
  transaction: Transaction,
  accountId: string,
  graceMs: number,
): Promise<boolean> {
  const rows = await transaction`
    UPDATE accounts a SET erasing_at = coalesce(a.erasing_at, now())
    WHERE a.id = ${accountId} AND a.erased_at IS NULL
      AND a.deleting_at <= now() - ${graceMs}::float8 * interval '1 ms'
      AND NOT EXISTS (
        SELECT FROM holds h JOIN wallets w ON w.id = h.wallet_id WHERE w.account_id = a.id)
      AND NOT EXISTS (
        SELECT FROM video_jobs j WHERE j.completed_at IS NULL AND j.account_id IN (
          SELECT b.id FROM accounts b WHERE b.id = a.id OR b.person_id = a.id))
      AND NOT EXISTS (
        SELECT FROM video_analyses n WHERE n.completed_at IS NULL AND n.account_id IN (
          SELECT b.id FROM accounts b WHERE b.id = a.id OR b.person_id = a.id))
    RETURNING 1`;
  return rows.length > 0;
}

/**
 * Holds an account for one step of its erasing: nobody else is at one meanwhile. False: it is not
 * being erased, or a bar has come up.
 */
export async function lockErasing(transaction: Transaction, accountId: string): Promise<boolean> {
  const stopping = bars.filter(({ stopsErasing }) => stopsErasing);
  if ((await findBar(transaction, accountId, stopping)) !== null) return false;
  const rows = await transaction`
    SELECT FROM accounts
    WHERE id = ${accountId} AND erasing_at IS NOT NULL AND erased_at IS NULL FOR UPDATE`;
  return rows.length > 0;
}

/** The last step: of the person nothing is left, and its address is anybody's. */
export async function finishErasing(transaction: Transaction, accountId: string): Promise<void> {
  await transaction`
    UPDATE accounts SET email = NULL, email_owned = false, email_verified_at = NULL,
      full_name = NULL, label = NULL, referral_code = DEFAULT, referred_by = NULL,
      terms_version = NULL, terms_accepted_at = NULL, erased_at = now(),
      revision = revision + 1, updated_at = now()
    WHERE id = ${accountId} AND erased_at IS NULL`;
}
