// Accounts, their role, and the wallet that each has. Sign-in comes later; to administer is a role
// of the account and stands nowhere else.
import type { AccountRole } from './account-role.ts';
import { audited, type NewAuditEvent } from './audit-events.ts';
import type { Queryable, Sql, Transaction } from './driver/sql.ts';
import { createSession } from './sessions.ts';
import { createWallet } from './wallets.ts';

export interface Account {
  id: string;
  role: AccountRole;
  /** Whom it is for, in an administrator's words; null: nobody said. */
  label: string | null;
  /** Its first personal wallet. */
  walletId: string | null;
  /** Null: it is enabled. */
  disabledAt: Date | null;
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
  disabled_at: Date | null;
  revision: number;
  created_at: Date;
  updated_at: Date;
};

/** Any constant: the key of the lock that orders changes of roles ('role'). */
const ROLE_LOCK = 0x726f6c65;

function readAccount(row: Row): Account {
  return {
    id: row.id,
    role: row.role,
    label: row.label,
    walletId: row.wallet_id,
    disabledAt: row.disabled_at,
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

/** The account with its first personal wallet, or null. */
export async function findAccount(sql: Queryable, accountId: string): Promise<Account | null> {
  const [row] = await sql<Row[]>`
    SELECT a.*, ${walletOf(sql)} FROM accounts a WHERE a.id = ${accountId}`;
  return row === undefined ? null : readAccount(row);
}

export interface AccountFilter {
  /** A part of its label, the beginning of its id, or a wallet id, key id or key prefix of it. */
  search: string | null;
  role: AccountRole | null;
  status: 'active' | 'disabled' | null;
}

/** Accounts that pass every given filter, newest first, older than `cursor` (an id). */
export async function listAccounts(
  sql: Queryable,
  { search, role, status }: AccountFilter,
  limit: number,
  cursor: string | null,
): Promise<{ accounts: Account[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    SELECT a.*, ${walletOf(sql)} FROM accounts a
    WHERE (${cursor}::text IS NULL OR a.id < ${cursor}::text)
      AND (${role}::text IS NULL OR a.role = ${role}::text)
      AND (${status}::text IS NULL OR (a.disabled_at IS NULL) = (${status}::text = 'active'))
      AND (${search}::text IS NULL OR starts_with(a.id, ${search}::text)
        OR strpos(lower(a.label), lower(${search}::text)) > 0
        OR EXISTS (SELECT 1 FROM wallets w
          WHERE w.account_id = a.id AND w.id = ${search}::text)
        OR EXISTS (SELECT 1 FROM api_keys k WHERE k.account_id = a.id
          AND (k.id = ${search}::text OR k.prefix = ${search}::text)))
    ORDER BY a.id DESC LIMIT ${limit + 1}`;
  const accounts = rows.slice(0, limit).map(readAccount);
  return { accounts, nextCursor: rows.length > limit ? (accounts.at(-1)?.id ?? null) : null };
}

export interface AccountChange {
  accountId: string;
  /** The revision that the caller knows; null: whatever it is. */
  revision: number | null;
  role?: AccountRole;
  label?: string | null;
  disabled?: boolean;
}

export type AccountChanged =
  | { status: 'changed' | 'unchanged'; account: Account }
  | { status: 'stale'; revision: number }
  /** Nobody could administer any more. */
  | { status: 'last_admin' }
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
    const disabled = change.disabled ?? before.disabledAt !== null;
    const isSwitched = disabled !== (before.disabledAt !== null);
    if (role === before.role && label === before.label && !isSwitched) {
      return { result: { status: 'unchanged', account: before }, event: null };
    }
    const mayAdminister = role === 'admin' && !disabled;
    if (!mayAdminister && (await isLastAdmin(transaction, before))) {
      return { result: { status: 'last_admin' }, event: null };
    }
    await transaction`
      UPDATE accounts SET role = ${role}, label = ${label}, revision = revision + 1,
        updated_at = now(),
        disabled_at = CASE WHEN ${disabled} THEN coalesce(disabled_at, now()) END
      WHERE id = ${before.id}`;
    const account = await findAccount(transaction, before.id);
    if (account === null) throw new Error('a locked account is gone');
    return { result: { status: 'changed', account }, event: event(before, account) };
  });
}

async function isLastAdmin(transaction: Transaction, account: Account): Promise<boolean> {
  if (account.role !== 'admin' || account.disabledAt !== null) return false;
  const rows = await transaction`
    SELECT 1 FROM accounts
    WHERE role = 'admin' AND disabled_at IS NULL AND id <> ${account.id} LIMIT 1`;
  return rows.length === 0;
}

/** Whether an enabled administrator exists. */
export async function hasAdministrator(sql: Queryable): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM accounts WHERE role = 'admin' AND disabled_at IS NULL LIMIT 1`;
  return rows.length > 0;
}

/** An administrator with a wallet and a session, from whoever may write to the database. */
export interface NewAdministrator {
  accountId: string;
  walletId: string;
  session: { tokenHash: Uint8Array; expiresAt: Date };
  /** Whether there may be an enabled administrator already. */
  isAnother: boolean;
}

/** Makes an administrator; false when there is one already, and another was not asked for. */
export function appointAdministrator(
  sql: Sql,
  { accountId, walletId, session, isAnother }: NewAdministrator,
  event: NewAuditEvent,
): Promise<boolean> {
  return audited<boolean>(sql, async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${ROLE_LOCK})`;
    if (!isAnother && (await hasAdministrator(transaction))) return { result: false, event: null };
    await createAccount(transaction, { id: accountId, role: 'admin' });
    await createWallet(transaction, { id: walletId, accountId, type: 'personal' });
    await createSession(transaction, { ...session, accountId });
    return { result: true, event };
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
    if (account?.role !== 'admin' || account.disabledAt !== null) {
      return { result: false, event: null };
    }
    await transaction`DELETE FROM sessions WHERE account_id = ${accountId}`;
    await createSession(transaction, { ...session, accountId });
    return { result: true, event };
  });
}

/** Whether an account may begin nothing new; one that is gone may not either. */
export async function isAccountDisabled(sql: Queryable, id: string): Promise<boolean> {
  const rows = await sql`SELECT FROM accounts WHERE id = ${id} AND disabled_at IS NULL`;
  return rows.length === 0;
}
