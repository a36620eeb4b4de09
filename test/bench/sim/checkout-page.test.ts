// The simulated checkout as a person sees it in Chromium, on a small screen, light and dark. It is
// paid with the keyboard alone, declined, delayed and left.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import type Stripe from 'stripe';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { noChromium, openChromium } from '../../harness/chromium.ts';
import { stripeAt } from './payments.ts';
import { eventually } from './probe.ts';

const skip = noChromium;
let sim: RunningSim;
let stripe: Stripe;
let browser: Browser;
/** Where the page leads back to. */
const shop = createServer((_request, response) => response.end('back'));
let back = '';
before(async () => {
  if (skip !== false) return;
  sim = await startSim({ port: 0, key: null, seed: 3 });
  stripe = stripeAt(sim);
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  back = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  browser = await openChromium();
});
after(async () => {
  await browser?.close();
  shop.closeAllConnections();
  shop.close();
  sim?.close();
});

const longName = 'Starter, a thousand credits for one workspace <b>&amp; more</b>';
const small = { width: 360, height: 640 };

function makeSession(more: object = {}) {
  return stripe.checkout.sessions.create({
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: { currency: 'eur', unit_amount: 123_456, product_data: { name: longName } },
      },
    ],
    success_url: `${back}/paid?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: `${back}/left`,
    customer_email: 'a-person-with-a-rather-long-address@subdomain.of.a.long.example.com',
    ...more,
  });
}

async function openPage(url: string | null, scheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({ viewport: small, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(url ?? '');
  return page;
}

test('a person pays with the keyboard, and is led back', { skip }, async () => {
  const session = await makeSession();
  const page = await openPage(session.url);
  assert.match(await page.title(), /Pay €1,234\.56/);
  assert.equal(await page.locator('h1').textContent(), longName);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${back}/paid?session_id=${session.id}`);
  assert.equal((await stripe.checkout.sessions.retrieve(session.id)).payment_status, 'paid');
  // Whoever comes back to the page is led on.
  await page.goto(session.url ?? '');
  assert.match(page.url(), /\/paid\?session_id=/);
  await page.context().close();
});

test('a declined card is said aloud, and the next one may be better', { skip }, async () => {
  const session = await makeSession();
  const page = await openPage(session.url);
  await page.getByRole('button', { name: 'declined' }).click();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /declined/);
  assert.equal((await stripe.checkout.sessions.retrieve(session.id)).status, 'open');
  await page.getByRole('button', { name: /^Pay$/ }).click();
  await page.waitForURL(/\/paid/);
  await page.context().close();
});

test('a transfer takes a moment, and leaving costs nothing', { skip }, async () => {
  const delayed = await makeSession();
  const page = await openPage(delayed.url);
  await page.getByRole('button', { name: 'transfer' }).click();
  await page.waitForURL(/\/paid/);
  assert.equal((await stripe.checkout.sessions.retrieve(delayed.id)).payment_status, 'unpaid');
  await eventually(async () => {
    const { payment_status: status } = await stripe.checkout.sessions.retrieve(delayed.id);
    return status === 'paid';
  });
  const left = await makeSession();
  await page.goto(left.url ?? '');
  await page.getByRole('link').click();
  await page.waitForURL(`${back}/left`);
  assert.equal((await stripe.checkout.sessions.retrieve(left.id)).status, 'open');
  await stripe.checkout.sessions.expire(left.id);
  const reply = await page.goto(left.url ?? `http://127.0.0.1:${sim.port}/c/pay/${left.id}`);
  assert.equal(reply?.status(), 410);
  assert.match((await page.getByRole('alert').textContent()) ?? '', /over/);
  await page.context().close();
});

test('nothing is too wide, too pale or without a name', { skip }, async () => {
  for (const scheme of ['light', 'dark'] as const) {
    const page = await openPage((await makeSession()).url, scheme);
    await page.getByRole('button', { name: 'declined' }).click();
    await page.getByRole('alert').waitFor();
    const tooWideBy = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(tooWideBy, 0);
    await page.evaluate(axe.source);
    const found = await page.evaluate<string[]>(
      'axe.run().then(({ violations }) => violations.map(({ id }) => id))',
    );
    assert.deepEqual(found, [], scheme);
    await page.context().close();
  }
});
