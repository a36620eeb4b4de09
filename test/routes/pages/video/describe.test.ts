// "Describe a video" on the page /video: what a person sees while an analysis runs, of its result
// and of its end. The first ones are told to the page step by step, the last ones are real.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page, Request, Route } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import { broken, type Opened, WAIT_MS } from '../../../harness/page.ts';
import { card, reaches, VideoBench } from './bench.ts';

// slow: A browser waits for a video that its provider is polled for every five seconds.

const skip = noChromium;
let bench: VideoBench;
before(async () => {
  const started = await VideoBench.start();
  if (started === null) return;
  bench = started;
  const { page, close } = await bench.open();
  assert.ok(await page.locator('#jobs-empty').isVisible(), 'the account has nothing yet');
  const sources = await page.locator('#source-own option').allTextContents();
  assert.deepEqual(sources, ['A video on the web']);
  await close();
  await bench.create('To be described [[sim render_ms=100]]');
});
after(() => bench?.close());

type Members = Record<string, unknown>;

const id = 'va_0123456789abcdef01234567';
const base: Members = {
  id,
  object: 'video.analysis',
  request_id: 'page-1',
  model: 'svc-video-analysis',
  progress: 0,
  created_at: '2026-11-27T07:00:00.000Z',
  updated_at: '2026-11-27T07:00:00.000Z',
};
const source: Members = {
  kind: 'generated_video',
  duration_seconds: 4,
  width: 1280,
  height: 720,
  has_audio: true,
  sha256: '0'.repeat(64),
  frames: [0, 1.25, 3.5],
};
const result: Members = {
  summary: 'A box moves to the right.',
  answer: 'Once.',
  segments: [
    { start_seconds: 0, end_seconds: 2, description: 'The box sets out.' },
    { start_seconds: 2, end_seconds: 4, description: 'It <b>arrives</b>.' },
  ],
};
const usage: Members = {
  request_id: 'req_0123456789abcdef01234567',
  model: 'svc-video-analysis',
  input_tokens: 1_234,
  output_tokens: 56,
  charge_microcredits: 382_725,
  source: 'reported',
  simulated: true,
};

interface Told {
  /** Bodies of the requests for an analysis. */
  asked: { body: Members; onceKey: string | undefined }[];
}

/** Answers creations with the first state, and each look with the next one. */
async function tell(page: Page, states: (Members | number)[]): Promise<Told> {
  const told: Told = { asked: [] };
  const answer = (route: Route, state: Members | number) =>
    typeof state === 'number'
      ? route.fulfill({ status: state, json: { error: { code: 'overloaded', message: 'Later.' } } })
      : route.fulfill({
          status: 200,
          headers: { 'retry-after': '1' },
          json: { ok: true, analysis: { ...base, ...state } },
        });
  const note = (request: Request) => {
    const body = request.postDataJSON() as Members;
    told.asked.push({ body, onceKey: request.headers()['idempotency-key'] });
  };
  const [first = {}, ...others] = states;
  await page.route('**/v1/video/analyses', (route) => {
    note(route.request());
    return answer(route, first);
  });
  await page.route(`**/v1/video/analyses/${id}`, (route) => {
    const [next = first] = others.length > 1 ? others.splice(0, 1) : others;
    return answer(route, next);
  });
  return told;
}

async function openReady(): Promise<Opened> {
  const opened = await bench.open();
  await reaches(opened.page, 'To be described', 'succeeded');
  return opened;
}

const timeOf = (page: Page) =>
  page.evaluate<number>("document.querySelector('#player').currentTime");

async function seeks(page: Page, name: RegExp | string, seconds: number): Promise<void> {
  await page.getByRole('button', { name }).click();
  const deadline = performance.now() + WAIT_MS;
  while (Math.abs((await timeOf(page)) - seconds) > 0.05) {
    assert.ok(performance.now() < deadline, `the player is at ${await timeOf(page)}`);
    await page.waitForTimeout(20);
  }
}

test('an own video is described: frames and segments seek it, and the receipt is shown', {
  skip,
}, async () => {
  const { page, faults, close } = await openReady();
  const told = await tell(page, [
    { status: 'queued' },
    { status: 'running', progress: 40 },
    503,
    { status: 'completed', progress: 100, source, result, svc_usage: usage },
  ]);
  await card(page, 'To be described').getByRole('button', { name: 'Describe' }).click();
  await page.fill('#question', 'How often?');
  await page.locator('summary').click();
  await page.fill('#end', '4');
  await page.fill('#frames-max', '3');
  await page.getByRole('button', { name: 'Describe it' }).click();
  await page.getByText('Being looked at · 40 %').waitFor({ timeout: WAIT_MS });
  await page.getByText('Later.').waitFor({ timeout: WAIT_MS });
  await page.getByText('A box moves to the right.').waitFor({ timeout: WAIT_MS });
  const url = await page.getAttribute('#player', 'src');
  const { onceKey, body } = told.asked[0] ?? {};
  assert.match(onceKey ?? '', /^page-[0-9a-f]{32}$/);
  assert.deepEqual(body, {
    source_url: url,
    model: 'svc-video-analysis',
    prompt: 'How often?',
    end_seconds: 4,
    max_frames: 3,
  });
  await page.locator('#frames canvas[width="160"]').nth(2).waitFor({ timeout: WAIT_MS });
  assert.equal(await page.locator('#track .frame').count(), 3);
  await seeks(page, /1\.3/, 1.25);
  await seeks(page, /arrives/, 2);
  const current = page.locator('#segments [aria-current="true"]');
  await current.filter({ hasText: 'arrives' }).waitFor({ timeout: WAIT_MS });
  assert.match((await current.textContent()) ?? '', /It <b>arrives<\/b>\.$/, 'text is no markup');
  const receipt = (await page.locator('#receipt').textContent()) ?? '';
  assert.match(receipt, /Charged0\.3827 credits.*\(simulated\).*1,234.*56.*req_0123/);
  assert.deepEqual(await broken(page), []);
  assert.deepEqual(faults, []);
  // The laptop is closed, and opened again.
  await page.reload();
  await page.getByText('It <b>arrives</b>.').waitFor({ timeout: WAIT_MS });
  await seeks(page, /arrives/, 2);
  await close();
});

