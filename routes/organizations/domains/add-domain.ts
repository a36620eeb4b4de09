// POST /api/enterprise/organizations/{organization_id}/domains: claims a domain. Others may claim
// it as well: whoever proves it has it.
import * as v from 'valibot';
import { isGood, newDomainToken, readDomain } from '../../../actors/organization/domain.ts';
import { domainLimits } from '../../../actors/organization/domain-limits.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { appendAudit } from '../../../db/organization-audit/append.ts';
import {
  claimDomain,
  countDomains,
  lockDomain,
  type OrganizationDomain,
} from '../../../db/organizations/domains.ts';
import { lockOrganization, raiseRevision } from '../../../db/organizations/records.ts';
import { maxCharacters } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import type { UserCaller } from '../../services.ts';
import { organizationIdOf } from '../access.ts';
import { requireDirector } from './director.ts';
import { domainBody, domainReplySchema, organizationParams } from './schema.ts';

export const addOrganizationDomain = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/domains',
  operationId: 'addOrganizationDomain',
  summary: 'Claim a domain',
  description:
    'The reply shows the TXT record that proves the domain, which can be set within 7 days. The ' +
    'domain is this one alone, no subdomain of it; a public suffix is refused. A claim that is ' +
    'over is made anew, with another record; one that is not is 409, and so is the 21st domain.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { domain: 'example.com' },
    schema: v.strictObject({ domain: v.pipe(v.string(), v.minLength(1), maxCharacters(253)) }),
  },
  replies: { 201: { description: 'The claim.', schema: domainReplySchema } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found'] as const),
    ...(['conflict', 'invalid_state', 'dependency_unavailable'] as const),
  ],
  async handle({ params, body, caller, services: { sql } }) {
    const organizationId = organizationIdOf(params.organization_id);
    // Who may not is told nothing of the domain.
    await withDeadline(requireDirector(sql, organizationId, caller, 'domains.write'));
    const read = readDomain(body.domain);
    if (!read.ok) throw fieldProblem('domain', `domain: ${read.why}.`);
    const claimed = await withDeadline(
      sql.begin((transaction) => claim(transaction, organizationId, read.domain, caller)),
    );
    return {
      status: 201,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, domain: domainBody(claimed) },
    };
  },
});

/** @throws Problem not_found, forbidden, invalid_state, conflict */
async function claim(
  transaction: Transaction,
  organizationId: number,
  domain: string,
  caller: UserCaller,
): Promise<OrganizationDomain> {
  await lockOrganization(transaction, organizationId);
  await requireDirector(transaction, organizationId, caller, 'domains.write');
  const known = await lockDomain(transaction, organizationId, domain);
  if (known !== null && (isGood(known) || isPending(known))) {
    throw new Problem('conflict', {
      message: 'The organization has this domain already.',
      param: 'domain',
      details: { reason: 'exists' },
    });
  }
  if (
    known === null &&
    (await countDomains(transaction, organizationId)) >= domainLimits.domainsMax
  ) {
    throw new Problem('conflict', {
      message: `An organization has at most ${domainLimits.domainsMax} domains.`,
      details: { reason: 'domain_limit' },
    });
  }
  const token = newDomainToken();
  const made = { organizationId, domain, token, forMs: domainLimits.claimMs };
  const claimed = await claimDomain(transaction, made);
  await raiseRevision(transaction, organizationId);
  await appendAudit(transaction, organizationId, {
    actor: { type: 'user', id: caller.accountId },
    action: 'domain.add',
    target: { type: 'domain', id: domain },
    result: 'ok',
    details: { from: known?.status ?? null },
  });
  return claimed;
}

function isPending({ status, readAt, expiresAt }: OrganizationDomain): boolean {
  return status === 'pending' && readAt < expiresAt;
}
