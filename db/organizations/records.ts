// The rows of organizations: made, locked, changed, and listed. An act locks the row first, so that
// all acts of one organization have one order.
import { randomInt } from 'node:crypto';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { type Organization, type OrganizationRow, readOrganization } from '../organizations.ts';
import { createWallet } from '../wallets.ts';
import { admitMember } from './members.ts';
import type { OrganizationRole, OrganizationStatus } from './role.ts';

const idMin = 100_000;
/** `randomInt` takes no end of over 48 bits more than its start; PostgreSQL's integer ends here. */
const idEnd = 2 ** 31;

export interface NewOrganization {
  name: string;
  slug: string | null;
  ownerUserId: string;
  seatLimit: number;
  /** Ids of the accounts to make, and of the wallet. */
  accountId: string;
  walletId: string;
  ownerAccountId: string;
}

/** A number that no organization has; the primary key decides between two at once. */
async function freeId(sql: Queryable): Promise<number> {
  for (;;) {
    const id = randomInt(idMin, idEnd);
    const rows = await sql`SELECT 1 FROM organizations WHERE id = ${id}`;
    if (rows.length === 0) return id;
  }
}

/** The organization with its account, its wallet, and its owner as a member. */
export async function createOrganization(
  transaction: Transaction,
  made: NewOrganization,
): Promise<Organization> {
  const { name, slug, ownerUserId, seatLimit, accountId, walletId } = made;
  const id = await freeId(transaction);
  await transaction`
    INSERT INTO accounts (id, kind, organization_id) VALUES (${accountId}, 'organization', ${id})`;
  await createWallet(transaction, { id: walletId, accountId, type: 'organization' });
  const [row] = await transaction<OrganizationRow[]>`
    INSERT INTO organizations (id, account_id, wallet_id, name, slug, owner_user_id, seat_limit)
    VALUES (${id}, ${accountId}, ${walletId}, ${name}, ${slug}, ${ownerUserId}, ${seatLimit})
    RETURNING *`;
  if (row === undefined) throw new Error('an insert returned no row');
  await admitMember(transaction, {
    organizationId: id,
    userId: ownerUserId,
    accountId: made.ownerAccountId,
    role: 'owner',
    managedBy: 'manual',
    capMicros: null,
  });
  return readOrganization(row);
}

/** The organization, locked until the transaction ends; null: there is none. */
export async function lockOrganization(
  transaction: Transaction,
  id: number,
): Promise<Organization | null> {
  const [row] = await transaction<OrganizationRow[]>`
    SELECT * FROM organizations WHERE id = ${id} FOR UPDATE`;
  return row === undefined ? null : readOrganization(row);
}

export type OrganizationChange = Partial<
  Pick<
    Organization,
    'name' | 'slug' | 'billingUserId' | 'allowedDomain' | 'seatLimit' | 'ownerUserId'
  >
>;

/** Changes a row that is locked; what is left out stays. */
export async function changeOrganization(
  transaction: Transaction,
  before: Organization,
  change: OrganizationChange,
): Promise<void> {
  const after = { ...before, ...change };
  await transaction`
    UPDATE organizations SET name = ${after.name}, slug = ${after.slug},
      billing_user_id = ${after.billingUserId}, allowed_domain = ${after.allowedDomain},
      seat_limit = ${after.seatLimit}, owner_user_id = ${after.ownerUserId}
    WHERE id = ${before.id}`;
}

/** Each act gives the row another revision; returns it. */
export async function raiseRevision(transaction: Transaction, id: number): Promise<void> {
  await transaction`
    UPDATE organizations SET revision = revision + 1, updated_at = now() WHERE id = ${id}`;
}

/** Takes seats, or gives them back: one too many is refused by `organization_seats`. */
export async function takeSeats(
  transaction: Transaction,
  id: number,
  count: number,
): Promise<void> {
  if (count === 0) return;
  await transaction`
    UPDATE organizations SET seats_taken = seats_taken + ${count} WHERE id = ${id}`;
}

export async function setStatus(
  transaction: Transaction,
  id: number,
  status: OrganizationStatus,
  suspendedBy: 'owner' | 'operator' | null,
): Promise<void> {
  await transaction`
    UPDATE organizations SET status = ${status}, suspended_by = ${suspendedBy},
      closed_at = CASE WHEN ${status} = 'closed' THEN now() END
    WHERE id = ${id}`;
}

/** What a person is in an organization. */
export interface Membership {
  organization: Organization;
  role: OrganizationRole;
  /** The membership's account. */
  accountId: string;
  joinedAt: Date;
}

type MembershipRow = OrganizationRow & {
  role: OrganizationRole;
  member_account_id: string;
  joined_at: Date;
};

function readMembership(row: MembershipRow): Membership {
  const { role, member_account_id: accountId, joined_at: joinedAt } = row;
  return { organization: readOrganization(row), role, accountId, joinedAt };
}

/** The person's active membership; null: it has none there. */
export async function findMembership(
  sql: Queryable,
  organizationId: number,
  userId: string,
): Promise<Membership | null> {
  const [row] = await sql<MembershipRow[]>`
    SELECT o.*, m.role, m.account_id AS member_account_id, m.joined_at
    FROM organization_members m JOIN organizations o ON o.id = m.organization_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
      AND m.status = 'active'`;
  return row === undefined ? null : readMembership(row);
}

/** All of a person; a closed one is its canonical owner's alone. */
export async function listMemberships(sql: Queryable, userId: string): Promise<Membership[]> {
  const rows = await sql<MembershipRow[]>`
    SELECT o.*, m.role, m.account_id AS member_account_id, m.joined_at
    FROM organization_members m JOIN organizations o ON o.id = m.organization_id
    WHERE m.user_id = ${userId} AND m.status = 'active'
      AND (o.status <> 'closed' OR o.owner_user_id = ${userId})
    ORDER BY m.joined_at, o.id`;
  return rows.map(readMembership);
}

/** What the wallet has free. */
export async function readBalance(sql: Queryable, walletId: string): Promise<bigint> {
  const [row] = await sql<{ wallet_micros: bigint }[]>`
    SELECT wallet_micros FROM wallets WHERE id = ${walletId}`;
  return row?.wallet_micros ?? 0n;
}

export interface OrganizationFilter {
  /** A part of the name, the beginning of the slug, or the id. */
  search: string | null;
  status: OrganizationStatus | null;
}

/** All that pass, by id, behind `cursor`. */
export async function listOrganizations(
  sql: Queryable,
  { search, status }: OrganizationFilter,
  limit: number,
  cursor: number | null,
): Promise<{ organizations: Organization[]; nextCursor: number | null }> {
  const rows = await sql<OrganizationRow[]>`
    SELECT * FROM organizations o
    WHERE (${status}::text IS NULL OR o.status = ${status}::text)
      AND (${cursor}::integer IS NULL OR o.id > ${cursor}::integer)
      AND (${search}::text IS NULL OR o.id::text = ${search}::text
        OR position(lower(${search}::text) IN lower(o.name)) > 0
        OR starts_with(o.slug, lower(${search}::text)))
    ORDER BY o.id LIMIT ${limit + 1}`;
  const organizations = rows.slice(0, limit).map(readOrganization);
  const nextCursor = rows.length > limit ? (organizations.at(-1)?.id ?? null) : null;
  return { organizations, nextCursor };
}
