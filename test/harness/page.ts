// A page of a real gateway in a browser, and what went wrong in it.
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';

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
}

/** Opens a page by its path, and waits for what `until` selects. */
export async function openPage(
  browser: Browser,
  origin: string,
  path: string,
  options: OpenOptions & { until: string },
): Promise<Opened> {
  const context = await browser.newContext(options.context);
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
  await page.goto(`${origin}${path}`);
  await page.locator(options.until).waitFor({ timeout: WAIT_MS });
  return { page, faults, sent, close: () => context.close() };
}

/** Rules that axe finds broken, with where. */
export async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
}
