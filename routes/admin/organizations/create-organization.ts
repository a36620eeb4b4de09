// POST /api/admin/organizations: an organization for somebody who has an account.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import { seatLimitSchema } from '../../../actors/organization/defaults.ts';
import { findOwner } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { makeOrganization } from '../../organizations/making.ts';
import { nameSchema, slugSchema } from '../../organizations/schema.ts';
import { addressText } from '../users/schema.ts';
import { adminAnswer, createdReplies } from './schema.ts';

export const createAdminOrganization = defineRoute({
  method: 'POST',
  path: '/api/admin/organizations',
  operationId: 'createAdminOrganization',
  summary: 'Make an organization for an account',
  description:
    '`owner_email` is the address of an active account, which becomes the canonical owner. ' +
    'Without `seat_limit` it has that of the defaults.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { name: 'Acme GmbH', owner_email: 'ada@example.com', seat_limit: 40 },
    schema: v.strictObject({
      name: nameSchema,
      slug: v.optional(v.nullable(slugSchema), null),
      owner_email: addressText,
      seat_limit: v.optional(seatLimitSchema),
    }),
  },
  replies: createdReplies,
  problems: ['invalid_request', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const address = parseAddress(body.owner_email);
    const owner = address === null ? null : await withDeadline(findOwner(services.sql, address));
    if (owner === null) throw fieldProblem('owner_email', 'No account has this address.');
    const { organizations } = services.catalog.current().snapshot;
    const { name, slug, seat_limit: seatLimit = organizations.seat_limit } = body;
    const wanted = { name, slug, ownerUserId: owner.id, seatLimit };
    const actor = { type: 'operator', id: caller.accountId } as const;
    return adminAnswer(await makeOrganization(services, wanted, actor), 201);
  },
});
