// The page /video in a real browser, against the real service and its simulated providers. What is
// asked for there is made once, played, sought in and deleted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import { broken, WAIT_MS } from '../../../harness/page.ts';
import { card, reaches, VideoBench } from './bench.ts';

// slow: A browser waits for videos that providers are polled for every five seconds.

const skip = noChromium;
let bench: VideoBench;
before(async () => {
  const started = await VideoBench.start();
  if (started === null) return;
  bench = started;
  await bench.create('Seen by many [[sim render_ms=100]]');
});
after(() => bench?.close());

interface Picture {
  seconds: number;
  /** A few pixels of what is shown. */
  pixels: string;
}

/** Seeks the player, and looks at what it shows then. */
const lookAt = (page: Page, seconds: number): Promise<Picture> =>
  page.evaluate<Picture>(`(async () => {
    const video = document.querySelector('#player');
    const sought = new Promise((resolve) => {
      video.addEventListener('seeked', resolve, { once: true });
    });
    video.currentTime = ${seconds};
    await sought;
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [32, 18];
    const context = canvas.getContext('2d');
    context.drawImage(video, 0, 0, 32, 18);
    const { data } = context.getImageData(0, 0, 32, 18);
    return { seconds: video.currentTime, pixels: data.filter((_, at) => at % 4 === 0).join() };
  })()`);

declare const document: { querySelector(selector: string): { readyState: number } | null };

const canPlay = (page: Page) =>
  page.waitForFunction(() => (document.querySelector('#player')?.readyState ?? 0) >= 2, null, {
    timeout: WAIT_MS,
  });

test('a video is asked for, made once, watched, sought in, and deleted', { skip }, async () => {
  const { page, faults, sent, close } = await bench.open();
  const prompt = 'A paper boat [[sim render_ms=500]]';
  await page.fill('#prompt', prompt);
  await page.selectOption('#model', 'svc-sim-video');
  await page.selectOption('#seconds', '6');
  assert.match((await page.textContent('#price')) ?? '', /^63 credits, charged when/);
  const ranges: string[] = [];
  page.on('response', (reply) => {
    if (reply.url().includes('generated-videos')) ranges.push(`${reply.status()}`);
  });
  await page.getByRole('button', { name: 'Make the video' }).click();
  await reaches(page, 'A paper boat', 'running');
  const bar = card(page, 'A paper boat').getByRole('progressbar');
  assert.ok(await bar.isVisible());
  await reaches(page, 'A paper boat', 'succeeded');
  assert.ok(await bar.isHidden());
  assert.match((await page.textContent('#news')) ?? '', /A paper boat.*: Ready/);
  assert.match((await card(page, 'A paper boat').textContent()) ?? '', /6 s · 16:9.*63 credits/);
  await card(page, 'A paper boat').getByRole('button', { name: 'Watch' }).click();
  await canPlay(page);
  const pictures: Picture[] = [];
  for (const seconds of [5, 1, 3, 0.5, 4]) pictures.push(await lookAt(page, seconds));
  const places = pictures.map(({ seconds }) => Math.round(seconds * 10) / 10);
  assert.deepEqual(places, [5, 1, 3, 0.5, 4]);
  assert.equal(new Set(pictures.map(({ pixels }) => pixels)).size, 5, 'each shows another moment');
  assert.ok(ranges.length > 0 && ranges.every((status) => status === '206'), ranges.join());
  const url = (await page.getAttribute('#player', 'src')) ?? '';
  await card(page, 'A paper boat').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
  assert.ok(await page.locator('#stage').isVisible(), 'nothing is deleted without a yes');
  await card(page, 'A paper boat').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  await card(page, 'A paper boat').getByText('The video was deleted.').waitFor();
  assert.ok(await page.locator('#stage').isHidden(), 'what was deleted is not shown on');
  const focused = await page.evaluate<string>('document.activeElement.textContent');
  assert.match(focused, /^A paper boat/, 'the keyboard is where it was');
  const gone = await page.evaluate<number>(`fetch(${JSON.stringify(url)}).then((r) => r.status)`);
  assert.equal(gone, 404);
  assert.equal(await bench.submissions(prompt), 1);
  assert.equal(sent.filter((line) => line === 'POST /v1/video/generations').length, 1);
  assert.deepEqual(faults, []);
  await close();
});

test('a request whose answer was lost is sent again under its name: one video', {
  skip,
}, async () => {
  const { page, close } = await bench.open();
  const prompt = 'Asked for twice [[sim render_ms=100]]';
  let lost = 0;
  await page.route('**/v1/video/generations', async (route) => {
    if (lost > 0 || route.request().method() !== 'POST') return route.continue();
    lost += 1;
    await route.fetch();
    return route.abort();
  });
  await page.fill('#prompt', prompt);
  await page.selectOption('#model', 'svc-sim-video');
  await page.click('#make-submit');
  const alert = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' });
  await alert.waitFor({ timeout: WAIT_MS });
  await page.click('#make-submit');
  await reaches(page, 'Asked for twice', 'running');
  assert.equal(await card(page, 'Asked for twice').count(), 1);
  assert.equal(await bench.submissions(prompt), 1);
  await close();
});

