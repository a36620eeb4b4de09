// An organization as administrators see it.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findOrganization, type Organization } from '../../../db/organizations.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { noOrganization } from '../../organizations/access.ts';
import {
  expectedEntries,
  organizationBody,
  organizationEntries,
} from '../../organizations/schema.ts';
import type { Services } from '../../services.ts';
import { recordHeaders } from '../revision.ts';

export const adminOrganizationSchema = v.pipe(
  v.strictObject({
    ...organizationEntries,
    account_id: v.string(),
    wallet_id: v.string(),
    closed_at: v.nullable(v.string()),
  }),
  v.title('AdminOrganization'),
);

const adminOrganizationReply = v.strictObject({
  ok: v.literal(true),
  organization: adminOrganizationSchema,
});

export const adminReplies = {
  200: { description: 'The organization.', schema: adminOrganizationReply },
};
export const createdReplies = { 201: adminReplies[200] };

export const reasonSchema = lineOfText(1_000);

/** Why something is done, for the organization's audit. */
export const reasonBody = {
  kind: 'json' as const,
  bytesMax: fixedLimits.body.jsonBytesMax,
  example: { reason: 'Asked for by its owner.' },
  schema: v.strictObject({ reason: reasonSchema, ...expectedEntries }),
};

export function adminBody(row: Organization) {
  return {
    ...organizationBody(row),
    account_id: row.accountId,
    wallet_id: row.walletId,
    closed_at: row.closedAt?.toISOString() ?? null,
  };
}

export function adminAnswer(row: Organization, status: 200 | 201 = 200): Reply {
  return {
    status,
    headers: recordHeaders(row.revision),
    json: { ok: true, organization: adminBody(row) },
  };
}

/** As it is now. @throws Problem not_found */
export async function readAdminAnswer({ sql }: Pick<Services, 'sql'>, id: number): Promise<Reply> {
  const row = await withDeadline(findOrganization(sql, id));
  if (row === null) throw noOrganization();
  return adminAnswer(row);
}
