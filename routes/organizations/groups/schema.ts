// A group as the organization's members see it. Who is in it follows the rule of the directory.
import * as v from 'valibot';
import type { Queryable } from '../../../db/driver/sql.ts';
import { findGroup, type Group } from '../../../db/organizations/groups.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import { recordHeaders, revisionSchema } from '../../admin/revision.ts';
import type { Seat } from '../access.ts';
import { seesOthers } from '../members/schema.ts';

export const groupParams = v.strictObject({
  organization_id: lineOfText(20),
  group_id: lineOfText(100),
});

export const groupName = lineOfText(60);

export const groupSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    name: v.string(),
    member_count: v.pipe(v.number(), v.integer()),
    user_ids: v.pipe(v.array(v.string()), v.description('Those whom the directory shows you.')),
    revision: revisionSchema,
    created_at: v.string(),
  }),
  v.title('OrganizationGroup'),
);

export const groupReply = v.strictObject({ ok: v.literal(true), group: groupSchema });

export function groupBody(row: Group, seat: Seat) {
  const shown = seesOthers(seat) ? row.userIds : row.userIds.filter((id) => id === seat.userId);
  return {
    id: row.id,
    name: row.name,
    member_count: row.userIds.length,
    user_ids: shown,
    revision: row.revision,
    created_at: row.createdAt.toISOString(),
  };
}

export const noGroup = () => new Problem('not_found', { param: 'group_id' });

/** @throws Problem not_found */
export async function groupAnswer(
  sql: Queryable,
  seat: Seat,
  groupId: string,
  status: 200 | 201 = 200,
): Promise<Reply> {
  const row = await findGroup(sql, seat.organization.id, groupId);
  if (row === null) throw noGroup();
  const json = { ok: true, group: groupBody(row, seat) };
  return { status, headers: recordHeaders(row.revision), json };
}

/** Names are unique in an organization. */
export function refusedName(error: unknown): never {
  const { constraint_name: constraint } = (error ?? {}) as { constraint_name?: string };
  if (constraint !== 'organization_groups_organization_id_name_key') throw error;
  throw new Problem('conflict', {
    message: 'The organization has a group of this name.',
    details: { reason: 'name' },
    param: 'name',
    cause: error,
  });
}
