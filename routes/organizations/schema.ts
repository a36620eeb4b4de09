// An organization as its members see it. Balances are told to who pays for it.
import * as v from 'valibot';
import { readSettings, settingsSchema } from '../../actors/organization/settings.ts';
import { organizationRoles } from '../../db/organizations/role.ts';
import type { Organization } from '../../db/organizations.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { recordHeaders, revisionSchema } from '../admin/revision.ts';
import type { Seat } from './access.ts';

const microsPerCredit = 1_000_000;

export const organizationParams = v.strictObject({ organization_id: lineOfText(20) });

export const nameSchema = lineOfText(120);
export const slugSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{1,39}$/, 'expected 2 to 40 small letters, digits and hyphens'),
);
/** What every change takes. */
export const expectedEntries = {
  expected_revision: v.optional(
    v.pipe(revisionSchema, v.description('The revision that was read: 409 if it has changed.')),
  ),
};

const roleSchema = v.picklist(organizationRoles);
export const statusSchema = v.picklist(['active', 'suspended', 'closed']);

/** What administrators see as well. */
export const organizationEntries = {
  id: v.pipe(v.number(), v.integer()),
  name: v.string(),
  slug: v.nullable(v.string()),
  plan: v.literal('enterprise'),
  status: statusSchema,
  suspended_by: v.pipe(
    v.nullable(v.picklist(['owner', 'operator'])),
    v.description('What an operator suspended, an operator activates.'),
  ),
  owner_user_id: v.nullable(v.string()),
  billing_user_id: v.nullable(v.string()),
  allowed_domain: v.nullable(v.string()),
  seat_limit: v.pipe(v.number(), v.integer()),
  seats_taken: v.pipe(v.number(), v.integer(), v.description('Members and open invitations.')),
  wallet_type: v.literal('organization'),
  revision: v.pipe(revisionSchema, v.description('Counts everything that was done to it.')),
  created_at: v.string(),
  updated_at: v.string(),
};

export const organizationSchema = v.pipe(
  v.strictObject({
    ...organizationEntries,
    role: v.pipe(roleSchema, v.description('Yours.')),
    settings: settingsSchema,
    credit_balance_micros: v.optional(v.pipe(v.number(), v.integer())),
    credit_balance_exact: v.optional(v.pipe(v.number(), v.description('In credits.'))),
  }),
  v.title('Organization'),
);

export const organizationReply = v.strictObject({
  ok: v.literal(true),
  organization: organizationSchema,
});

export function organizationBody(row: Organization) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    plan: 'enterprise',
    status: row.status,
    suspended_by: row.suspendedBy,
    owner_user_id: row.ownerUserId,
    billing_user_id: row.billingUserId,
    allowed_domain: row.allowedDomain,
    seat_limit: row.seatLimit,
    seats_taken: row.seatsTaken,
    wallet_type: 'organization',
    revision: row.revision,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** `balance`: what the wallet has free; null: it is not told. */
export function memberView({ organization, role }: Seat, balance: bigint | null) {
  return {
    ...organizationBody(organization),
    role,
    settings: readSettings(organization.settings),
    ...(balance === null
      ? {}
      : {
          credit_balance_micros: Number(balance),
          credit_balance_exact: Number(balance) / microsPerCredit,
        }),
  };
}

export function organizationAnswer(
  organization: ReturnType<typeof memberView>,
  status: 200 | 201 = 200,
): Reply {
  return {
    status,
    headers: recordHeaders(organization.revision),
    json: { ok: true, organization },
  };
}
