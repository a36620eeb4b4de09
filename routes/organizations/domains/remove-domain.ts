// DELETE /api/enterprise/organizations/{organization_id}/domains/{domain}: gives a domain up.
// Others may prove it from now on.

import * as v from 'valibot';
import { organizationChangeId } from '../../../actors/organization/acting.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { appendAudit } from '../../../db/organization-audit/append.ts';
import { isDomainGood, lockDomain, removeDomain } from '../../../db/organizations/domains.ts';
import { lockOrganization, raiseRevision } from '../../../db/organizations/records.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import type { UserCaller } from '../../services.ts';
import { organizationIdOf } from '../access.ts';
import { requireDirector } from './director.ts';
import { domainOfPath, domainParams } from './schema.ts';

const revision = v.pipe(v.number(), v.integer(), v.minValue(1));

export const removeOrganizationDomain = defineRoute({
  method: 'DELETE',
  path: '/api/enterprise/organizations/{organization_id}/domains/{domain}',
  operationId: 'removeOrganizationDomain',
  summary: 'Give a domain up',
  description:
    'It does not count as proved any more when this is answered. With `expected_revision` it is ' +
    'given up only as it was seen: else 409.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: domainParams,
  query: v.object({ expected_revision: v.optional(revision) }),
  replies: { 200: { description: 'It is gone.', schema: v.strictObject({ ok: v.literal(true) }) } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found'] as const),
    ...(['conflict', 'invalid_state', 'dependency_unavailable'] as const),
  ],
  async handle({ params, query, caller, services: { sql, bus } }) {
    const organizationId = organizationIdOf(params.organization_id);
    const order = { organizationId, domain: domainOfPath(params.domain), caller };
    const expected = query.expected_revision;
    const wasGood = await withDeadline(
      sql.begin((transaction) => remove(transaction, order, expected)),
    );
    if (wasGood)
      await tellChange(bus, [organizationChangeId(organizationId)], { isWithdrawn: false });
    return { status: 200, json: { ok: true } };
  },
});

/** Whether it counted as proved. @throws Problem not_found, forbidden, invalid_state, conflict */
async function remove(
  transaction: Transaction,
  {
    organizationId,
    domain,
    caller,
  }: { organizationId: number; domain: string; caller: UserCaller },
  expected: number | undefined,
): Promise<boolean> {
  await lockOrganization(transaction, organizationId);
  await requireDirector(transaction, organizationId, caller, 'domains.remove');
  const known = await lockDomain(transaction, organizationId, domain);
  if (known === null) throw new Problem('not_found', { param: 'domain' });
  if (expected !== undefined && expected !== known.revision) {
    throw new Problem('conflict', {
      message: 'The domain was changed meanwhile.',
      param: 'expected_revision',
      details: { revision: known.revision },
    });
  }
  const wasGood = await isDomainGood(transaction, organizationId, domain);
  await removeDomain(transaction, organizationId, domain);
  await raiseRevision(transaction, organizationId);
  await appendAudit(transaction, organizationId, {
    actor: { type: 'user', id: caller.accountId },
    action: 'domain.remove',
    target: { type: 'domain', id: domain },
    result: 'ok',
    details: { from: known.status },
  });
  return wasGood;
}
