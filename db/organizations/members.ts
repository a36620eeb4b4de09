// The members of organizations. A membership has an account of its own, which it keeps when it ends
// and is taken up again.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import { revokeAllKeys } from '../keys.ts';
import type { OrganizationRole } from './role.ts';

export const memberStatuses = ['active', 'removed', 'left'] as const;
export type MemberStatus = (typeof memberStatuses)[number];
export type ManagedBy = 'manual' | 'domain' | 'sso' | 'scim';

export interface Member {
  /** The person. */
  userId: string;
  /** The membership's account. */
  accountId: string;
  role: OrganizationRole;
  status: MemberStatus;
  managedBy: ManagedBy;
  /** Its own monthly cap; null: the default of members. */
  capMicros: bigint | null;
  joinedAt: Date;
  /** Null: it has none that is its own. */
  email: string | null;
  fullName: string | null;
  groups: string[];
  /** In this UTC month. */
  spentMicros: bigint;
  heldMicros: bigint;
}

type Row = {
  user_id: string;
  account_id: string;
  role: OrganizationRole;
  status: MemberStatus;
  managed_by: ManagedBy;
  cap_micros: bigint | null;
  joined_at: Date;
  email: string | null;
  full_name: string | null;
  groups: string[];
  spent_micros: bigint | null;
  held_micros: bigint | null;
};

const selected = `SELECT m.user_id, m.account_id, m.role, m.status, m.managed_by, m.cap_micros,
    m.joined_at, CASE WHEN a.email_owned THEN a.email END AS email, a.full_name,
    s.spent_micros, s.held_micros,
    ARRAY(SELECT g.id FROM organization_group_members x JOIN organization_groups g
      ON g.id = x.group_id WHERE g.organization_id = m.organization_id AND x.user_id = m.user_id
      ORDER BY g.id) AS groups
  FROM organization_members m
  JOIN accounts a ON a.id = m.user_id
  JOIN organizations o ON o.id = m.organization_id
  LEFT JOIN spend s ON s.wallet_id = o.wallet_id AND s.spender = m.account_id
    AND s.period = 'month' AND s.starts_at = date_trunc('month', now(), 'UTC')`;

function readMember(row: Row): Member {
  return {
    userId: row.user_id,
    accountId: row.account_id,
    role: row.role,
    status: row.status,
    managedBy: row.managed_by,
    capMicros: row.cap_micros,
    joinedAt: row.joined_at,
    email: row.email,
    fullName: row.full_name,
    groups: row.groups,
    spentMicros: row.spent_micros ?? 0n,
    heldMicros: row.held_micros ?? 0n,
  };
}

/** One membership, whatever its status; null: the person never was a member. */
export async function findMember(
  sql: Queryable,
  organizationId: number,
  userId: string,
): Promise<Member | null> {
  const [row] = await sql<Row[]>`
    ${sql.unsafe(selected)} WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`;
  return row === undefined ? null : readMember(row);
}

export interface MemberFilter {
  status: MemberStatus;
  /** Only this person; null: everybody. */
  userId: string | null;
}

