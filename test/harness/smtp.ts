// A mail server for tests, with faults by the local part of whom a mail is for: `defer+anna@…` is
// put off, and so on. What it took stands in `received`, as other people's code reads it.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  /** As the envelope says. */
  from: string;
  to: string;
  parsed: Email;
  raw: string;
  isSecure: boolean;
}

export interface SmtpOptions {
  /** With one it speaks TLS from the first byte. */
  certificate?: { cert: Buffer; key: Buffer };
  /** Who may send; absent: everybody. */
  login?: { user: string; password: string };
}

export interface SmtpHarness {
  readonly port: number;
  /** For TOLLGATE_SMTP_URL. */
  readonly url: string;
  /** What it took, whatever it said of it; oldest first. */
  readonly received: ReceivedMail[];
  /** RCPT commands by address. */
  readonly asked: Map<string, number>;
  /** Connections since the start. */
  connections(): number;
  /** Waits for so many mails for an address. */
  receivedFor(to: string, count?: number): Promise<ReceivedMail[]>;
  /** Lets mails for `hold+…` be accepted, these and later ones. */
  letGo(): void;
  /** Refuses connections until `back`. */
  away(): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

const WAIT_MS = 60_000;

type Fault = (server: Fallible) => void;

/** What a fault may do with the exchange. */
interface Fallible {
  reply(code: number, text: string): void;
  cut(): void;
}

const silence: Fault = () => undefined;

/** Before the mail is told: in place of the reply to RCPT. */
const early: Record<string, Fault> = {
  defer: (server) => server.reply(451, '4.3.0 Try again later'),
  refuse: (server) => server.reply(550, '5.1.1 Nobody of that name here'),
  stall: silence,
  cut: (server) => server.cut(),
};

/** When the mail is there whole: in place of the reply to it. */
const late: Record<string, Fault> = {
  'defer-data': (server) => server.reply(452, '4.2.2 The mailbox is full'),
  'refuse-data': (server) => server.reply(554, '5.7.1 It looks like spam'),
  'stall-after-data': silence,
  'cut-after-data': (server) => server.cut(),
};

const faultOf = (faults: Record<string, Fault>, to: string) => faults[to.split('+')[0] ?? ''];

/** Its library shows domains as people read them; here they are as they were sent. */
function asSent(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToASCII(address.slice(at));
}

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

class RunningSmtp implements SmtpHarness {
  port = 0;
  readonly received: ReceivedMail[] = [];
  readonly asked = new Map<string, number>();
  readonly #options: SmtpOptions;
  readonly #held: (() => void)[] = [];
  #isHolding = true;
  #server: SMTPServer | null = null;
  #connections = 0;

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  get url(): string {
    const { certificate, login } = this.#options;
    const who = login === undefined ? '' : `${login.user}:${encodeURIComponent(login.password)}@`;
    return `${certificate === undefined ? 'smtp' : 'smtps'}://${who}127.0.0.1:${this.port}`;
  }

  connections(): number {
    return this.#connections;
  }

  async receivedFor(to: string, count = 1): Promise<ReceivedMail[]> {
    const found = () => this.received.filter((mail) => mail.to === to);
    const deadline = performance.now() + WAIT_MS;
    while (found().length < count) {
      if (performance.now() > deadline) throw new Error(`no ${count} mails came`);
      await sleep(5);
    }
    return found();
  }

  letGo(): void {
    this.#isHolding = false;
    for (const accept of this.#held.splice(0)) accept();
  }

  async away(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const { _socket: socket } of server.connections) socket.destroy();
    await closed;
  }

  async back(): Promise<void> {
    const server = new SMTPServer(this.#serverOptions());
    // Clients that go away in the middle are what is tested.
    server.on('error', () => undefined);
    server.listen(this.port, '127.0.0.1');
    await once(server.server, 'listening');
    this.port = (server.server.address() as AddressInfo).port;
    this.#server = server;
  }

  async close(): Promise<void> {
    this.letGo();
    await this.away();
  }

  #serverOptions(): SMTPServerOptions {
    const { certificate, login } = this.#options;
    return {
      ...(certificate === undefined ? {} : { secure: true, ...certificate }),
      disabledCommands: login === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
      authOptional: login === undefined,
      allowInsecureAuth: true,
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 100,
      onConnect: (_session, done) => {
        this.#connections += 1;
        done();
      },
      onAuth: ({ username, password }, _session, done) => {
        const isRight = username === login?.user && password === login?.password;
        done(isRight ? null : refusal(535, '5.7.8 Wrong user or password'), { user: username });
      },
      onRcptTo: ({ address: shown }, session, done) => {
        const address = asSent(shown);
        this.asked.set(address, (this.asked.get(address) ?? 0) + 1);
        const fault = faultOf(early, address);
        if (fault === undefined) done();
        else fault(this.#fallible(session, done));
      },
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => void this.#take(Buffer.concat(parts), session, done));
      },
    };
  }

  async #take(
    bytes: Buffer,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    const { mailFrom, rcptTo } = session.envelope;
    const to = asSent(rcptTo[0]?.address ?? '');
    const parsed = await PostalMime.parse(bytes);
    this.received.push({
      from: mailFrom === false ? '' : mailFrom.address,
      to,
      parsed,
      raw: bytes.toString('latin1'),
      isSecure: session.secure,
    });
    if (to.startsWith('hold+') && this.#isHolding) {
      this.#held.push(() => done());
      return;
    }
    const fault = faultOf(late, to);
    if (fault === undefined) done();
    else fault(this.#fallible(session, done));
  }

  #fallible(session: SMTPServerSession, done: (error?: Error | null) => void): Fallible {
    return {
      reply: (code, text) => done(refusal(code, text)),
      cut: () => {
        for (const connection of this.#server?.connections ?? []) {
          if (connection.session === session) connection._socket.destroy();
        }
      },
    };
  }
}

/** Starts it on a port of its own; `close` it in an `after` hook. */
export async function startSmtp(options: SmtpOptions = {}): Promise<SmtpHarness> {
  const smtp = new RunningSmtp(options);
  await smtp.back();
  return smtp;
}
