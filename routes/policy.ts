// What an organization's policy refuses a caller: 403 with the rule, which its audit is told of.
import {
  decide,
  type PolicyAction,
  type PolicyDecision,
  type PolicyRule,
} from '../actors/organization/policy.ts';
import type { NewRecord } from '../db/organization-audit/record.ts';
import { Problem } from '../runtime/problem.ts';
import type { KeyCaller, Services, SocketUser } from './services.ts';

/** Who acts, and in which organization. */
type Actor =
  | Pick<KeyCaller, 'kind' | 'keyId' | 'personId' | 'organization'>
  | Pick<SocketUser, 'kind' | 'personId' | 'organization'>;

export function blockedBy(rule: PolicyRule): Problem {
  return new Problem('policy_blocked', {
    message: `A policy of the organization does not allow this: ${rule}.`,
    details: { rule },
  });
}

/** A person on its own is asked nothing. @throws Problem policy_blocked */
export function requireAllowedBy(
  { organization }: Pick<Actor, 'organization'>,
  action: PolicyAction,
): void {
  const { rule }: PolicyDecision = decide(organization, action);
  if (rule !== null) throw blockedBy(rule);
}

/** Tells the audit of the organization what was blocked. What is no such refusal is let go. */
export function noteBlocked(
  error: unknown,
  caller: Actor,
  operationId: string,
  { audit }: Pick<Services, 'audit'>,
): void {
  if (!(error instanceof Problem) || error.code !== 'policy_blocked') return;
  if (caller.organization === null) return;
  const { rule, model } = error.details ?? {};
  if (typeof rule !== 'string') return;
  const { organizationId } = caller.organization;
  const target =
    typeof model === 'string'
      ? { type: 'model', id: model }
      : { type: 'operation', id: operationId };
  audit.noteBlocked({ organizationId, actor: actorOf(caller), target, rule });
}

function actorOf(caller: Actor): NewRecord['actor'] {
  if (caller.kind === 'key') return { type: 'key', id: caller.keyId };
  return { type: 'user', id: caller.personId };
}
