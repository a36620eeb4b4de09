// Mail by a server of the operator's, spoken to by nodemailer over a few connections. Nodemailer's
// own retries are off: it does not know which attempts may have left a copy.
import type { Readable } from 'node:stream';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Sender } from './way.ts';

export interface OutgoingMail {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  createdAt: Date;
}

/** Where mails leave to. */
export interface MailTransport {
  /**
   * One attempt, never a rejection. It is over when `deadline` aborts. When `stopping` aborts it is
   * called off, unless the server may have the mail already.
   */
  send(mail: OutgoingMail, signals: AttemptSignals): Promise<Outcome>;
  close(): void;
}

export interface AttemptSignals {
  deadline: AbortSignal;
  stopping: AbortSignal;
}

type TransportLimits = Readonly<
  Record<'connectionsMax' | 'connectMs' | 'silenceMs' | 'restMs', number>
>;

interface SmtpOptions {
  url: string;
  from: Sender;
  limits: TransportLimits;
}

/** Options of the URL that are ours to set: what it is, what it logs, what it repeats. */
const ownOptions = [
  ...['pool', 'url', 'service', 'sendmail', 'streamTransport', 'jsonTransport', 'SES'],
  ...['logger', 'debug', 'transactionLog', 'component', 'maxRequeues'],
];

function withoutOwnOptions(text: string): string {
  const url = new URL(text);
  for (const name of ownOptions) url.searchParams.delete(name);
  return url.href;
}

/** Loaded at the first mail: most starts send none for a while. */
async function openPool({ url, limits }: SmtpOptions) {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: withoutOwnOptions(url),
    pool: true,
    maxConnections: limits.connectionsMax,
    maxRequeues: 0,
    idleTimeout: limits.restMs,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    socketTimeout: limits.silenceMs,
    logger: false,
    debug: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // The bytes of each message as the connection reads them: they tell whether it was handed over.
  const reading = new Map<string, Readable>();
  transport.use('stream', (mail, next) => {
    mail.message.processFunc((bytes) => {
      reading.set(mail.message.messageId(), bytes);
      return bytes;
    });
    next();
  });
  return { transport, reading };
}

type Pool = Awaited<ReturnType<typeof openPool>>;

/** The same for each attempt, so that whoever gets two copies can see that they are one. */
function messageOf(mail: OutgoingMail, from: Sender) {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.id}@${domain}>`,
    date: mail.createdAt,
    // No machine shall answer it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

async function attempt(
  { transport, reading }: Pool,
  message: ReturnType<typeof messageOf>,
  { deadline, stopping }: AttemptSignals,
): Promise<Outcome> {
  const { messageId } = message;
  const calledOff = new AbortController();
  const callOff = () => {
    if (reading.get(messageId)?.readableDidRead !== true) calledOff.abort();
  };
  stopping.addEventListener('abort', callOff, { once: true });
  try {
    const signal = AbortSignal.any([deadline, calledOff.signal]);
    await transport.sendMail({ ...message, signal });
    return { kind: 'sent' };
  } catch (error) {
    if (calledOff.signal.aborted) return { kind: 'stopped' };
    // A short mail is read in one go, right before it is written.
    return outcomeOf(error, reading.get(messageId)?.readableEnded === true);
  } finally {
    reading.delete(messageId);
    stopping.removeEventListener('abort', callOff);
  }
}

export function createSmtpTransport(options: SmtpOptions): MailTransport {
  let opening: Promise<Pool> | null = null;
  return {
    async send(mail, signals) {
      if (signals.stopping.aborted) return { kind: 'stopped' };
      opening ??= openPool(options);
      let pool: Pool;
      try {
        pool = await opening;
      } catch {
        // Such as a proxy in the URL that is none; the next attempt opens it anew.
        opening = null;
        return { kind: 'deferred', error: 'failed', isInDoubt: false };
      }
      return await attempt(pool, messageOf(mail, options.from), signals);
    },
    close() {
      opening?.then(
        ({ transport }) => transport.transporter.close?.({ force: true }),
        () => undefined,
      );
    },
  };
}
