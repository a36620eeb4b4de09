// What an organization decides by a durable record, before a secret is read, a name resolved or a
// byte sent.
import type { PolicyAction } from '../../actors/organization/policy.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services, UserCaller } from '../services.ts';

/**
 * A person on its own is not asked about.
 * @throws Problem policy_blocked, dependency_unavailable
 */
export async function requireRecorded(
  { audit }: Pick<Services, 'audit'>,
  { organization, personId }: Pick<UserCaller, 'organization' | 'personId'>,
  action: PolicyAction,
  target: NewRecord['target'],
): Promise<void> {
  if (organization === null) return;
  const { organizationId, userId } = organization;
  const actor = { type: 'user' as const, id: personId };
  const reply = await audit.decideRecorded(organizationId, { actor, userId, action, target });
  if (reply.status === 'allowed') return;
  if (reply.status === 'unavailable') throw new Problem('dependency_unavailable');
  throw new Problem('policy_blocked', { details: { rule: reply.rule } });
}
