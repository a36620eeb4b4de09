// The actor of an organization's audit: decides what must be durable before it is done. All that
// waits is one commit: policy read, decided, recorded, in one order with changes of settings.
import { classifyError, type Sql, type Transaction } from '../../db/driver/sql.ts';
import { appendAudits } from '../../db/organization-audit/append.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import {
  holdStanding,
  type MemberStanding,
  type OrganizationStanding,
} from '../../db/organization-audit/standings.ts';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import { decide, type Policy } from '../organization/policy.ts';
import { readSettings } from '../organization/settings.ts';
import { auditLimits } from './limits.ts';
import type { AuditProtocol, DecideReply, DecideRequest } from './protocol.ts';

export interface DeciderDeps {
  sql: Sql;
  log: Pick<Logger, 'warn'>;
}

interface Decided {
  replies: DecideReply[];
}

const gone: DecideReply = { status: 'blocked', rule: 'organization_status', revision: null };

export function createAuditKind({ sql, log }: DeciderDeps): ActorKind<AuditProtocol, number> {
  return {
    name: 'audit',
    parent: 'organizations',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 10, withinMs: 10_000 },
    mailboxLengthMax: auditLimits.mailboxLengthMax,
    idleTimeoutMs: auditLimits.idleTimeoutMs,
    start: ({ id }) => Number(id),
    behaviour: {
      batch: {
        lengthMax: auditLimits.batchLengthMax,
        // While one commit is on its way the next is prepared; the head keeps their order.
        overlapFrom: auditLimits.overlapFrom,
        async receive(organizationId, batch) {
          const requests = batch.map(({ payload }) => payload);
          const replies = await decideAll(sql, organizationId, requests).catch((error: unknown) => {
            const failure = classifyError(error);
            if (failure === 'bug') throw error;
            log.warn({ failure, organization: organizationId }, 'an audit could not be written');
            return requests.map((): DecideReply => ({ status: 'unavailable' }));
          });
          batch.forEach((entry, index) => {
            entry.reply(replies[index] ?? { status: 'unavailable' });
          });
        },
      },
    },
  };
}

/** Decides all of them in one transaction, which has their records. */
async function decideAll(
  sql: Sql,
  organizationId: number,
  requests: readonly DecideRequest[],
): Promise<DecideReply[]> {
  const { replies } = await sql.begin((transaction) =>
    decideWithin(transaction, organizationId, requests),
  );
  return replies;
}

async function decideWithin(
  transaction: Transaction,
  organizationId: number,
  requests: readonly DecideRequest[],
): Promise<Decided> {
  const people = new Set(requests.map(({ userId }) => userId).filter((id) => id !== null));
  const standing = await holdStanding(transaction, organizationId, [...people]);
  if (standing === null) return { replies: requests.map(() => gone) };
  const replies = requests.map((request) => {
    const { userId } = request;
    const member = userId === null ? null : standing.members.get(userId);
    return member === undefined ? gone : judged(policyOf(standing, userId, member), request);
  });
  const records = requests.map((request, index) => recordOf(request, replies[index] ?? gone));
  await appendAudits(transaction, organizationId, records);
  return { replies };
}

function policyOf(
  { status, settings, settingsRevision, ownerUserId }: OrganizationStanding,
  userId: string | null,
  member: MemberStanding | null,
): Policy {
  return {
    status,
    role: member?.role ?? null,
    isCanonicalOwner: userId !== null && userId === ownerUserId,
    hasVerifiedDomain: member?.hasVerifiedDomain ?? false,
    settings: readSettings(settings),
    settingsRevision,
  };
}

function judged(policy: Policy, { action }: DecideRequest): DecideReply {
  const { rule } = decide(policy, action);
  const revision = policy.settingsRevision;
  return rule === null ? { status: 'allowed', revision } : { status: 'blocked', rule, revision };
}

function recordOf({ actor, action, target }: DecideRequest, reply: DecideReply): NewRecord {
  const { kind, ...facts } = action;
  const rule = reply.status === 'blocked' ? { rule: reply.rule } : {};
  const result = reply.status === 'allowed' ? 'ok' : 'blocked';
  return { actor, action: kind, target, result, details: { ...facts, ...rule } };
}
