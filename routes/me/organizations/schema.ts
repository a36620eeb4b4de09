// A membership as its person sees it.
import * as v from 'valibot';
import type { Membership } from '../../../db/organizations/records.ts';
import { organizationRoles } from '../../../db/organizations/role.ts';
import { statusSchema } from '../../organizations/schema.ts';

export const membershipSchema = v.pipe(
  v.strictObject({
    organization_id: v.pipe(v.number(), v.integer()),
    name: v.string(),
    slug: v.nullable(v.string()),
    status: statusSchema,
    role: v.picklist(organizationRoles),
    is_canonical_owner: v.boolean(),
    joined_at: v.string(),
  }),
  v.title('Membership'),
);

export function membershipBody({ organization, role, joinedAt }: Membership, userId: string) {
  const { id, name, slug, status, ownerUserId } = organization;
  return {
    organization_id: id,
    ...{ name, slug, status, role },
    is_canonical_owner: ownerUserId === userId,
    joined_at: joinedAt.toISOString(),
  };
}
