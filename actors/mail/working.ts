// Mail as the main thread has it: the queue, the desk, the way out, and the rounds that are due.
import { errorFields, type Sql } from '../../db/driver/sql.ts';
import { freeMails } from '../../db/mails.ts';
import type { Config } from '../../runtime/config.ts';
import type { DatabaseTarget } from '../../runtime/database-target.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { createSealer } from '../../runtime/seal.ts';
import { createJobQueue } from '../../runtime/work/job-queue.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { deliverMail } from './delivery.ts';
import type { MailDesk } from './desk.ts';
import type { MailLimits } from './limits.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';
import { createMailMetrics } from './metrics.ts';
import { createMailServices } from './open.ts';
import { forgetOldMails, sweepMails } from './rounds.ts';
import type { MailServices } from './services.ts';
import { createSmtpTransport, type MailTransport } from './smtp.ts';
import { mailWayOf, senderOf } from './way.ts';

interface WorkingOptions {
  sql: Sql;
  database: DatabaseTarget;
  boot: {
    instanceId: string;
    /** Instances that ended before this one, of the same parent. */
    previousInstanceIds: readonly string[];
    /** Nobody else has the database. */
    singleProcess: boolean;
    masterKey: string;
  };
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'mode' | 'webUrl' | 'previousSecret'>;
  limits: MailLimits;
  registry: MetricsRegistry;
  log: Logger;
}

export interface MailWorking {
  desk: MailDesk;
  /** For the main thread's own mails. */
  services: MailServices;
  schedule(rounds: Pick<MaintenanceQueue, 'schedule'>): void;
  start(): void;
  /** The attempts of dead instances are over. */
  takeOver(): Promise<void>;
  stop(timeoutMs: number): Promise<void>;
}

export function createMailWorking(options: WorkingOptions): MailWorking {
  const { sql, database, boot, config, limits, log } = options;
  const { instanceId, previousInstanceIds, singleProcess, masterKey } = boot;
  const sealer = createSealer(masterKey);
  const { previousSecret } = config;
  const sealers = previousSecret === null ? [sealer] : [sealer, createSealer(previousSecret)];
  const mailbox = createMailbox(limits.mailboxLengthMax);
  const transport = transportOf(options, mailbox);
  const metrics = createMailMetrics(options.registry);
  const stopping = new AbortController();
  let leftBehind: Promise<unknown> = Promise.resolve();
  const deliver = async (id: string, signal: AbortSignal): Promise<void> => {
    if (transport === null) return;
    const deps = { sql, instanceId, sealers, transport, limits, metrics, log };
    await deliverMail(deps, id, signal);
  };
  const queue = createJobQueue({
    name: 'mail',
    database,
    log,
    concurrency: limits.runningMax,
    pendingMax: limits.pendingMax,
    handler: deliver,
  });
  const sweep = () => sweepMails(sql, queue.add, limits, metrics);
  return {
    desk: { send: queue.add, messages: mailbox.list, clear: mailbox.clear },
    services: createMailServices({ config, sealer, node: 0, send: queue.add }),
    schedule(rounds) {
      // Without a way out they wait for a process that has one.
      rounds.schedule('mails', limits.sweepMs, async () => {
        if (transport !== null) await sweep();
      });
      rounds.schedule('old-mails', limits.forgetMs, async () => {
        await forgetOldMails(sql, limits);
      });
    },
    start() {
      if (transport !== null) queue.start();
    },
    async takeOver() {
      if (transport === null) return;
      const freed = await freeMails(sql, singleProcess ? null : previousInstanceIds);
      await sweep();
      // The entry of a dead worker stands in the way of a new one for a while. These are no more
      // than one process sends at once.
      leftBehind = Promise.all(
        freed.map((id) =>
          deliver(id, stopping.signal).catch((error: unknown) =>
            log.warn(errorFields(error), 'a mail that was left behind waits for the next round'),
          ),
        ),
      );
    },
    async stop(timeoutMs) {
      if (transport === null) return;
      stopping.abort();
      const late = pause(timeoutMs);
      await Promise.all([queue.stop(timeoutMs), Promise.race([leftBehind, late])]);
      transport.close();
    },
  };
}

/** Null: there is no way out. */
function transportOf({ config, limits }: WorkingOptions, mailbox: Mailbox): MailTransport | null {
  const way = mailWayOf(config);
  if (way === 'none') return null;
  if (config.smtpUrl !== null) {
    return createSmtpTransport({ url: config.smtpUrl, from: senderOf(config), limits });
  }
  return {
    async send({ createdAt, ...mail }) {
      mailbox.put({ ...mail, at: new Date().toISOString() });
      return { kind: 'sent' };
    },
    close() {
      mailbox.clear();
    },
  };
}
