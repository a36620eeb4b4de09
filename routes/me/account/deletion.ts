// Deletes an account, for its person or an administrator: everything that it is entered with works
// on no shard any more when this resolves. What runs is cancelled where it costs nothing.
import { untilText } from '../../../actors/personal-data/until.ts';
import { cancelVideoJob } from '../../../actors/video/services.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { type Audited, audited } from '../../../db/audit-events.ts';
import { errorFields, type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { type DeletionBar, deleteAccount } from '../../../db/erasure.ts';
import { listQueuedVideoJobs } from '../../../db/video-jobs.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import type { Services } from '../../services.ts';

type Needed = Pick<Services, 'sql' | 'system' | 'bus' | 'mail' | 'personalData' | 'video' | 'log'>;

const barMessages: Record<DeletionBar, string> = {
  last_administrator: 'The last administrator cannot be deleted. Appoint another one first.',
  organization_owner: 'The account owns an organization. Hand it over, or close it, first.',
  legal_hold: 'A legal hold keeps the account.',
};

/** At most so many are cancelled; more than an account may have. */
const cancelledMax = 100;

interface Asked {
  accountId: string;
  /** Who deletes it. */
  actor: string;
}

type Outcome = { refused: Problem } | { until: Date; mailId: string | null };

/**
 * Resolves with the moment until when it can be undone. Repeated, it changes nothing.
 * @throws Problem not_found, invalid_state
 */
export async function deleteAndTell(services: Needed, asked: Asked): Promise<Date> {
  const { sql, bus, mail } = services;
  const { accountId } = asked;
  const deleting = audited(sql, (transaction) => write(services, transaction, asked));
  const outcome = await withDeadline(deleting);
  if ('refused' in outcome) throw outcome.refused;
  await tellChange(bus, [accountId], { isWithdrawn: true });
  if (outcome.mailId !== null) mail.send(outcome.mailId);
  await cancelQueued(services, accountId);
  return outcome.until;
}

async function write(
  { system, mail, personalData }: Needed,
  transaction: Transaction,
  { accountId, actor }: Asked,
): Promise<Audited<Outcome>> {
  const person = await findPerson(transaction, accountId);
  const deletion = await deleteAccount(transaction, accountId);
  if (deletion.status === 'barred') return { result: { refused: barred(deletion) }, event: null };
  if (deletion.status === 'not_found' || person === null) {
    return { result: { refused: new Problem('not_found') }, event: null };
  }
  const until = new Date(deletion.deletingAt.getTime() + personalData.limits.graceMs);
  if (person.status === 'deleting') return { result: { until, mailId: null }, event: null };
  let mailId: string | null = null;
  // Who only typed an address may have typed somebody else's.
  if (person.emailOwned && person.email !== null) {
    const notice = { template: 'account_deleting', untilText: untilText(until) } as const;
    const written = { to: person.email, accountId, expiresAt: until, mail: notice };
    mailId = await mail.write(transaction, written);
  }
  const event = {
    id: newAuditId(system.node),
    accountId,
    actor,
    action: 'account.delete',
    subject: `account:${accountId}`,
    details: { ended: deletion.ended },
  };
  return { result: { until, mailId }, event };
}

function barred({ reason }: { reason: DeletionBar }): Problem {
  return new Problem('invalid_state', { message: barMessages[reason], details: { reason } });
}

/** What a provider has is let end: it is paid for. */
async function cancelQueued({ sql, video, log }: Needed, accountId: string): Promise<void> {
  try {
    const ids = await withDeadline(listQueuedVideoJobs(sql, accountId, cancelledMax));
    await Promise.all(ids.map((id) => cancelVideoJob(video, id)));
  } catch (error) {
    // They end by themselves, long before the account is erased.
    log.warn(errorFields(error), 'queued jobs of a deleted account were not cancelled');
  }
}
