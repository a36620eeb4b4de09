// What is due for mails beside their attempts. Mails that nobody sends are put into the queue: it
// makes up for lost calls and for waits that are over. What is over is forgotten after a while.
import type { Sql } from '../../db/driver/sql.ts';
import { countQueuedMails, endHopelessMails, forgetMails, listDueMails } from '../../db/mails.ts';
import type { MailLimits } from './limits.ts';
import type { MailMetrics } from './metrics.ts';

/** Returns how many mails were put into the queue. Rejects when the database cannot be asked. */
export async function sweepMails(
  sql: Sql,
  add: (id: string) => void,
  limits: MailLimits,
  metrics: MailMetrics,
): Promise<number> {
  const ended = await endHopelessMails(sql, limits, { limit: limits.dueMax });
  metrics.ended('failed', ended);
  const due = await listDueMails(sql, limits.dueMax);
  for (const id of due) add(id);
  metrics.queued(await countQueuedMails(sql));
  return due.length;
}

export async function forgetOldMails(sql: Sql, limits: MailLimits): Promise<number> {
  const kept = { sentMs: limits.sentKeptMs, failedMs: limits.failedKeptMs };
  return await forgetMails(sql, kept, limits.forgottenMax);
}
