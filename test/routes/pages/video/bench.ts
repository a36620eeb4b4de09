// A browser with the page /video of a real gateway, and what went wrong in it.
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { noChromium, openChromium } from '../../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../../harness/gateway.ts';
import { type Opened, type OpenOptions, openPage, WAIT_MS } from '../../../harness/page.ts';

type VideoOpening = OpenOptions & { origin?: string };

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

  open({ origin = this.gateway.url, ...options }: VideoOpening = {}): Promise<Opened> {
    const until = options.until ?? 'body[data-phase="ready"] #columns';
    return openPage(this.browser, origin, '/video', { ...options, until });
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
