// The person of an account: its address, name, and whether the address is its own. An address
// belongs to the account that proved it; others may only have typed it.

import type { Queryable, Transaction } from '../driver/sql.ts';
import type { AccountRole } from './role.ts';

export type AccountStatus = 'unverified' | 'active' | 'disabled' | 'deleting' | 'erased';

export interface Person {
  id: string;
  role: AccountRole;
  /** Lower case, its domain in ASCII; null: of an account that nobody signs in to by a code. */
  email: string | null;
  /** It proved the address, or an administrator gave it. */
  emailOwned: boolean;
  emailVerifiedAt: Date | null;
  fullName: string | null;
  status: AccountStatus;
  hasPassword: boolean;
  referralCode: string;
  /** The account's personal wallet. */
  walletId: string | null;
  createdAt: Date;
}

type Row = {
  id: string;
  role: AccountRole;
  email: string | null;
  email_owned: boolean;
  email_verified_at: Date | null;
  full_name: string | null;
  disabled_at: Date | null;
  deleting_at: Date | null;
  erased_at: Date | null;
  has_password: boolean;
  referral_code: string;
  wallet_id: string | null;
  created_at: Date;
};

/** What the state of an account follows from. */
export interface Standing {
  email: string | null;
  emailOwned: boolean;
  disabledAt: Date | null;
  deletingAt: Date | null;
  erasedAt: Date | null;
}

/** The state of an account: what ends it counts before what bars it. */
export function statusOf(standing: Standing): AccountStatus {
  if (standing.erasedAt !== null) return 'erased';
  if (standing.deletingAt !== null) return 'deleting';
  if (standing.disabledAt !== null) return 'disabled';
  return standing.email !== null && !standing.emailOwned ? 'unverified' : 'active';
}

function readPerson(row: Row): Person {
  return {
    id: row.id,
    role: row.role,
    email: row.email,
    emailOwned: row.email_owned,
    emailVerifiedAt: row.email_verified_at,
    fullName: row.full_name,
    status: statusOf({
      email: row.email,
      emailOwned: row.email_owned,
      disabledAt: row.disabled_at,
      deletingAt: row.deleting_at,
      erasedAt: row.erased_at,
    }),
    hasPassword: row.has_password,
    referralCode: row.referral_code,
    walletId: row.wallet_id,
    createdAt: row.created_at,
  };
}

function columns(sql: Queryable) {
  return sql`a.id, a.role, a.email, a.email_owned, a.email_verified_at, a.full_name,
    a.disabled_at, a.deleting_at, a.erased_at, a.referral_code, a.created_at,
    EXISTS (SELECT FROM account_passwords p WHERE p.account_id = a.id) AS has_password,
    (SELECT w.id FROM wallets w WHERE w.account_id = a.id AND w.type = 'personal'
      ORDER BY w.created_at, w.id LIMIT 1) AS wallet_id`;
}

/** The person of an account, or null. */
export async function findPerson(sql: Queryable, accountId: string): Promise<Person | null> {
  const [row] = await sql<Row[]>`
    SELECT ${columns(sql)} FROM accounts a WHERE a.id = ${accountId}`;
  return row === undefined ? null : readPerson(row);
}

/**
 * The person who gets mails about the money of an account. An organization has named one for its
 * bills; else it is its canonical owner. Null: nobody.
 */
export async function findBilledPerson(sql: Queryable, accountId: string): Promise<Person | null> {
  const [row] = await sql<Row[]>`
    SELECT ${columns(sql)} FROM accounts a WHERE a.kind = 'person' AND a.id = coalesce(
      (SELECT coalesce(g.billing_user_id, g.owner_user_id) FROM organizations g
        WHERE g.account_id = ${accountId}), ${accountId})`;
  return row === undefined ? null : readPerson(row);
}

/** The account that owns the address, or null. */
export async function findOwner(sql: Queryable, address: string): Promise<Person | null> {
  const [row] = await sql<Row[]>`
    SELECT ${columns(sql)} FROM accounts a WHERE a.email = ${address} AND a.email_owned`;
  return row === undefined ? null : readPerson(row);
}

