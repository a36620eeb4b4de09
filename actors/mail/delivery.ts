// One attempt at one mail: it is taken, opened, written, sent, and what came of it is noted. The
// row keeps two processes apart, and remembers an attempt that nobody lived to note.
import { setTimeout as sleep } from 'node:timers/promises';
import { classifyError, type Sql } from '../../db/driver/sql.ts';
import {
  deferMail,
  endHopelessMails,
  noteMailFailed,
  noteMailSent,
  returnMail,
  type TakenMail,
  takeMail,
} from '../../db/mails.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { openMail } from './content.ts';
import { type MailLimits, waitAfter } from './limits.ts';
import type { MailMetrics } from './metrics.ts';
import type { Outcome } from './outcome.ts';
import type { MailTransport } from './smtp.ts';
import { renderMail } from './templates.ts';

export interface DeliveryDeps {
  sql: Sql;
  instanceId: string;
  /** The key of this moment, and the one before it. */
  sealers: readonly Sealer[];
  transport: MailTransport;
  limits: MailLimits;
  metrics: MailMetrics;
  log: Pick<Logger, 'warn'>;
}

/** Makes the attempt that is due, if one is. Rejects when the database cannot be asked. */
export async function deliverMail(
  deps: DeliveryDeps,
  id: string,
  stopping: AbortSignal,
): Promise<void> {
  const { sql, instanceId, limits, metrics } = deps;
  const mail = await takeMail(sql, id, { ...limits, instanceId });
  if (mail === null) return;
  const until = performance.now() + limits.leaseMs;
  const outcome = await attempt(deps, mail, stopping);
  metrics.tried(outcome.kind);
  await persist(until, limits, () => note(deps, mail, outcome));
}

async function attempt(
  { sealers, transport, limits }: DeliveryDeps,
  taken: TakenMail,
  stopping: AbortSignal,
): Promise<Outcome> {
  const opened = openMail(sealers, taken);
  if (opened === null) return { kind: 'refused', error: 'unreadable' };
  const { subject, text, html } = renderMail(opened.mail);
  const { id, createdAt, leftMs } = taken;
  const timeMs = Math.min(limits.attemptMs, leftMs ?? limits.attemptMs);
  const deadline = AbortSignal.timeout(Math.max(1, Math.floor(timeMs)));
  const message = { id, to: opened.to, subject, text, html, createdAt };
  return await transport.send(message, { deadline, stopping });
}

async function note(deps: DeliveryDeps, mail: TakenMail, outcome: Outcome): Promise<void> {
  const { sql, limits, metrics, log } = deps;
  const { id } = mail;
  switch (outcome.kind) {
    case 'sent':
      await noteMailSent(sql, mail);
      metrics.ended('sent', 1);
      return;
    case 'stopped':
      await returnMail(sql, mail);
      return;
    case 'refused':
      await noteMailFailed(sql, mail, outcome.error);
      metrics.ended('failed', 1);
      log.warn({ mail: id, error: outcome.error }, 'a mail is not sent');
      return;
    case 'deferred': {
      const waitMs = waitAfter(limits, mail.attempt);
      await deferMail(sql, mail, { ...outcome, waitMs });
      const ended = await endHopelessMails(sql, limits, { id, limit: 1 });
      metrics.ended('failed', ended);
      const what = ended === 0 ? 'a mail has to wait' : 'a mail is not sent';
      log.warn({ mail: id, attempt: mail.attempt, error: outcome.error }, what);
    }
  }
}

/** A database that is away must not make a mail that was sent look unsent, if it comes back. */
async function persist(
  untilMs: number,
  { noteRetryMs }: MailLimits,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (classifyError(error) === 'bug' || performance.now() + noteRetryMs > untilMs) throw error;
      await sleep(noteRetryMs);
    }
  }
}
