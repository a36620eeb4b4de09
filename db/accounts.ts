// Accounts, their role, and the wallet that each has. To administer is a role of the account and
// stands nowhere else. What an account has of a person is read in accounts/person.ts.

import { type AccountStatus, giveAddress, statusOf } from './accounts/person.ts';
import type { AccountRole } from './accounts/role.ts';
import { searchAccounts } from './accounts/search.ts';
import { audited, type NewAuditEvent } from './audit-events.ts';
import type { Queryable, Sql, Transaction } from './driver/sql.ts';
import { accountBarred } from './organizations/contexts.ts';
import { fenceMemberships } from './organizations/fence-person.ts';
import { createSession } from './sessions.ts';
import { createWallet } from './wallets.ts';

export interface Account {
  id: string;
  role: AccountRole;
  /** Whom it is for, in an administrator's words; null: nobody said. */
  label: string | null;
  /** Its first personal wallet. */
  walletId: string | null;
  /** Null: nobody signs in to it by a code. */
  email: string | null;
  emailVerifiedAt: Date | null;
  fullName: string | null;
  status: AccountStatus;
  /** Null: it is enabled. */
  disabledAt: Date | null;
  /** When its deletion was asked for: it waits to be erased. */
  deletingAt: Date | null;
  /** Counts its changes. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

type Row = {
  id: string;
  role: AccountRole;
  label: string | null;
  wallet_id: string | null;
  email: string | null;
  email_owned: boolean;
  email_verified_at: Date | null;
  full_name: string | null;
  disabled_at: Date | null;
  deleting_at: Date | null;
  erased_at: Date | null;
  revision: number;
  created_at: Date;
  updated_at: Date;
};

/** Any constant: the key of the lock that orders changes of roles ('role'). */
const ROLE_LOCK = 0x726f6c65;

function readAccount(row: Row): Account {
  const { email, disabled_at: disabledAt, deleting_at: deletingAt, erased_at: erasedAt } = row;
  return {
    id: row.id,
    role: row.role,
    label: row.label,
    walletId: row.wallet_id,
    email,
    emailVerifiedAt: row.email_verified_at,
    fullName: row.full_name,
    status: statusOf({ email, emailOwned: row.email_owned, disabledAt, deletingAt, erasedAt }),
    disabledAt,
    deletingAt,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function walletOf(sql: Queryable) {
  return sql`(SELECT w.id FROM wallets w WHERE w.account_id = a.id AND w.type = 'personal'
    ORDER BY w.created_at, w.id LIMIT 1) AS wallet_id`;
}

/** Makes an account; does nothing when the id exists. */
export async function createAccount(
  sql: Queryable,
  { id, role, label = null }: { id: string; role: AccountRole; label?: string | null },
): Promise<void> {
  await sql`
    INSERT INTO accounts (id, role, label) VALUES (${id}, ${role}, ${label})
    ON CONFLICT (id) DO NOTHING`;
}

/** A person's account with its first personal wallet; null: there is none, or it is none. */
export async function findAccount(sql: Queryable, accountId: string): Promise<Account | null> {
  const [row] = await sql<Row[]>`
    SELECT a.*, ${walletOf(sql)} FROM accounts a
    WHERE a.id = ${accountId} AND a.kind = 'person'`;
  return row === undefined ? null : readAccount(row);
}

export interface AccountFilter {
  /** The beginning of its id or address, a part of its label, or an id of its wallet or a key. */
  search: string | null;
  role: AccountRole | null;
  status: AccountStatus | null;
}

/** Accounts that pass every given filter, newest first, older than `cursor` (an id). */
export async function listAccounts(
  sql: Queryable,
  { search, role, status }: AccountFilter,
  limit: number,
  cursor: string | null,
): Promise<{ accounts: Account[]; nextCursor: string | null }> {
  const passes = sql`a.kind = 'person' AND (${cursor}::text IS NULL OR a.id < ${cursor}::text)
    AND (${role}::text IS NULL OR a.role = ${role}::text)
    AND (${status}::text IS NULL OR ${status}::text = CASE
      WHEN a.erased_at IS NOT NULL THEN 'erased'
      WHEN a.deleting_at IS NOT NULL THEN 'deleting'
      WHEN a.disabled_at IS NOT NULL THEN 'disabled'
      WHEN a.email IS NOT NULL AND NOT a.email_owned THEN 'unverified'
      ELSE 'active' END)`;
  const count = limit + 1;
  const isMeant =
    search === null ? passes : sql`a.id IN (${searchAccounts(sql, search, passes, count)})`;
  const rows = await sql<Row[]>`
    SELECT a.*, ${walletOf(sql)} FROM accounts a
    WHERE ${isMeant} ORDER BY a.id DESC LIMIT ${count}`;
  const accounts = rows.slice(0, limit).map(readAccount);
  return { accounts, nextCursor: rows.length > limit ? (accounts.at(-1)?.id ?? null) : null };
}

export interface AccountChange {
  accountId: string;
  /** The revision that the caller knows; null: whatever it is. */
  revision: number | null;
  role?: AccountRole;
  label?: string | null;
  fullName?: string | null;
  /** It is the account's own from then on, until somebody proves it to be verified. */
  email?: string;
  disabled?: boolean;
}

export type AccountChanged =
  | { status: 'changed' | 'unchanged'; account: Account }
  | { status: 'stale'; revision: number }
  /** Nobody could administer any more. */
  | { status: 'last_admin' }
  /** The address belongs to another account. */
  | { status: 'taken' }
  | { status: 'not_found' };

/**
 * Changes role, label or status. Enabled administrators never run out. `event` tells what was
 * changed.
 */
export function changeAccount(
  sql: Sql,
  change: AccountChange,
  event: (before: Account, after: Account) => NewAuditEvent,
): Promise<AccountChanged> {
  return audited<AccountChanged>(sql, async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${ROLE_LOCK})`;
    const before = await findAccount(transaction, change.accountId);
    if (before === null) return { result: { status: 'not_found' }, event: null };
    if (change.revision !== null && change.revision !== before.revision) {
      return { result: { status: 'stale', revision: before.revision }, event: null };
    }
    const { role = before.role, label = before.label } = change;
    const { fullName = before.fullName, email = before.email } = change;
    const disabled = change.disabled ?? before.disabledAt !== null;
    const isSwitched = disabled !== (before.disabledAt !== null);
    const isAddressNew = email !== before.email || before.status === 'unverified';
    const isReaddressed = change.email !== undefined && isAddressNew;
    const isNamed = label !== before.label || fullName !== before.fullName || isReaddressed;
    if (role === before.role && !isNamed && !isSwitched) {
      return { result: { status: 'unchanged', account: before }, event: null };
    }
    const mayAdminister = role === 'admin' && !disabled;
    if (!mayAdminister && (await isLastAdmin(transaction, before))) {
      return { result: { status: 'last_admin' }, event: null };
    }
    if (isReaddressed && !(await giveAddress(transaction, before.id, email))) {
      return { result: { status: 'taken' }, event: null };
    }
    await transaction`
      UPDATE accounts SET role = ${role}, label = ${label}, full_name = ${fullName},
        revision = revision + 1, updated_at = now(),
        disabled_at = CASE WHEN ${disabled} THEN coalesce(disabled_at, now()) END
      WHERE id = ${before.id}`;
    if (isSwitched) await fenceMemberships(transaction, before.id);
    const account = await findAccount(transaction, before.id);
    if (account === null) throw new Error('a locked account is gone');
    return { result: { status: 'changed', account }, event: event(before, account) };
  });
}

/** Whether nobody could administer without the account, until the transaction ends. */
export async function isLastAdministrator(
  transaction: Transaction,
  accountId: string,
): Promise<boolean> {
  await transaction`SELECT pg_advisory_xact_lock(${ROLE_LOCK})`;
  const account = await findAccount(transaction, accountId);
  return account !== null && (await isLastAdmin(transaction, account));
}

async function isLastAdmin(transaction: Transaction, account: Account): Promise<boolean> {
  const { role, disabledAt, deletingAt } = account;
  if (role !== 'admin' || disabledAt !== null || deletingAt !== null) return false;
  const rows = await transaction`
    SELECT 1 FROM accounts
    WHERE role = 'admin' AND disabled_at IS NULL AND deleting_at IS NULL AND id <> ${account.id}
    LIMIT 1`;
  return rows.length === 0;
}

/** Whether an enabled administrator exists. */
export async function hasAdministrator(sql: Queryable): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM accounts
    WHERE role = 'admin' AND disabled_at IS NULL AND deleting_at IS NULL LIMIT 1`;
  return rows.length > 0;
}

/** An administrator with a wallet and a session, from whoever may write to the database. */
export interface NewAdministrator {
  accountId: string;
  walletId: string;
  session: { tokenHash: Uint8Array; expiresAt: Date };
  /** Whether there may be an enabled administrator already. */
  isAnother: boolean;
  /** Its own from then on; null: it signs in by its session alone. */
  email: string | null;
}

/**
 * Makes an administrator. `exists`: there is one already, and another was not asked for. `taken`:
 * the address belongs to another account.
 */
export function appointAdministrator(
  sql: Sql,
  { accountId, walletId, session, isAnother, email }: NewAdministrator,
  event: NewAuditEvent,
): Promise<'made' | 'exists' | 'taken'> {
  return audited<'made' | 'exists' | 'taken'>(sql, async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${ROLE_LOCK})`;
    if (!isAnother && (await hasAdministrator(transaction))) {
      return { result: 'exists', event: null };
    }
    await createAccount(transaction, { id: accountId, role: 'admin' });
    if (email !== null && !(await giveAddress(transaction, accountId, email))) {
      await transaction`DELETE FROM accounts WHERE id = ${accountId}`;
      return { result: 'taken', event: null };
    }
    await createWallet(transaction, { id: walletId, accountId, type: 'personal' });
    await createSession(transaction, { ...session, accountId });
    return { result: 'made', event };
  });
}

/** Ends an enabled administrator's sessions and makes a new one; false: there is none such. */
export function renewAdministrator(
  sql: Sql,
  accountId: string,
  session: { tokenHash: Uint8Array; expiresAt: Date },
  event: NewAuditEvent,
): Promise<boolean> {
  return audited<boolean>(sql, async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${ROLE_LOCK})`;
    const account = await findAccount(transaction, accountId);
    if (account?.role !== 'admin' || account.status !== 'active') {
      return { result: false, event: null };
    }
    await transaction`DELETE FROM sessions WHERE account_id = ${accountId}`;
    await createSession(transaction, { ...session, accountId });
    return { result: true, event };
  });
}

/**
 * Whether an account may begin nothing new. It, or the person of the membership, is barred or gone,
 * the membership has ended, or the organization is not active.
 */
export async function isAccountDisabled(sql: Queryable, id: string): Promise<boolean> {
  const rows = await sql`SELECT FROM accounts a
      LEFT JOIN accounts p ON p.id = a.person_id
      LEFT JOIN organizations g ON g.id = a.organization_id
      LEFT JOIN organization_members m ON m.account_id = a.id
    WHERE a.id = ${id} AND NOT ${sql.unsafe(accountBarred)}
      AND coalesce(g.status, 'active') = 'active' AND coalesce(m.status, 'active') = 'active'`;
  return rows.length === 0;
}
