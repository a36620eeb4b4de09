// Processes that send mail, without their threads and queues: database, server and sealing are
// real. Time is moved by moving what the rows say.
import { randomBytes } from 'node:crypto';
import { type DeliveryDeps, deliverMail } from '../../../actors/mail/delivery.ts';
import { type MailLimits, mailLimits } from '../../../actors/mail/limits.ts';
import { createMailMetrics } from '../../../actors/mail/metrics.ts';
import { createMailServices } from '../../../actors/mail/open.ts';
import { forgetOldMails, sweepMails } from '../../../actors/mail/rounds.ts';
import type { Mail, MailServices, MailToWrite } from '../../../actors/mail/services.ts';
import { createSmtpTransport, type MailTransport } from '../../../actors/mail/smtp.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { MetricsRegistry } from '../../../runtime/metrics-registry.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase } from '../../harness/database.ts';
import { type SmtpHarness, startSmtp } from '../../harness/smtp.ts';

export interface MailRow {
  state: string;
  attempts: number;
  doubts: number;
  last_error: string | null;
  sealed: Buffer | null;
  waits_s: number;
  ended_at: Date | null;
}

export interface MailProcess {
  /** Makes the attempt that is due. */
  deliver(id: string, stopping?: AbortSignal): Promise<void>;
  /** The round: what it puts into the queue is delivered here. Returns the ids. */
  sweep(): Promise<string[]>;
  close(): void;
}

export interface MailBed {
  sql: Sql;
  smtp: SmtpHarness;
  services: MailServices;
  masterKey: string;
  /** What was logged, as text. */
  logged: string[];
  process(options?: ProcessOptions): MailProcess;
  write(to: string, more?: Partial<MailToWrite>): Promise<string>;
  row(id: string): Promise<MailRow>;
  /** The time of this mail goes on by so many seconds. */
  pass(id: string, seconds: number): Promise<void>;
  forget(): Promise<number>;
  close(): Promise<void>;
}

interface ProcessOptions {
  name?: string;
  limits?: Partial<Record<keyof MailLimits, number>>;
  transport?: MailTransport;
  masterKeys?: readonly string[];
}

export const codeMail: Mail = {
  template: 'code',
  purpose: 'sign_in',
  code: '482913',
  minutes: 10,
};

const from = { name: 'Tollgäte, Inc.', address: 'mail@tollgate.test' };
export const newMasterKey = () => randomBytes(32).toString('base64url');

interface Shared extends Pick<DeliveryDeps, 'sql' | 'metrics' | 'log'> {
  url: string;
  masterKey: string;
}

function openProcess({ url, masterKey, ...shared }: Shared, options: ProcessOptions): MailProcess {
  const limits = { ...mailLimits, ...options.limits } as MailLimits;
  const transport = options.transport ?? createSmtpTransport({ url, from, limits });
  const deps: DeliveryDeps = {
    ...shared,
    instanceId: options.name ?? 'one',
    sealers: (options.masterKeys ?? [masterKey]).map(createSealer),
    transport,
    limits,
  };
  const deliver = (id: string, stopping = new AbortController().signal) =>
    deliverMail(deps, id, stopping);
  return {
    deliver,
    async sweep() {
      const due: string[] = [];
      await sweepMails(shared.sql, (id) => due.push(id), limits, shared.metrics);
      for (const id of due) await deliver(id);
      return due;
    },
    close: () => transport.close(),
  };
}

export async function openMailBed(): Promise<MailBed> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 4);
  const smtp = await startSmtp();
  const masterKey = newMasterKey();
  const logged: string[] = [];
  const log = { warn: (...parts: unknown[]) => logged.push(JSON.stringify(parts)) };
  const metrics = createMailMetrics(new MetricsRegistry());
  const shared = { sql, metrics, log, url: smtp.url, masterKey };
  const services = createMailServices({
    config: { smtpUrl: smtp.url, mode: 'production' },
    sealer: createSealer(masterKey),
    node: 0,
    send: () => undefined,
  });
  const opened: MailProcess[] = [];

  return {
    sql,
    smtp,
    services,
    masterKey,
    logged,
    process(options = {}) {
      const made = openProcess(shared, options);
      opened.push(made);
      return made;
    },
    write(to, more = {}) {
      const mail = { to, accountId: null, expiresAt: null, mail: codeMail, ...more };
      return sql.begin((transaction) => services.write(transaction, mail));
    },
    async row(id) {
      const [row] = await sql<MailRow[]>`
        SELECT state, attempts, doubts, last_error, sealed, ended_at,
          extract(epoch FROM next_at - now())::float8 AS waits_s
        FROM mails WHERE id = ${id}`;
      if (row === undefined) throw new Error('there is no such mail');
      return row;
    },
    async pass(id, seconds) {
      await sql`
        UPDATE mails SET created_at = created_at - ${seconds}::float8 * interval '1 s',
          next_at = next_at - ${seconds}::float8 * interval '1 s',
          expires_at = expires_at - ${seconds}::float8 * interval '1 s',
          ended_at = ended_at - ${seconds}::float8 * interval '1 s'
        WHERE id = ${id}`;
    },
    forget: () => forgetOldMails(sql, mailLimits),
    async close() {
      for (const each of opened) each.close();
      await smtp.close();
      await database.close();
    },
  };
}

export const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);
