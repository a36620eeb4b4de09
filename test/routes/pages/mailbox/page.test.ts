// The page /dev/mailbox in a real browser: mails appear by themselves, their code is copied, and
// their markup is text. It is used by keyboard alone, narrow, and in both schemes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { createMailServices } from '../../../../actors/mail/open.ts';
import type { Mail } from '../../../../actors/mail/services.ts';
import { createSealer } from '../../../../runtime/seal.ts';
import { noChromium, openChromium } from '../../../harness/chromium.ts';
import { openTestbed, type Testbed } from '../../../harness/testbed.ts';

// slow: A browser waits for rounds of the mail desk, and for its own looks.

const skip = noChromium;
const WAIT_MS = 45_000;
const masterKey = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';
let bed: Testbed;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  [bed, browser] = await Promise.all([
    openTestbed({ shards: 1, env: { TOLLGATE_SECRET: masterKey } }),
    openChromium(),
  ]);
});
after(async () => {
  await browser?.close();
  await bed?.close();
});

/** The round finds it. */
async function write(to: string, mail: Mail): Promise<void> {
  const services = createMailServices({
    config: { smtpUrl: null, mode: 'dev' },
    sealer: createSealer(masterKey),
    node: 0,
    send: () => undefined,
  });
  const written = { to, accountId: null, expiresAt: null, mail };
  await bed.sql.begin((transaction) => services.write(transaction, written));
}

const code: Mail = { template: 'code', purpose: 'sign_in', code: '714285', minutes: 10 };

interface Opened {
  page: Page;
  faults: string[];
  close(): Promise<void>;
}

async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(bed.url) || request.url().startsWith('data:');
    if (!isOwn) faults.push(`asked ${request.url()}`);
  });
  await page.goto(bed.dev.mailbox_url ?? '');
  await page.locator('body[data-phase="ready"]').waitFor({ timeout: WAIT_MS });
  return { page, faults, close: () => context.close() };
}

const mailTo = (page: Page, to: string) => page.locator('.mails li').filter({ hasText: to });

async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
}

const isScrolledSideways = (page: Page) =>
  page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );

test('a mail appears by itself, and its code is copied, by keyboard alone', { skip }, async () => {
  const { page, faults, close } = await open({
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByText('No mail yet.').waitFor();
  await write('nora@example.com', code);
  await mailTo(page, 'nora@example.com').waitFor({ timeout: WAIT_MS });
  const said = (await page.getByRole('status').textContent()) ?? '';
  assert.equal(said, 'New mail to nora@example.com: Your code to sign in');
  for (let tabs = 0; tabs < 12; tabs += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>('document.activeElement.textContent');
    if (focused === 'Copy the code') break;
  }
  await page.keyboard.press('Enter');
  await page.getByText('Copied 714285.').waitFor({ timeout: WAIT_MS });
  assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), '714285');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('<!doctype html>').waitFor({ timeout: WAIT_MS });
  assert.deepEqual(faults, []);
  await close();
});

test('markup in a mail stays text, and what is open stays open', { skip }, async () => {
  const client = `<img src="https://evil.test/x.png" onerror="document.title = 'pwned'">`;
  await write('olga@example.com', { template: 'app_cut_off', client });
  const { page, faults, close } = await open();
  const mail = mailTo(page, 'olga@example.com');
  await mail.waitFor({ timeout: WAIT_MS });
  assert.match((await mail.locator('pre.text').textContent()) ?? '', /<img src="https/);
  await mail.getByText('HTML, as source').click();
  assert.match((await mail.locator('details pre').textContent()) ?? '', /&lt;img src=&quot;https/);
  assert.equal(await mail.locator('img').count(), 0);
  await write('paul@example.com', { template: 'test' });
  await mailTo(page, 'paul@example.com').waitFor({ timeout: WAIT_MS });
  assert.ok(await mail.locator('details pre').isVisible(), 'what was open is open');
  const first = await page.locator('.mails li').first().textContent();
  assert.match(first ?? '', /paul@example\.com/, 'the newest is first');
  assert.equal(await page.title(), 'Mailbox · tollgate');
  assert.deepEqual(faults, []);
  await close();
});

test('mails are found by their address, and the mailbox is emptied', { skip }, async () => {
  await write('quentin@example.com', code);
  const { page, faults, close } = await open();
  await mailTo(page, 'quentin@example.com').waitFor({ timeout: WAIT_MS });
  await page.getByLabel('Show mails to').fill('QUENTIN@');
  assert.equal(await page.locator('.mails li:visible').count(), 1);
  await page.getByLabel('Show mails to').fill('nobody');
  await page.getByText('No mail to that.').waitFor();
  await page.getByLabel('Show mails to').fill('');
  await page.getByRole('button', { name: 'Empty the mailbox' }).click();
  await page.getByText('The mailbox is empty.').waitFor({ timeout: WAIT_MS });
  assert.equal(await page.locator('.mails li').count(), 0);
  assert.equal(await page.evaluate<string>('document.activeElement.id'), 'main');
  assert.deepEqual(faults, []);
  await close();
});

test('it says when the server is away, and that it is back', { skip }, async () => {
  const { page, close } = await open();
  await page.route('**/messages', (route) => route.abort());
  const alert = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' });
  await alert.waitFor({ timeout: WAIT_MS });
  await page.unroute('**/messages');
  await alert.waitFor({ state: 'hidden', timeout: WAIT_MS });
  await close();
});

test('axe finds nothing, in both schemes, at 320 px and with twice the text', {
  skip,
}, async () => {
  await write('rosa.with-a-long-name.that-goes-on-and-on@subdomain.of.example.com', code);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [320, 1_280]) {
      const { page, faults, close } = await open({
        colorScheme,
        viewport: { width, height: 800 },
      });
      await mailTo(page, 'rosa').waitFor({ timeout: WAIT_MS });
      await mailTo(page, 'rosa').getByText('HTML, as source').click();
      assert.deepEqual(await broken(page), [], `${colorScheme} ${width}`);
      assert.equal(await isScrolledSideways(page), false);
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      assert.equal(await isScrolledSideways(page), false, 'with twice the text');
      assert.deepEqual(faults, []);
      await close();
    }
  }
});
