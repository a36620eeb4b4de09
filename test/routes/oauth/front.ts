// What the tests of the authorization endpoint share. A browser with a session is shown a page, and
// sends the decision of its person.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { challengeOf } from '../../../actors/oauth/pkce.ts';
import type { ApprovalData } from '../../../routes/pages/identity/approval.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import type { Testbed } from '../../harness/testbed.ts';

export const webRedirect = 'https://app.example.com/callback';
export const loopbackRedirect = 'http://127.0.0.1:41234/callback';
export const verifier = randomBytes(32).toString('base64url');
export const challenge = challengeOf(verifier) ?? '';

export type Query = Record<string, string | undefined>;

/** A request that nothing is wrong with; undefined leaves a parameter out. */
export const usual = {
  client_id: 'svc-cli',
  redirect_uri: loopbackRedirect,
  response_type: 'code',
  scope: 'profile app',
  state: 'of the app',
  code_challenge: challenge,
  code_challenge_method: 'S256',
} as const satisfies Query;

export function queryText(query: Query): string {
  const sent = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(sent as [string, string][]).toString();
}

export interface Answer {
  status: number;
  headers: Headers;
  location: string | null;
  text: string;
}

/** A browser: it goes nowhere by itself, so that a test sees where it is sent. */
export class Browser {
  readonly #bed: Testbed;
  readonly #contract: Contract;
  readonly session: string | null;

  constructor(bed: Testbed, contract: Contract, session: string | null) {
    this.#bed = bed;
    this.#contract = contract;
    this.session = session;
  }

  #headers(): Record<string, string> {
    const cookie = this.session === null ? {} : { cookie: `svc_session=${this.session}` };
    return { 'sec-fetch-site': 'same-origin', ...cookie };
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    const reply = await fetch(this.#bed.url + path, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...this.#headers(), ...headers },
    });
    const { status, headers: got } = reply;
    return { status, headers: got, location: got.get('location'), text: await reply.text() };
  }

  authorize(query: Query): Promise<Answer> {
    return this.get(`/oauth/authorize?${queryText({ ...usual, ...query })}`);
  }

  /** The page of a request, as its module reads it. */
  async page(query: Query = {}): Promise<ApprovalData> {
    const answer = await this.authorize(query);
    assert.equal(answer.status, 200, answer.location ?? answer.text);
    return pageData(answer.text);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#contract.call('POST', path, { headers: { ...this.#headers(), ...headers }, body });
  }

  decide(request: string, decision: string): Promise<Reply> {
    return this.post('/oauth/authorize/decision', { request, decision });
  }

  /** Approves what the page asks; what the app is told then. */
  async approve(query: Query = {}): Promise<URL> {
    const { request } = await this.page(query);
    const reply = await this.decide(request, 'approve');
    assert.equal(reply.status, 200, reply.text);
    return new URL(String(reply.json.redirect_to));
  }
}

export async function openBrowsers(bed: Testbed) {
  const contract = await Contract.load(bed.url);
  return {
    nobody: new Browser(bed, contract, null),
    /** A new account that is signed in. */
    async someone() {
      const account = await bed.account();
      return { account, browser: new Browser(bed, contract, account.sessionToken) };
    },
    of: (session: string) => new Browser(bed, contract, session),
  };
}

export function pageData(html: string): ApprovalData {
  const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1];
  assert.ok(text !== undefined, html.slice(0, 300));
  return JSON.parse(text) as ApprovalData;
}

/** The members of an answer to the app, and the address without them. */
export function told(answer: Answer): { to: string; members: Record<string, string> } {
  assert.equal(answer.status, 303, answer.text);
  const url = new URL(answer.location ?? '');
  const members = Object.fromEntries(url.searchParams);
  return { to: (answer.location ?? '').split('?')[0] ?? '', members };
}
