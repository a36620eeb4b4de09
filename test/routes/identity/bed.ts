// What tests of signing in share: a gateway whose mailbox is read, browsers that keep cookies, and
// every reply checked against the documents.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Contract, type Reply } from '../../harness/contract.ts';
import type { Testbed } from '../../harness/testbed.ts';

export type Members = Record<string, unknown>;

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

const mailMs = 10_000;
let people = 0;

/** An address that no other test has. */
export function someone(): string {
  people += 1;
  return `p${people}.${process.pid}.${Date.now().toString(36)}@example.com`;
}

export class IdentityBed {
  readonly bed: Testbed;
  readonly contract: Contract;
  readonly #read = new Map<string, number>();

  private constructor(bed: Testbed, contract: Contract) {
    this.bed = bed;
    this.contract = contract;
  }

  static async over(bed: Testbed): Promise<IdentityBed> {
    return new IdentityBed(bed, await Contract.load(bed.url));
  }

  get sql() {
    return this.bed.sql;
  }

  /** Newest first. */
  async mails(to: string): Promise<Mail[]> {
    const url = `${this.bed.url}/dev/mailbox/messages?to=${encodeURIComponent(to)}`;
    const reply = await fetch(url);
    assert.equal(reply.status, 200, await reply.clone().text());
    return ((await reply.json()) as { data: Mail[] }).data;
  }

  /** The next mail to the address that was not asked for yet. */
  async nextMail(to: string): Promise<Mail> {
    const deadline = performance.now() + mailMs;
    const read = this.#read.get(to) ?? 0;
    for (;;) {
      const mails = await this.mails(to);
      const next = mails.at(-1 - read);
      if (next !== undefined) {
        this.#read.set(to, read + 1);
        return next;
      }
      assert.ok(performance.now() < deadline, `no mail to ${to} but ${read}`);
      await sleep(20);
    }
  }

  /** The code of the next mail. */
  async code(to: string): Promise<string> {
    const { text } = await this.nextMail(to);
    const [code] = /\b[0-9]{6}\b/.exec(text) ?? [];
    assert.ok(code !== undefined, text);
    return code;
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.contract.call('POST', path, { headers, ...(body === undefined ? {} : { body }) });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.contract.call('GET', path, { headers });
  }

  browser(): Browser {
    return new Browser(this);
  }

  /** A new account, signed in to by a code on a browser of its own. */
  async signUp(email = someone(), name = 'Some One') {
    const browser = this.browser();
    const purpose = 'signup';
    await browser.post('/api/auth/otp/request', { email, purpose });
    const code = await this.code(email);
    const body = { email, code, purpose, full_name: name, terms_accepted: true };
    const reply = await browser.post('/api/auth/otp/verify', body);
    assert.equal(reply.status, 200, reply.text);
    const user = reply.json.user as Members;
    return { browser, email, user, accountId: String(user.id) };
  }

  /** A new account of an app, with a password and an address that it only typed. */
  async register(email = someone(), password = 'violet tractor seven') {
    const reply = await this.post('/api/app/auth/register', { email, password });
    assert.equal(reply.status, 201, reply.text);
    const user = reply.json.user as Members;
    const session = reply.json.session as Members;
    const headers = { 'x-svc-session': String(session.token) };
    return { reply, email, password, user, session, headers, accountId: String(user.id) };
  }
}

/** A browser on a page of ours: it keeps cookies, and says where it is. */
export class Browser {
  readonly #bed: IdentityBed;
  readonly cookies = new Map<string, string>();

  constructor(bed: IdentityBed) {
    this.#bed = bed;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const origin = this.#bed.bed.url;
    const reply = await this.#bed.post(path, body, { origin, ...this.#shown(), ...headers });
    return this.#keep(reply);
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#keep(await this.#bed.get(path, { ...this.#shown(), ...headers }));
  }

  #shown(): Record<string, string> {
    return this.cookies.size === 0 ? {} : { cookie: this.cookie };
  }

  #keep(reply: Reply): Reply {
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0\b/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return reply;
  }
}

/** Status, code, reason and path of a refusal. */
export function refusal({ status, json }: Reply): Members {
  const { code, details = {} } = (json.error ?? {}) as { code?: string; details?: Members };
  return { status, code, ...details };
}

/** A code that is not the right one. */
export function wrong(right: string, step = 1): string {
  return String((Number(right) + step) % 1_000_000).padStart(6, '0');
}
