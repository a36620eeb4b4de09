// PATCH /api/enterprise/organizations/{organization_id}: its name, slug, billing contact, and whose
// addresses may join.
import * as v from 'valibot';
import { isDomainGood } from '../../db/organizations/domains.ts';
import { findStrangers } from '../../db/organizations/members.ts';
import { changeOrganization, type OrganizationChange } from '../../db/organizations/records.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { memberAct, organizationTarget, personRecord } from './act.ts';
import {
  expectedEntries,
  nameSchema,
  organizationAnswer,
  organizationParams,
  organizationReply,
  slugSchema,
} from './schema.ts';
import { refusedSlug } from './slug.ts';
import { readView } from './view.ts';

export const updateOrganization = defineRoute({
  method: 'PATCH',
  path: '/api/enterprise/organizations/{organization_id}',
  operationId: 'updateOrganization',
  summary: 'Change an organization',
  description:
    'Owners and admins. What is left out stays; null takes it away. `billing_user_id` is an ' +
    'active member. `allowed_domain` is a domain that the organization has verified: who proved ' +
    'an address of it may join.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { name: 'Acme GmbH' },
    schema: v.strictObject({
      name: v.optional(nameSchema),
      slug: v.optional(v.nullable(slugSchema)),
      billing_user_id: v.optional(v.nullable(lineOfText(100))),
      allowed_domain: v.optional(v.nullable(lineOfText(253))),
      ...expectedEntries,
    }),
  },
  replies: { 200: { description: 'The organization.', schema: organizationReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { name, slug, billing_user_id: billing, allowed_domain: domain } = body;
    const change: OrganizationChange = {
      ...(name === undefined ? {} : { name }),
      ...(slug === undefined ? {} : { slug }),
      ...(billing === undefined ? {} : { billingUserId: billing }),
      ...(domain === undefined ? {} : { allowedDomain: domain?.toLowerCase() ?? null }),
    };
    const expectedRevision = body.expected_revision;
    const order = {
      caller,
      organizationId,
      right: 'organization.update',
      expectedRevision,
    } as const;
    await memberAct(services, order, async (transaction, { organization, userId }) => {
      const { id } = organization;
      const { billingUserId, allowedDomain } = change;
      if (billingUserId != null) {
        const strangers = await findStrangers(transaction, id, [billingUserId]);
        if (strangers.size > 0) throw fieldProblem('billing_user_id', 'No active member has it.');
      }
      if (allowedDomain != null && !(await isDomainGood(transaction, id, allowedDomain))) {
        throw fieldProblem('allowed_domain', 'The organization has not verified this domain.');
      }
      await changeOrganization(transaction, organization, change);
      const names = Object.keys(change) as (keyof OrganizationChange)[];
      const changed = names.filter((key) => organization[key] !== change[key]);
      if (changed.length === 0) return { result: null, records: [] };
      const told = changed.map((key) => [key, [organization[key], change[key]]]);
      const target = organizationTarget(id);
      const record = personRecord(userId, 'org.update', target, Object.fromEntries(told));
      return { result: null, records: [record] };
    }).catch(refusedSlug);
    return organizationAnswer(await readView(caller, organizationId, services));
  },
});