/** Whether an administrator gave the address to an account that has not been entered yet. */
export async function isGivenAddress(sql: Queryable, address: string): Promise<boolean> {
  const rows = await sql`
    SELECT FROM accounts WHERE email = ${address} AND email_owned AND email_verified_at IS NULL`;
  return rows.length > 0;
}

/** The newest account that only typed the address, or null. */
export async function findNewestTyped(sql: Queryable, address: string): Promise<Person | null> {
  const [row] = await sql<Row[]>`
    SELECT ${columns(sql)} FROM accounts a WHERE a.email = ${address} AND NOT a.email_owned
    ORDER BY a.id DESC LIMIT 1`;
  return row === undefined ? null : readPerson(row);
}

/** The account of a referral code, in any case of letters; null: nobody's. */
export async function findReferrer(sql: Queryable, code: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM accounts WHERE referral_code = ${code.trim().toUpperCase()}
      AND disabled_at IS NULL AND deleting_at IS NULL`;
  return row?.id ?? null;
}

export interface NewPerson {
  id: string;
  walletId: string;
  role?: AccountRole;
  label?: string | null;
  email: string;
  /** `typed`: nobody has proved it; `given`: by an administrator; `proved`: by a code. */
  address: 'typed' | 'given' | 'proved';
  fullName: string | null;
  referredBy?: string | null;
  /** The version of the terms that were accepted; null: none were asked for. */
  termsVersion?: string | null;
}

/** Makes the account and its wallet; false: the address is somebody's by now. */
export async function createPerson(transaction: Transaction, person: NewPerson): Promise<boolean> {
  const { id, email, address, fullName, role = 'user', label = null } = person;
  const { referredBy = null, termsVersion = null } = person;
  const isOwned = address !== 'typed';
  const rows = await transaction`
    INSERT INTO accounts (id, role, label, email, email_owned, email_verified_at, full_name,
      referred_by, terms_version, terms_accepted_at)
    VALUES (${id}, ${role}, ${label}, ${email}, ${isOwned},
      ${address === 'proved' ? transaction`now()` : null}, ${fullName}, ${referredBy},
      ${termsVersion}, ${termsVersion === null ? null : transaction`now()`})
    ON CONFLICT (email) WHERE email_owned DO NOTHING RETURNING 1`;
  if (rows.length === 0) return false;
  await transaction`
    INSERT INTO wallets (id, account_id, type) VALUES (${person.walletId}, ${id}, 'personal')`;
  return true;
}

/**
 * The account has proved the address: it is its own from now on. False: it belongs to another one,
 * or there is no such account.
 */
export async function proveAddress(
  transaction: Transaction,
  accountId: string,
  address: string,
): Promise<boolean> {
  await lockAddress(transaction, address);
  const rows = await transaction`
    UPDATE accounts a SET email = ${address}, email_owned = true, email_verified_at = now(),
      revision = revision + 1, updated_at = now()
    WHERE a.id = ${accountId} AND a.erased_at IS NULL AND NOT EXISTS (
      SELECT FROM accounts o WHERE o.email = ${address} AND o.email_owned AND o.id <> a.id)
    RETURNING 1`;
  return rows.length > 0;
}

/**
 * The address is the account's own, by an administrator's word: it is entered by the first right
 * code. False: it belongs to another account.
 */
export async function giveAddress(
  transaction: Transaction,
  accountId: string,
  address: string | null,
): Promise<boolean> {
  if (address !== null) await lockAddress(transaction, address);
  const rows = await transaction`
    UPDATE accounts a SET email = ${address}, email_owned = ${address !== null},
      email_verified_at = NULL
    WHERE a.id = ${accountId} AND NOT EXISTS (
      SELECT FROM accounts o WHERE o.email = ${address} AND o.email_owned AND o.id <> a.id)
    RETURNING 1`;
  return rows.length > 0;
}

/** Whoever wants the same address at the same moment waits here for the first of them. */
async function lockAddress(transaction: Transaction, address: string): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(hashtextextended(${`address:${address}`}, 0))`;
}

/** Another name; null takes it away. */
export async function renamePerson(
  sql: Queryable,
  accountId: string,
  fullName: string | null,
): Promise<void> {
  await sql`
    UPDATE accounts SET full_name = ${fullName}, revision = revision + 1, updated_at = now()
    WHERE id = ${accountId} AND erased_at IS NULL`;
}