/** Members that pass, the newest person first, behind `cursor` (a person). */
export async function listMembers(
  sql: Queryable,
  organizationId: number,
  { status, userId }: MemberFilter,
  limit: number,
  cursor: string | null,
): Promise<{ members: Member[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    ${sql.unsafe(selected)}
    WHERE m.organization_id = ${organizationId} AND m.status = ${status}
      AND (${userId}::text IS NULL OR m.user_id = ${userId}::text)
      AND (${cursor}::text IS NULL OR m.user_id < ${cursor}::text)
    ORDER BY m.user_id DESC LIMIT ${limit + 1}`;
  const members = rows.slice(0, limit).map(readMember);
  return { members, nextCursor: rows.length > limit ? (members.at(-1)?.userId ?? null) : null };
}

/** The persons of these that are no active members. */
export async function findStrangers(
  sql: Queryable,
  organizationId: number,
  userIds: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ user_id: string }[]>`
    SELECT user_id FROM organization_members
    WHERE organization_id = ${organizationId} AND status = 'active'
      AND user_id = ANY (${arrayLiteral(userIds)}::text[])`;
  const known = new Set(rows.map((row) => row.user_id));
  return new Set(userIds.filter((id) => !known.has(id)));
}

/** Counts the open organizations that the person is a member of. The person is locked for it. */
export async function countMemberships(transaction: Transaction, userId: string): Promise<number> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${userId} FOR NO KEY UPDATE`;
  const [row] = await transaction<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_members m
    JOIN organizations o ON o.id = m.organization_id
    WHERE m.user_id = ${userId} AND m.status = 'active' AND o.status <> 'closed'`;
  return row?.count ?? 0;
}

export interface NewMember {
  organizationId: number;
  userId: string;
  /** The account to make, if the person never was a member. */
  accountId: string;
  role: OrganizationRole;
  managedBy: ManagedBy;
  capMicros: bigint | null;
}

/** Makes the membership, or takes it up again; returns its account. Seats are counted apart. */
export async function admitMember(transaction: Transaction, member: NewMember): Promise<string> {
  const { organizationId, userId, role, managedBy } = member;
  const cap = member.capMicros?.toString() ?? null;
  const [known] = await transaction<{ account_id: string }[]>`
    UPDATE organization_members SET status = 'active', role = ${role}, managed_by = ${managedBy},
      cap_micros = ${cap}::bigint, joined_at = now(), ended_at = NULL, erased_at = NULL
    WHERE organization_id = ${organizationId} AND user_id = ${userId} RETURNING account_id`;
  if (known !== undefined) return known.account_id;
  await transaction`
    INSERT INTO accounts (id, kind, person_id, organization_id)
    VALUES (${member.accountId}, 'member', ${userId}, ${organizationId})`;
  await transaction`
    INSERT INTO organization_members
      (organization_id, user_id, account_id, role, managed_by, cap_micros)
    VALUES (${organizationId}, ${userId}, ${member.accountId}, ${role}, ${managedBy},
      ${cap}::bigint)`;
  return member.accountId;
}

export async function changeMember(
  transaction: Transaction,
  organizationId: number,
  { userId, role, capMicros }: Pick<Member, 'userId' | 'role' | 'capMicros'>,
): Promise<void> {
  await transaction`
    UPDATE organization_members
    SET role = ${role}, cap_micros = ${capMicros?.toString() ?? null}::bigint
    WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
}

/** What goes with a membership. */
export interface RemovedParts {
  keys: number;
  mcpServers: number;
}

/** What would go. */
export async function countParts(sql: Queryable, accountId: string): Promise<RemovedParts> {
  const [row] = await sql<{ keys: number; mcp_servers: number }[]>`
    SELECT (SELECT count(*)::integer FROM api_keys
        WHERE account_id = ${accountId} AND status = 'active') AS keys,
      (SELECT count(*)::integer FROM mcp_servers WHERE account_id = ${accountId}) AS mcp_servers`;
  return { keys: row?.keys ?? 0, mcpServers: row?.mcp_servers ?? 0 };
}

/**
 * Ends an active membership and what acts for it; returns what went, with the ids of its keys. Its
 * private content waits for a return. Whoever has locked the organization gives the seat back.
 */
export async function endMembership(
  transaction: Transaction,
  organizationId: number,
  { userId, accountId }: Pick<Member, 'userId' | 'accountId'>,
  status: 'removed' | 'left',
): Promise<RemovedParts & { keyIds: string[] }> {
  await transaction`
    UPDATE organization_members SET status = ${status}, ended_at = now()
    WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
  const keyIds = await revokeAllKeys(transaction, accountId);
  const servers = await transaction`DELETE FROM mcp_servers WHERE account_id = ${accountId}`;
  await transaction`
    DELETE FROM organization_group_members x USING organization_groups g
    WHERE g.id = x.group_id AND g.organization_id = ${organizationId} AND x.user_id = ${userId}`;
  await transaction`
    UPDATE accounts SET default_organization_id = NULL
    WHERE id = ${userId} AND default_organization_id = ${organizationId}`;
  return { keys: keyIds.length, mcpServers: servers.count, keyIds };
}

/** Active owners and admins with an address of their own. */
export async function listLeaders(
  sql: Queryable,
  organizationId: number,
): Promise<{ userId: string; email: string }[]> {
  const rows = await sql<{ user_id: string; email: string }[]>`
    SELECT m.user_id, a.email FROM organization_members m JOIN accounts a ON a.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.status = 'active'
      AND m.role IN ('owner', 'admin') AND a.email IS NOT NULL AND a.email_owned
      AND a.deleting_at IS NULL ORDER BY m.user_id`;
  return rows.map((row) => ({ userId: row.user_id, email: row.email }));
}