test('of a video on the web times are told, and nothing of it is fetched by the page', {
  skip,
}, async () => {
  const { page, faults, sent, close } = await openReady();
  const web = { ...source, kind: 'url', has_audio: false };
  await tell(page, [
    { status: 'queued' },
    { status: 'completed', progress: 100, source: web, result: { ...result, answer: null } },
  ]);
  await page.getByText('Describe a video', { exact: true }).click();
  await page.click('#describe-submit');
  assert.equal(await page.getAttribute('#source-url', 'aria-invalid'), 'true', 'it needs one');
  await page.fill('#source-url', 'https://video.example/count.mp4');
  await page.click('#describe-submit');
  await page.getByText('The box sets out.').waitFor({ timeout: WAIT_MS });
  assert.equal(await page.locator('#frames li').count(), 3);
  assert.equal(await page.locator('#result .film button').count(), 0, 'there is nothing to seek');
  assert.ok(await page.locator('#answer-title').isHidden());
  assert.ok(await page.locator('#receipt-box').isHidden());
  assert.ok(!sent.some((line) => line.includes('count.mp4')));
  assert.deepEqual(await broken(page), []);
  assert.deepEqual(faults, []);
  await close();
});

test('a refusal stands at its field, a failure says why and what was used', { skip }, async () => {
  const { page, faults, close } = await openReady();
  await page.route('**/v1/video/analyses', (route) =>
    route.fulfill({
      status: 400,
      json: {
        error: {
          message: 'It ends before it begins.',
          type: 'invalid_request_error',
          code: 'invalid_request',
          param: 'end_seconds',
        },
      },
    }),
  );
  await card(page, 'To be described').getByRole('button', { name: 'Describe' }).click();
  await page.locator('summary').click();
  await page.fill('#start', '3');
  await page.fill('#end', '2');
  await page.click('#describe-submit');
  await page.getByRole('alert').filter({ hasText: 'It ends before' }).waitFor({ timeout: WAIT_MS });
  assert.equal(await page.getAttribute('#end', 'aria-invalid'), 'true');
  await page.unroute('**/v1/video/analyses');
  const why = { error_code: 'generation_failed', error_message: 'No description came of it.' };
  await tell(page, [
    { status: 'queued' },
    { status: 'failed', progress: 40, ...why, svc_usage: usage },
  ]);
  await page.fill('#end', '4');
  await page.click('#describe-submit');
  await page.getByRole('status').filter({ hasText: 'No description came' }).waitFor();
  assert.ok(await page.locator('#result-bar').isHidden());
  assert.ok(await page.locator('#result-body').isHidden());
  assert.match((await page.locator('#receipt').textContent()) ?? '', /0\.3827 credits/);
  assert.deepEqual(faults, []);
  await close();
});

test('the digits of a video on the web are named at their seconds; a refusal is free', {
  skip,
}, async () => {
  const { page, faults, close } = await bench.open();
  await page.getByText('Describe a video', { exact: true }).click();
  const source = `${bench.gateway.dev.simulator_url}/sim/source/count.mp4`;
  await page.fill('#source-url', source);
  await page.click('#describe-submit');
  const third = page.locator('#segments .place').filter({ hasText: 'number 3' });
  await third.waitFor({ timeout: WAIT_MS });
  assert.match((await third.textContent()) ?? '', /^0:03/);
  assert.match((await page.textContent('#receipt')) ?? '', /Charged[\d.]+ credits.*simulated/);
  await page.fill('#source-url', 'http://169.254.169.254/count.mp4');
  await page.click('#describe-submit');
  const reason = page.getByRole('status').filter({ hasText: 'This URL may not be fetched.' });
  await reason.waitFor({ timeout: WAIT_MS });
  assert.ok(await page.locator('#receipt-box').isHidden(), 'the receipt was of the one before');
  assert.ok(await page.locator('#result-body').isHidden());
  assert.deepEqual(faults, []);
  await close();
});

test('an own video is described from the store, and its frames are drawn', { skip }, async () => {
  const { page, faults, close } = await openReady();
  await card(page, 'To be described').getByRole('button', { name: 'Describe' }).click();
  await page.click('#describe-submit');
  await page.locator('#frames canvas[width="160"]').nth(15).waitFor({ timeout: WAIT_MS });
  assert.ok((await page.locator('#segments button').count()) > 0);
  assert.deepEqual(faults, []);
  await close();
});