test('a failure says why, and that it was free; what is wrong is said at its field', {
  skip,
}, async () => {
  const { page, faults, close } = await bench.open();
  await page.click('#make-submit');
  assert.equal(await page.getAttribute('#prompt', 'aria-invalid'), 'true');
  await page.fill('#prompt', 'Not allowed [[sim fault=moderated_submit]]');
  await page.selectOption('#model', 'svc-sim-video');
  await page.fill('#seed', '-1');
  await page.click('#make-submit');
  await page.locator('#seed[aria-invalid="true"]').waitFor({ timeout: WAIT_MS });
  assert.match((await page.textContent('#make-problem')) ?? '', /seed/i);
  await page.fill('#seed', '7');
  await page.click('#make-submit');
  await reaches(page, 'Not allowed', 'failed');
  const said = (await card(page, 'Not allowed').textContent()) ?? '';
  assert.match(said, /content moderation. Nothing was charged\./);
  assert.match(said, /seed 7/);
  assert.deepEqual(faults, []);
  await close();
});

test('without a session the page asks for a key, and plays what that may fetch', {
  skip,
}, async () => {
  const { page, faults, close } = await bench.open({
    until: '#key-card:visible',
    // As in production.
    prepare: (page) =>
      page.route('**/video/session', (route) => route.fulfill({ status: 404, body: '{}' })),
  });
  assert.ok(await page.locator('#columns').isHidden());
  await page.getByLabel(/An API key/).fill('svc_live_of-nobody');
  await page.keyboard.press('Enter');
  await page.locator('#key-problem:visible').waitFor({ timeout: WAIT_MS });
  await page.getByLabel(/An API key/).fill(bench.gateway.dev.api_key);
  await page.keyboard.press('Enter');
  await reaches(page, 'Seen by many', 'succeeded');
  assert.equal(await page.inputValue('#key'), '', 'it stands nowhere that is seen');
  const mine = card(page, 'Seen by many');
  await mine.getByRole('button', { name: 'Watch' }).click();
  await canPlay(page);
  assert.match((await page.getAttribute('#player', 'src')) ?? '', /^blob:/);
  assert.equal((await lookAt(page, 2)).seconds, 2);
  assert.ok(await mine.getByRole('button', { name: 'Delete' }).isHidden());
  const stored = await page.evaluate('localStorage.length + sessionStorage.length');
  assert.equal(stored, 0);
  assert.deepEqual(faults, []);
  await close();
});

test('under another name of this machine all works but deleting, which says where it does', {
  skip,
}, async () => {
  const origin = bench.gateway.url.replace('127.0.0.1', 'localhost');
  const { page, faults, close } = await bench.open({ origin });
  await reaches(page, 'Seen by many', 'succeeded');
  await card(page, 'Seen by many').getByRole('button', { name: 'Watch' }).click();
  await canPlay(page);
  await card(page, 'Seen by many').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  const where = page.getByRole('alert').filter({ hasText: `deleted from ${bench.gateway.url}` });
  await where.waitFor({ timeout: WAIT_MS });
  assert.deepEqual(faults, []);
  await close();
});

test('on a phone, in the dark, by keyboard and for axe nothing is in the way', {
  skip,
}, async () => {
  for (const context of [
    { viewport: { width: 360, height: 720 }, colorScheme: 'dark', reducedMotion: 'reduce' },
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  ] as const) {
    const { page, faults, close } = await bench.open({ context });
    await reaches(page, 'Seen by many', 'succeeded');
    await card(page, 'Seen by many').getByRole('button', { name: 'Watch' }).focus();
    await page.keyboard.press('Enter');
    await canPlay(page);
    assert.equal(await page.evaluate('document.activeElement.id'), 'stage-title');
    assert.deepEqual(await broken(page), []);
    await page.getByRole('radio', { name: 'Make a video' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.ok(await page.getByRole('form', { name: 'Describe a video' }).isVisible());
    await page.locator('summary').press('Enter');
    assert.deepEqual(await broken(page), []);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(overflow, 0, 'nothing is wider than the screen');
    await page.evaluate("document.documentElement.style.fontSize = '32px'");
    const large = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(large, 0, 'nor where text is twice as large');
    assert.deepEqual(faults, []);
    await close();
  }
});

test('with colours of the system what is chosen and what runs has an edge', { skip }, async () => {
  const { page, close } = await bench.open({ context: { forcedColors: 'active' } });
  const styleOf = (selector: string, member: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${member}`,
    );
  assert.equal(await styleOf('#make-submit', 'borderTopWidth'), '1px');
  assert.equal(await styleOf('#result-bar', 'borderTopWidth'), '1px');
  const chosen = await styleOf('.modes label:has(:checked)', 'backgroundColor');
  assert.notEqual(chosen, await styleOf('.modes label:not(:has(:checked))', 'backgroundColor'));
  await close();
});

test('more jobs than a page has are shown on demand, and one that waits is cancelled', {
  skip,
}, async () => {
  // A provider takes ten at once: the others wait.
  const names = Array.from({ length: 12 }, (_, index) => `Number ${index} of many`);
  for (const name of names) await bench.create(`${name} [[sim render_ms=20000]]`);
  const { page, faults, close } = await bench.open();
  assert.equal(await page.locator('.job').count(), 10);
  await page.getByRole('button', { name: 'Show older ones' }).click();
  await card(page, 'Number 0 of many').waitFor({ timeout: WAIT_MS });
  const waiting = page.locator('.job[data-status="queued"]').first();
  await waiting.waitFor({ timeout: WAIT_MS });
  const title = (await waiting.locator('h3').textContent()) ?? '';
  await waiting.getByRole('button', { name: 'Cancel' }).click();
  await reaches(page, title, 'cancelled');
  assert.match((await card(page, title).textContent()) ?? '', /Cancelled. Nothing was charged\./);
  const running = page.locator('.job[data-status="running"]').first();
  assert.ok(await running.getByRole('button', { name: 'Cancel' }).isHidden());
  assert.deepEqual(faults, []);
  await close();
});
