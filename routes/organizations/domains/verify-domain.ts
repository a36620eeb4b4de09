// POST /api/enterprise/organizations/{organization_id}/domains/{domain}/verify: asks the servers
// now. What they say acts everywhere when this is answered.
import { organizationChangeId } from '../../../actors/organization/acting.ts';
import { applyAnswer, askAboutDomain } from '../../../actors/organization/domain-check.ts';
import { domainLimits } from '../../../actors/organization/domain-limits.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { countDomainCheck, lockDomain } from '../../../db/organizations/domains.ts';
import { lockOrganization } from '../../../db/organizations/records.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import type { UserCaller } from '../../services.ts';
import { organizationIdOf } from '../access.ts';
import { requireDirector } from './director.ts';
import { domainBody, domainOfPath, domainParams, domainReplySchema } from './schema.ts';

export const verifyOrganizationDomain = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/domains/{domain}/verify',
  operationId: 'verifyOrganizationDomain',
  summary: 'Look for the record of a domain',
  description:
    'The record has to be at each server. `last_answer` says what they answered; the reply takes ' +
    'up to 5 s. A domain that another organization has proved is 409 with the reason ' +
    '`domain_taken`, a claim that is over 409 `invalid_state`. An organization has 10 checks an ' +
    'hour.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: domainParams,
  replies: { 200: { description: 'The domain after it.', schema: domainReplySchema } },
  problems: [
    ...(['forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    ...(['rate_limited', 'dependency_unavailable'] as const),
  ],
  async handle({ params, caller, services }) {
    const { sql, mail, bus, config } = services;
    const organizationId = organizationIdOf(params.organization_id);
    const domain = domainOfPath(params.domain);
    const token = await withDeadline(
      sql.begin((transaction) => begin(transaction, organizationId, domain, caller)),
    );
    const claim = { organizationId, domain, token };
    const answer = await askAboutDomain(claim, config.dnsServers);
    const checked = await withDeadline(
      applyAnswer(
        { sql, mail },
        {
          ...{ claim, answer, actor: { type: 'user', id: caller.accountId } },
          allow: (transaction) =>
            requireDirector(transaction, organizationId, caller, 'domains.write'),
        },
      ),
    );
    if (checked.status === 'gone') throw new Problem('not_found', { param: 'domain' });
    if (checked.hasChanged)
      await tellChange(bus, [organizationChangeId(organizationId)], { isWithdrawn: false });
    if (checked.isTaken) throw taken();
    if (checked.domain.status === 'expired') throw over();
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, domain: domainBody(checked.domain) },
    };
  },
});

/**
 * Counts the check and returns what the record has to say.
 * @throws Problem not_found, forbidden, invalid_state, rate_limited
 */
async function begin(
  transaction: Transaction,
  organizationId: number,
  domain: string,
  caller: UserCaller,
): Promise<string> {
  await lockOrganization(transaction, organizationId);
  await requireDirector(transaction, organizationId, caller, 'domains.write');
  const known = await lockDomain(transaction, organizationId, domain);
  if (known === null) throw new Problem('not_found', { param: 'domain' });
  if (known.status === 'expired' || known.status === 'lapsed') throw over();
  const { checksMax, checksWithinMs: withinMs } = domainLimits;
  const waitMs = await countDomainCheck(transaction, organizationId, { checksMax, withinMs });
  if (waitMs === null) return known.token;
  throw new Problem('rate_limited', {
    message: `An organization has ${checksMax} checks of domains an hour.`,
    headers: { 'retry-after': `${Math.max(1, Math.ceil(waitMs / 1_000))}` },
  });
}

function taken(): Problem {
  return new Problem('conflict', {
    message: 'Another organization has proved this domain.',
    param: 'domain',
    details: { reason: 'domain_taken' },
  });
}

function over(): Problem {
  return new Problem('invalid_state', {
    message: 'The claim is over: claim the domain again.',
    param: 'domain',
    details: { reason: 'claim_over' },
  });
}
