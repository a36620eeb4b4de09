// A browser with the page /video of a real gateway, and what went wrong in it.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { noChromium, openChromium } from '../../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../../harness/gateway.ts';

export const WAIT_MS = 45_000;

export interface Opened {
  page: Page;
  /** Errors, warnings, and requests to other hosts. */
  faults: string[];
  /** What was sent, as `METHOD /path`. */
  sent: string[];
  close(): Promise<void>;
}

export interface OpenOptions {
  /** `ready`, or that the page asks for a key. */
  until?: string;
  /** Before the page is there. */
  prepare?(page: Page): Promise<unknown>;
  context?: Parameters<Browser['newContext']>[0];
  origin?: string;
}

export class VideoBench {
  readonly gateway: Gateway;
  readonly browser: Browser;

  private constructor(gateway: Gateway, browser: Browser) {
    this.gateway = gateway;
    this.browser = browser;
  }

  /** Null where there is no Chromium: every test is skipped then. */
  static async start(): Promise<VideoBench | null> {
    if (noChromium !== false) return null;
    const [gateway, browser] = await Promise.all([startGateway({ shards: 1 }), openChromium()]);
    return new VideoBench(gateway, browser);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.gateway.close();
  }

  async open(options: OpenOptions = {}): Promise<Opened> {
    const { url } = this.gateway;
    const origin = options.origin ?? url;
    const context = await this.browser.newContext(options.context);
    const page = await context.newPage();
    const [faults, sent]: [string[], string[]] = [[], []];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      const isFault = message.type() === 'error' || message.type() === 'warning';
      // What the page is refused is its business, and is looked at by what it shows.
      if (isFault && !message.text().startsWith('Failed to load resource')) {
        faults.push(message.text());
      }
    });
    page.on('request', (request) => {
      if (/^(data|blob):/.test(request.url())) return;
      if (!request.url().startsWith(origin)) faults.push(`asked ${request.url()}`);
      sent.push(`${request.method()} ${request.url().slice(origin.length)}`);
    });
    await options.prepare?.(page);
    await page.goto(`${origin}/video`);
    const until = options.until ?? 'body[data-phase="ready"] #columns';
    await page.locator(until).waitFor({ timeout: WAIT_MS });
    return { page, faults, sent, close: () => context.close() };
  }

  /** Asks for a video, for which a simulated model takes a moment. */
  async create(prompt: string, members: Record<string, unknown> = {}): Promise<string> {
    const { url, dev } = this.gateway;
    const reply = await fetch(`${url}/v1/video/generations`, {
      method: 'POST',
      headers: { 'x-api-key': dev.api_key, 'content-type': 'application/json' },
      body: JSON.stringify({
        prompt,
        duration_seconds: 4,
        video_model: 'svc-sim-video',
        ...members,
      }),
    });
    assert.equal(reply.status, 202, await reply.clone().text());
    return ((await reply.json()) as { job: { id: string } }).job.id;
  }

  /** Submissions that the simulated providers have seen of a prompt. */
  async submissions(prompt: string): Promise<number> {
    const reply = await fetch(`${this.gateway.dev.simulator_url}/sim/videos`);
    return (await reply.text()).split(JSON.stringify(prompt).slice(1, -1)).length - 1;
  }
}

/** The card of a job by the beginning of its prompt. */
export const card = (page: Page, title: string) =>
  page.locator('.job').filter({ has: page.locator('h3', { hasText: title }) });

export async function reaches(page: Page, title: string, status: string): Promise<void> {
  const wanted = card(page, title).and(page.locator(`[data-status="${status}"]`));
  await wanted.waitFor({ timeout: WAIT_MS });
}

/** Rules that axe finds broken, with where. */
export async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
}
