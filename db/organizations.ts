// Organizations: what the row of one says. Whatever changes money or what somebody may do fences
// the wallet and appends to the audit in the same transaction.
import type { Queryable } from './driver/sql.ts';
import type { OrganizationStatus } from './organizations/role.ts';

export interface Organization {
  id: number;
  /** Its own account, which owns its wallet and its keys. */
  accountId: string;
  walletId: string;
  name: string;
  slug: string | null;
  /** The canonical owner; null once that person is erased. */
  ownerUserId: string | null;
  billingUserId: string | null;
  allowedDomain: string | null;
  status: OrganizationStatus;
  suspendedBy: 'owner' | 'operator' | null;
  closedAt: Date | null;
  seatsTaken: number;
  seatLimit: number;
  /** What differs from the defaults. */
  settings: Readonly<Record<string, unknown>>;
  settingsRevision: bigint;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

export type OrganizationRow = {
  id: number;
  account_id: string;
  wallet_id: string;
  name: string;
  slug: string | null;
  owner_user_id: string | null;
  billing_user_id: string | null;
  allowed_domain: string | null;
  status: OrganizationStatus;
  suspended_by: 'owner' | 'operator' | null;
  closed_at: Date | null;
  seats_taken: number;
  seat_limit: number;
  settings: Record<string, unknown>;
  settings_revision: bigint;
  revision: number;
  created_at: Date;
  updated_at: Date;
};

export function readOrganization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    accountId: row.account_id,
    walletId: row.wallet_id,
    name: row.name,
    slug: row.slug,
    ownerUserId: row.owner_user_id,
    billingUserId: row.billing_user_id,
    allowedDomain: row.allowed_domain,
    status: row.status,
    suspendedBy: row.suspended_by,
    closedAt: row.closed_at,
    seatsTaken: row.seats_taken,
    seatLimit: row.seat_limit,
    settings: row.settings,
    settingsRevision: row.settings_revision,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The organization of an id, whatever its status; null: there is none. */
export async function findOrganization(sql: Queryable, id: number): Promise<Organization | null> {
  const [row] = await sql<OrganizationRow[]>`SELECT * FROM organizations WHERE id = ${id}`;
  return row === undefined ? null : readOrganization(row);
}
