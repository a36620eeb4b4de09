// POST /api/enterprise/organizations: a new organization, with its wallet, owned by who makes it.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { requireVerified } from '../identity/sign-in.ts';
import { seatOf } from './access.ts';
import { makeOrganization } from './making.ts';
import {
  memberView,
  nameSchema,
  organizationAnswer,
  organizationReply,
  slugSchema,
} from './schema.ts';

export const createOrganization = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations',
  operationId: 'createOrganization',
  summary: 'Make an organization',
  description:
    'Who makes it is its canonical owner. It has a wallet of its own and restricts nothing. A ' +
    'person is a member of at most 20: another one is 409 `conflict`, reason `memberships`. An ' +
    'account that has not proved its address is 403, reason `unverified`; where administrators ' +
    'alone make organizations it is 403, reason `creation`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { name: 'Acme GmbH', slug: 'acme' },
    schema: v.strictObject({ name: nameSchema, slug: v.optional(v.nullable(slugSchema), null) }),
  },
  replies: { 201: { description: 'The organization.', schema: organizationReply } },
  problems: ['forbidden', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    requireVerified(caller);
    const { creation, seat_limit: seatLimit } = services.catalog.current().snapshot.organizations;
    if (creation === 'admins') {
      throw new Problem('forbidden', {
        message: 'Administrators alone make organizations here.',
        details: { reason: 'creation' },
      });
    }
    const userId = caller.personId;
    const wanted = { name: body.name, slug: body.slug, ownerUserId: userId, seatLimit };
    const actor = { type: 'user', id: userId } as const;
    const organization = await makeOrganization(services, wanted, actor);
    const { accountId, createdAt: joinedAt } = organization;
    const seat = seatOf({ organization, role: 'owner', accountId, joinedAt }, userId);
    return organizationAnswer(memberView(seat, 0n), 201);
  },
});
