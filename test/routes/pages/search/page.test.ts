// The page /search in a real browser, against the real service and its simulated providers. Every
// surface is asked, and nothing of a result is loaded before a click.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { tabs } from '../../../../routes/pages/search/browser/surfaces.ts';
import { noChromium, openChromium } from '../../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../../harness/gateway.ts';
import { broken, type OpenOptions, openPage, WAIT_MS } from '../../../harness/page.ts';

const skip = noChromium;
let gateway: Gateway;
let browser: Browser;
before(async () => {
  if (noChromium !== false) return;
  [gateway, browser] = await Promise.all([startGateway({ shards: 1 }), openChromium()]);
});
after(async () => {
  await browser?.close();
  await gateway?.close();
});

const open = (options: OpenOptions = {}) =>
  openPage(browser, gateway.url, '/search', {
    ...options,
    until: options.until ?? 'body[data-phase="ready"] #desk',
  });

test('each surface is a tab that finds something, and says what it cost', { skip }, async () => {
  const { page, faults, close } = await open();
  for (const { name, label, example } of tabs) {
    await page.getByRole('tab', { name: label, exact: true }).click();
    assert.match((await page.textContent('#price')) ?? '', /^\d+ credits?, charged when/, name);
    await page.fill('#query', example);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('#result-body .item').first().waitFor({ timeout: WAIT_MS });
    const text = (await page.textContent('#result-body')) ?? '';
    assert.match(text, /r1 (found|partial), \d+ ms/, name);
    assert.match(text, /credits? charged|Free/, name);
  }
  assert.deepEqual(faults, []);
  await close();
});

test('marks of a cited answer lead to their quotes, and quotes to results', { skip }, async () => {
  const { page, close } = await open();
  await page.getByRole('tab', { name: 'Cited answer' }).click();
  await page.fill('#query', 'What is a wallet?');
  await page.keyboard.press('Enter');
  await page.locator('.answer .mark').first().waitFor({ timeout: WAIT_MS });
  await page.locator('.answer .mark').first().click();
  assert.equal(new URL(page.url()).hash, '#quote-1');
  await page.locator('#quote-1 a').click();
  assert.match(new URL(page.url()).hash, /^#item-\d+$/);
  assert.equal(await page.locator(new URL(page.url()).hash).count(), 1);
  await close();
});

test('a picture is asked for by a click, and by nothing else', { skip }, async () => {
  const asked: string[] = [];
  const { page, close } = await open({
    prepare: (page) =>
      page.route(/example\.com/, (route) => {
        asked.push(route.request().url());
        return route.abort();
      }),
  });
  await page.getByRole('tab', { name: 'Pictures' }).click();
  await page.fill('#query', 'matterhorn');
  await page.keyboard.press('Enter');
  const load = page.getByRole('button', { name: /^Load the picture/ }).first();
  await load.waitFor({ timeout: WAIT_MS });
  assert.deepEqual(asked, []);
  await load.click();
  await page.getByText('The picture cannot be loaded.').first().waitFor({ timeout: WAIT_MS });
  assert.equal(asked.length, 1);
  await close();
});

test('a refusal stands at its field, and what was sent is the curl that is shown', {
  skip,
}, async () => {
  const { page, close } = await open();
  await page.getByRole('tab', { name: 'Flights' }).click();
  await page.fill('#query', 'nowhere in particular');
  await page.fill('#field-outbound_date', '2001-01-01');
  const [request] = await Promise.all([
    page.waitForRequest('**/api/v1/query'),
    page.keyboard.press('Enter'),
  ]);
  await page.locator('#ask-problem:not([hidden])').waitFor({ timeout: WAIT_MS });
  assert.equal(await page.locator('[aria-invalid="true"]').count(), 1);
  const shown = (await page.textContent('#curl')) ?? '';
  assert.ok(shown.includes(request.postData() ?? '?'), shown);
  await close();
});

test('it is used by keyboard alone, on a narrow screen, in both colours', { skip }, async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width: 360, height: 740 };
    const { page, faults, close } = await open({ context: { viewport, colorScheme } });
    await page.getByRole('tab', { name: 'Web', exact: true }).focus();
    await page.keyboard.press('End');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Hotels');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Web');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a narrow screen');
    await page.keyboard.press('Enter');
    await page.locator('#result-body .item').first().waitFor({ timeout: WAIT_MS });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${width} px wide`);
    assert.deepEqual(await broken(page), []);
    assert.deepEqual(faults, []);
    await close();
  }
});
