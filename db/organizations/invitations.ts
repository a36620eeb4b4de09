// Invitations. They carry no secret: whoever has proved the address accepts. A pending one has a
// seat.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';
import type { OrganizationRole } from './role.ts';

export const invitationStatuses = [
  'pending',
  'accepted',
  'declined',
  'revoked',
  'expired',
] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

export interface Invitation {
  id: string;
  organizationId: number;
  organizationName: string;
  email: string;
  role: OrganizationRole;
  groupIds: string[];
  capMicros: bigint | null;
  /** One that is pending beyond its time is expired. */
  status: InvitationStatus;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

type Row = {
  id: string;
  organization_id: number;
  organization_name: string;
  email: string;
  role: OrganizationRole;
  group_ids: string[];
  cap_micros: bigint | null;
  standing: InvitationStatus;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
};

const selected = `SELECT i.*, o.name AS organization_name,
    CASE WHEN i.status = 'pending' AND i.expires_at <= now() THEN 'expired'
      ELSE i.status END AS standing
  FROM organization_invitations i JOIN organizations o ON o.id = i.organization_id`;

function readInvitation(row: Row): Invitation {
  return {
    id: row.id,
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    email: row.email,
    role: row.role,
    groupIds: row.group_ids,
    capMicros: row.cap_micros,
    status: row.standing,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** One of an organization, or of any; null: there is none. */
export async function findInvitation(
  sql: Queryable,
  organizationId: number | null,
  id: string,
): Promise<Invitation | null> {
  const [row] = await sql<Row[]>`
    ${sql.unsafe(selected)} WHERE i.id = ${id}
      AND (${organizationId}::integer IS NULL OR i.organization_id = ${organizationId}::integer)`;
  return row === undefined ? null : readInvitation(row);
}

export interface InvitationFilter {
  organizationId: number | null;
  /** Pending ones to this address, of organizations that are not closed; null: all. */
  pendingTo: string | null;
}

/** Invitations that pass, newest first, behind `cursor`. */
export async function listInvitations(
  sql: Queryable,
  { organizationId, pendingTo }: InvitationFilter,
  limit: number,
  cursor: string | null,
): Promise<{ invitations: Invitation[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    ${sql.unsafe(selected)}
    WHERE (${organizationId}::integer IS NULL OR i.organization_id = ${organizationId}::integer)
      AND (${pendingTo}::text IS NULL OR (i.email = ${pendingTo}::text AND i.status = 'pending'
        AND i.expires_at > now() AND o.status <> 'closed'))
      AND (${cursor}::text IS NULL OR i.id < ${cursor}::text)
    ORDER BY i.id DESC LIMIT ${limit + 1}`;
  const invitations = rows.slice(0, limit).map(readInvitation);
  const nextCursor = rows.length > limit ? (invitations.at(-1)?.id ?? null) : null;
  return { invitations, nextCursor };
}

/** Whether somebody is waited for under this address. */
export async function isInvitedAddress(sql: Queryable, address: string): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM organization_invitations i JOIN organizations o ON o.id = i.organization_id
    WHERE i.email = ${address} AND i.status = 'pending' AND i.expires_at > now()
      AND o.status = 'active' LIMIT 1`;
  return rows.length > 0;
}

export interface NewInvitation
  extends Pick<
    Invitation,
    'id' | 'organizationId' | 'email' | 'role' | 'groupIds' | 'capMicros' | 'invitedBy'
  > {
  lifetimeMs: number;
}

export async function createInvitation(
  transaction: Transaction,
  made: NewInvitation,
): Promise<void> {
  await transaction`
    INSERT INTO organization_invitations (id, organization_id, email, role, group_ids, cap_micros,
      invited_by, expires_at)
    VALUES (${made.id}, ${made.organizationId}, ${made.email}, ${made.role},
      ${arrayLiteral(made.groupIds)}::text[], ${made.capMicros?.toString() ?? null}::bigint,
      ${made.invitedBy}, now() + ${made.lifetimeMs}::float8 * interval '1 ms')`;
}

/** Its time begins anew. */
export async function prolongInvitation(
  transaction: Transaction,
  id: string,
  lifetimeMs: number,
): Promise<void> {
  await transaction`
    UPDATE organization_invitations
    SET expires_at = now() + ${lifetimeMs}::float8 * interval '1 ms' WHERE id = ${id}`;
}

/** Ends a pending one, whose seat is free then; false: it is not pending. */
export async function endInvitation(
  transaction: Transaction,
  id: string,
  status: Exclude<InvitationStatus, 'pending'>,
): Promise<boolean> {
  const rows = await transaction`
    UPDATE organization_invitations SET status = ${status}, ended_at = now()
    WHERE id = ${id} AND status = 'pending' RETURNING 1`;
  return rows.length > 0;
}

/** Ends what is pending to the address, or to all; returns the ids. */
export async function endPending(
  transaction: Transaction,
  organizationId: number,
  email: string | null,
  status: 'accepted' | 'revoked',
): Promise<string[]> {
  const rows = await transaction<{ id: string }[]>`
    UPDATE organization_invitations SET status = ${status}, ended_at = now()
    WHERE organization_id = ${organizationId} AND status = 'pending'
      AND (${email}::text IS NULL OR email = ${email}::text) RETURNING id`;
  return rows.map(({ id }) => id);
}

/** Organizations with pending invitations whose time is over. */
export async function listExpiring(sql: Queryable, limit: number): Promise<number[]> {
  const rows = await sql<{ organization_id: number }[]>`
    SELECT DISTINCT organization_id FROM (
      SELECT organization_id FROM organization_invitations
      WHERE status = 'pending' AND expires_at <= now() ORDER BY expires_at LIMIT ${limit}) i`;
  return rows.map((row) => row.organization_id);
}

/** Ends what of a locked organization is past its time; returns how many. */
export async function expireInvitations(
  transaction: Transaction,
  organizationId: number,
): Promise<number> {
  const rows = await transaction`
    UPDATE organization_invitations SET status = 'expired', ended_at = now()
    WHERE organization_id = ${organizationId} AND status = 'pending' AND expires_at <= now()
    RETURNING 1`;
  return rows.length;
}
