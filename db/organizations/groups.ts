// Groups of an organization: names for some of its members.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';

export interface Group {
  id: string;
  name: string;
  revision: number;
  userIds: string[];
  createdAt: Date;
}

type Row = { id: string; name: string; revision: number; user_ids: string[]; created_at: Date };

const selected = `SELECT g.id, g.name, g.revision, g.created_at,
    ARRAY(SELECT x.user_id FROM organization_group_members x WHERE x.group_id = g.id
      ORDER BY x.user_id) AS user_ids
  FROM organization_groups g`;

function readGroup(row: Row): Group {
  const { id, name, revision, user_ids: userIds, created_at: createdAt } = row;
  return { id, name, revision, userIds, createdAt };
}

/** Groups, newest first, behind `cursor`. */
export async function listGroups(
  sql: Queryable,
  organizationId: number,
  limit: number,
  cursor: string | null,
): Promise<{ groups: Group[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    ${sql.unsafe(selected)} WHERE g.organization_id = ${organizationId}
      AND (${cursor}::text IS NULL OR g.id < ${cursor}::text)
    ORDER BY g.id DESC LIMIT ${limit + 1}`;
  const groups = rows.slice(0, limit).map(readGroup);
  return { groups, nextCursor: rows.length > limit ? (groups.at(-1)?.id ?? null) : null };
}

export async function findGroup(
  sql: Queryable,
  organizationId: number,
  groupId: string,
): Promise<Group | null> {
  const [row] = await sql<Row[]>`
    ${sql.unsafe(selected)} WHERE g.organization_id = ${organizationId} AND g.id = ${groupId}`;
  return row === undefined ? null : readGroup(row);
}

/** Picks the ids that are no group of the organization. */
export async function findUnknownGroups(
  sql: Queryable,
  organizationId: number,
  groupIds: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM organization_groups
    WHERE organization_id = ${organizationId} AND id = ANY (${arrayLiteral(groupIds)}::text[])`;
  const known = new Set(rows.map(({ id }) => id));
  return new Set(groupIds.filter((id) => !known.has(id)));
}

export async function countGroups(sql: Queryable, organizationId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_groups
    WHERE organization_id = ${organizationId}`;
  return row?.count ?? 0;
}

/** @throws a unique index when the organization has a group of this name */
export async function createGroup(
  transaction: Transaction,
  organizationId: number,
  { id, name }: Pick<Group, 'id' | 'name'>,
): Promise<void> {
  await transaction`
    INSERT INTO organization_groups (id, organization_id, name)
    VALUES (${id}, ${organizationId}, ${name})`;
}

/** @throws a unique index when the organization has a group of this name */
export async function renameGroup(
  transaction: Transaction,
  groupId: string,
  name: string,
): Promise<void> {
  await transaction`
    UPDATE organization_groups SET name = ${name}, revision = revision + 1 WHERE id = ${groupId}`;
}

export async function deleteGroup(transaction: Transaction, groupId: string): Promise<void> {
  await transaction`DELETE FROM organization_groups WHERE id = ${groupId}`;
}

/** Who is in it from now on, and nobody else. */
export async function putGroupMembers(
  transaction: Transaction,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  const all = arrayLiteral(userIds);
  await transaction`
    DELETE FROM organization_group_members
    WHERE group_id = ${groupId} AND user_id <> ALL (${all}::text[])`;
  await transaction`
    INSERT INTO organization_group_members (group_id, user_id)
    SELECT ${groupId}, u FROM unnest(${all}::text[]) AS u ON CONFLICT DO NOTHING`;
  await transaction`
    UPDATE organization_groups SET revision = revision + 1 WHERE id = ${groupId}`;
}

/** The person is in those of these groups that are still there. */
export async function joinGroups(
  transaction: Transaction,
  organizationId: number,
  userId: string,
  groupIds: readonly string[],
): Promise<void> {
  if (groupIds.length === 0) return;
  await transaction`
    INSERT INTO organization_group_members (group_id, user_id)
    SELECT g.id, ${userId} FROM organization_groups g
    WHERE g.organization_id = ${organizationId} AND g.id = ANY (${arrayLiteral(groupIds)}::text[])
    ON CONFLICT DO NOTHING`;
}
