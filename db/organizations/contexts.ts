// In which organization an account acts: of a membership its person, role and payer, of an
// organization's own account the organization. Of a person's account there is nothing to read.
import type { Queryable } from '../driver/sql.ts';
import type { OrganizationRole, OrganizationStatus } from './role.ts';

/** A context as its rows have it. */
export interface StoredContext {
  /** The membership's account, or the organization's own. */
  accountId: string;
  organizationId: number;
  /** The person; null: the organization itself. */
  personId: string | null;
  /** Null: the organization itself. */
  role: OrganizationRole | null;
  /** The membership has not ended; the organization itself has no end but closing. */
  isActive: boolean;
  isCanonicalOwner: boolean;
  hasVerifiedDomain: boolean;
  status: OrganizationStatus;
  /** What differs from the defaults. */
  settings: Readonly<Record<string, unknown>>;
  settingsRevision: bigint;
  organizationAccountId: string;
  organizationWalletId: string;
  /** Null: the organization itself. */
  personalWalletId: string | null;
}

export type ContextColumns = {
  context_account_id: string;
  context_organization_id: number | null;
  context_person_id: string | null;
  context_role: OrganizationRole | null;
  context_active: boolean;
  context_canonical: boolean;
  context_verified: boolean;
  context_status: OrganizationStatus;
  context_settings: Record<string, unknown>;
  context_revision: bigint;
  context_own_account_id: string;
  context_wallet_id: string;
  context_personal_wallet_id: string | null;
};

/** Behind a table of accounts `a`: what its context is read from. */
export const joinedContext = `LEFT JOIN organizations g ON g.id = a.organization_id
  LEFT JOIN organization_members m ON m.account_id = a.id
  LEFT JOIN accounts p ON p.id = a.person_id
  LEFT JOIN LATERAL (SELECT w.id FROM wallets w
    WHERE w.account_id = a.person_id AND w.type = 'personal'
    ORDER BY w.created_at, w.id LIMIT 1) pw ON true`;

/** Columns of the context of an account `a`. */
export const contextColumns = `a.id AS context_account_id, g.id AS context_organization_id,
  a.person_id AS context_person_id, m.role AS context_role,
  coalesce(m.status = 'active', a.kind = 'organization') AS context_active,
  g.owner_user_id IS NOT DISTINCT FROM a.person_id AND a.person_id IS NOT NULL
    AS context_canonical,
  (p.email_owned AND p.email_verified_at IS NOT NULL AND EXISTS (
    SELECT FROM organization_domains d WHERE d.organization_id = g.id
      AND d.domain = split_part(p.email, '@', 2) AND d.status IN ('verified', 'failing')))
    IS TRUE AS context_verified, g.status AS context_status, g.settings AS context_settings,
  g.settings_revision AS context_revision, g.account_id AS context_own_account_id,
  g.wallet_id AS context_wallet_id,
  pw.id AS context_personal_wallet_id`;

/**
 * An account `a`, or the person `p` of a membership, is disabled, being deleted or erased: its
 * credentials are good for nothing.
 */
export const accountBarred = `(a.disabled_at IS NOT NULL OR a.deleting_at IS NOT NULL
  OR p.disabled_at IS NOT NULL OR p.deleting_at IS NOT NULL)`;

/** Null: the account is a person's. */
export function readContext(row: ContextColumns): StoredContext | null {
  if (row.context_organization_id === null) return null;
  return {
    accountId: row.context_account_id,
    organizationId: row.context_organization_id,
    personId: row.context_person_id,
    role: row.context_role,
    isActive: row.context_active,
    isCanonicalOwner: row.context_canonical,
    hasVerifiedDomain: row.context_verified,
    status: row.context_status,
    settings: row.context_settings,
    settingsRevision: row.context_revision,
    organizationAccountId: row.context_own_account_id,
    organizationWalletId: row.context_wallet_id,
    personalWalletId: row.context_personal_wallet_id,
  };
}

/** A person's context in an organization, also one that has ended; null: there was never one. */
export async function findContext(
  sql: Queryable,
  personId: string,
  organizationId: number,
): Promise<StoredContext | null> {
  const [row] = await sql<ContextColumns[]>`
    SELECT ${sql.unsafe(contextColumns)} FROM accounts a ${sql.unsafe(joinedContext)}
    WHERE a.kind = 'member' AND a.person_id = ${personId}
      AND a.organization_id = ${organizationId}`;
  return row === undefined ? null : readContext(row);
}

/** The context that an account acts in, also one that has ended; null: it is a person's. */
export async function findContextOf(
  sql: Queryable,
  accountId: string,
): Promise<StoredContext | null> {
  const [row] = await sql<ContextColumns[]>`
    SELECT ${sql.unsafe(contextColumns)} FROM accounts a ${sql.unsafe(joinedContext)}
    WHERE a.id = ${accountId}`;
  return row === undefined ? null : readContext(row);
}
