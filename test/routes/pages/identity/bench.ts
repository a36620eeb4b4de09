// A browser with the pages of a real gateway, whose JSON routes are answered as a test wants. So
// every state of a page is there to be looked at. The flow test has the real answers.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core';
import { type ApprovalData, renderApproval } from '../../../../routes/pages/identity/approval.ts';
import { noChromium, openChromium } from '../../../harness/chromium.ts';
import { openTestbed, type Testbed } from '../../../harness/testbed.ts';

export const waitMs = 20_000;

export interface Answer {
  status?: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** What was sent, as its body; null: it had none. */
export type Sent = Record<string, unknown> | null;

/** Answers by `METHOD /path`. A function is asked anew for each call. */
export type Answers = Record<string, Answer | ((sent: Sent) => Answer)>;

export interface Opened {
  page: Page;
  /** Errors, warnings, breaches of the policy, and requests to other hosts. */
  faults: string[];
  /** What was sent to a route that was answered, by `METHOD /path`. */
  sent(name: string): readonly Sent[];
  /** Adds answers, or replaces them. */
  answer(answers: Answers): void;
  close(): Promise<void>;
}

export interface OpenOptions {
  answers?: Answers;
  signedIn?: boolean;
  context?: BrowserContextOptions;
  /** Another name of this machine than the web origin has. */
  origin?: string;
  /** Before the page is there. */
  prepare?(page: Page): Promise<unknown>;
}

export const user = {
  id: 'acc_000000000000000000000001',
  email: 'ann@example.com',
  email_verified: true,
  full_name: 'Ann Example',
  role: 'user',
  status: 'active',
  has_password: false,
  referral_code: 'K7QDPX2M',
  created_at: '2026-03-04T10:00:00.000Z',
};

export const sessionOf = (ageMs: number) => ({
  id: 'ses_000000000000000000000001',
  kind: 'browser',
  method: 'otp',
  created_at: new Date(Date.now() - ageMs).toISOString(),
  authenticated_at: new Date(Date.now() - ageMs).toISOString(),
  last_used_at: new Date().toISOString(),
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
});

/** A refusal in the envelope of the API. */
export function refusal(
  status: number,
  code: string,
  details: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Answer {
  const error = { code, message: 'Said by the server.', request_id: 'test', details };
  return { status, json: { ok: false, error }, headers };
}

/** As OAuth says it. */
export function oauthRefusal(status: number, error: string): Answer {
  return { status, json: { error, error_description: 'Said by the server.' } };
}

export class IdentityBench {
  readonly bed: Testbed;
  readonly browser: Browser;
  readonly #cookie: string;

  private constructor(bed: Testbed, browser: Browser, cookie: string) {
    this.bed = bed;
    this.browser = browser;
    this.#cookie = cookie;
  }

  /** Null where there is no Chromium: every test is skipped then. */
  static async start(): Promise<IdentityBench | null> {
    if (noChromium !== false) return null;
    const [bed, browser] = await Promise.all([openTestbed(), openChromium()]);
    const { sessionToken } = await bed.account();
    return new IdentityBench(bed, browser, sessionToken);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.bed.close();
  }

  async open(path: string, options: OpenOptions = {}): Promise<Opened> {
    const url = options.origin ?? this.bed.url;
    const context = await this.browser.newContext({
      // Else dates are written as the machine has it.
      timezoneId: 'UTC',
      ...options.context,
    });
    if (options.signedIn === true) {
      await context.addCookies([{ name: 'svc_session', value: this.#cookie, url }]);
    }
    const page = await context.newPage();
    const faults = watch(page, url);
    const answers: Answers = { ...options.answers };
    const sent: Record<string, Sent[]> = {};
    await page.route(/\/(api|oauth)\//, (route) => answerRoute(route, answers, sent));
    await options.prepare?.(page);
    await page.goto(`${url}${path}`);
    return {
      page,
      faults,
      sent: (name) => sent[name] ?? [],
      answer: (more) => void Object.assign(answers, more),
      close: () => context.close(),
    };
  }

  /** The approval page as the route would answer with it. */
  async openApproval(data: ApprovalData, options: OpenOptions = {}): Promise<Opened> {
    const reply = renderApproval(data);
    assert.ok('text' in reply);
    const opened = await this.open('/signin', options);
    const { page } = opened;
    await page.route(/\/oauth\/authorize\?/, (route) =>
      route.fulfill({
        body: reply.text,
        contentType: reply.mediaType,
        ...(reply.headers === undefined ? {} : { headers: reply.headers }),
      }),
    );
    await page.goto(`${this.bed.url}/oauth/authorize?client_id=x&state=y`);
    await page.locator('#scopes li').first().waitFor({ timeout: waitMs });
    return opened;
  }
}

function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const isFault = message.type() === 'error' || message.type() === 'warning';
    // What a page is refused is its business, and is looked at by what it shows.
    const isRefused = message.text().startsWith('Failed to load resource');
    if (isFault && !isRefused) faults.push(message.text());
  });
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(origin) && !asked.startsWith('data:')) faults.push(`asked ${asked}`);
  });
  return faults;
}

async function answerRoute(
  route: Route,
  answers: Answers,
  sent: Record<string, Sent[]>,
): Promise<void> {
  const request = route.request();
  const name = `${request.method()} ${new URL(request.url()).pathname}`;
  const answer = answers[name];
  if (answer === undefined) return await route.fallback();
  const body = request.postDataJSON() as Sent;
  sent[name] = [...(sent[name] ?? []), body];
  const { status = 200, json, headers = {} } = typeof answer === 'function' ? answer(body) : answer;
  await route.fulfill({ status, json, headers });
}

/** Rules that axe finds broken, with where. */
export async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
}

/** The id of what has the focus. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.id');

/** What is wider than the screen, in pixels; text may be made larger before. */
export async function overflow(page: Page, fontSize?: string): Promise<number> {
  const size = JSON.stringify(fontSize ?? '');
  return await page.evaluate<number>(`(() => {
    document.documentElement.style.fontSize = ${size};
    return document.documentElement.scrollWidth - innerWidth;
  })()`);
}
