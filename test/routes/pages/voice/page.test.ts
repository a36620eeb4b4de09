// The page /voice in a real browser against the real service: a microphone that plays a tone, and
// what the page makes of the simulator's answer, up to the loudspeaker.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { noChromium, openChromium, writeTone } from '../../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../../harness/gateway.ts';
import { startStopwatch } from '../../../harness/stopwatch.ts';

// slow: A browser speaks and listens in real time.

const HZ = 440;
const WAIT_MS = 45_000;
const SILENCED_MS = 100;

let gateway: Gateway;
let browser: Browser;
let folder: string;

before(async () => {
  if (noChromium !== false) return;
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chromium-'));
  const wav = join(folder, 'tone.wav');
  await writeTone(wav, { hz: HZ, toneSeconds: 0.8, silenceSeconds: 3 });
  [gateway, browser] = await Promise.all([startGateway({ shards: 1 }), openChromium(wav)]);
});
after(async () => {
  await browser?.close();
  await gateway?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Opened {
  page: Page;
  /** What went wrong in it: errors, and requests to other hosts. */
  faults: string[];
  close(): Promise<void>;
}

async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await browser.newContext({ permissions: ['microphone'], ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(gateway.url)) {
      faults.push(`asked ${request.url()}`);
    }
  });
  await page.goto(`${gateway.url}/voice`);
  await page.locator('#toggle:enabled').waitFor({ timeout: WAIT_MS });
  return { page, faults, close: () => context.close() };
}

const reach = (page: Page, state: string) =>
  page.locator(`body[data-phase="live"][data-state="${state}"]`).waitFor({ timeout: WAIT_MS });

/** What the page shows to tests. The types of browsers are not those of this program. */
declare const conversation: {
  voiceLevel: number;
  timings: { answers: { latencyMs: number }[]; underruns: number };
  speaker: { analyser: Analyser } | null;
  setMuted(isMuted: boolean): void;
};
interface Analyser {
  fftSize: number;
  frequencyBinCount: number;
  context: { sampleRate: number };
  getFloatFrequencyData(levels: Float32Array): void;
  getFloatTimeDomainData(samples: Float32Array): void;
}
declare function getComputedStyle(node: unknown): { fontSize: string; borderTopWidth: string };
declare const document: { querySelector(selector: string): { click(): void } | null };

/** Hertz of the loudest frequency that leaves the loudspeaker. */
const loudestHz = (page: Page) =>
  page.evaluate(() => {
    const analyser = conversation.speaker?.analyser;
    if (analyser === undefined) return 0;
    const levels = new Float32Array(analyser.frequencyBinCount);
    analyser.getFloatFrequencyData(levels);
    return (levels.indexOf(Math.max(...levels)) * analyser.context.sampleRate) / analyser.fftSize;
  });

/** Milliseconds from a click on Interrupt until the last 10 ms of the output are silent. */
const interrupt = (page: Page) =>
  page.evaluate(async () => {
    const analyser = conversation.speaker?.analyser;
    const button = document.querySelector('#interrupt');
    if (analyser === undefined || button === null) return { loudBefore: 0, silentMs: 0 };
    const samples = new Float32Array(analyser.fftSize);
    const loudness = () => {
      analyser.getFloatTimeDomainData(samples);
      return Math.max(...samples.slice(-240).map(Math.abs));
    };
    const loudBefore = loudness();
    const begun = performance.now();
    button.click();
    while (loudness() > 0.001 && performance.now() - begun < 2_000) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return { loudBefore, silentMs: performance.now() - begun };
  });

const isHeard = (page: Page) =>
  page.waitForFunction(() => conversation.voiceLevel > 0.05, null, { timeout: WAIT_MS });

/**
 * Until this is what is heard: a gap in what comes sounds like something else for a moment, and
 * between two answers, of which the microphone's file interrupts one, there is nothing to hear.
 */
async function plays(page: Page, wantedHz: number): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  let hz = 0;
  while (Math.abs(hz - wantedHz) >= 20 && performance.now() < deadline) {
    await page.waitForTimeout(10);
    hz = await loudestHz(page);
  }
  assert.ok(Math.abs(hz - wantedHz) < 20, `the loudspeaker plays ${hz} Hz`);
}

/** The better of two answers, since the machine may hold up either. */
async function interruptTwice(page: Page): Promise<number> {
  const first = await interrupt(page);
  await reach(page, 'listening');
  await reach(page, 'speaking');
  await isHeard(page);
  const second = await interrupt(page);
  const loudBefore = Math.max(first.loudBefore, second.loudBefore);
  assert.ok(loudBefore > 0.1, `there was something to interrupt (${loudBefore})`);
  return Math.min(first.silentMs, second.silentMs);
}

test('a tone is answered an octave lower, in sound and in writing; a barge-in silences it', {
  skip: noChromium,
}, async () => {
  const { page, faults, close } = await open();
  const watch = startStopwatch();
  await page.click('#toggle');
  await reach(page, 'speaking');
  await isHeard(page);
  await plays(page, HZ / 2);
  const silentMs = await interruptTwice(page);
  assert.ok(silentMs < SILENCED_MS * watch.busyFactor(), `silent after ${silentMs.toFixed(1)} ms`);
  await reach(page, 'listening');
  await page.waitForTimeout(200);
  assert.ok((await page.evaluate(() => conversation.voiceLevel)) < 0.001, 'and it stays silent');
  await page.locator('#transcript li.user:not(.open)').first().waitFor({ timeout: WAIT_MS });
  const [user = '', voice = ''] = await page.locator('#transcript li').allTextContents();
  assert.match(user, /^You\s*heard \d+$/);
  assert.ok(Math.abs(Number(/\d+/.exec(user)?.[0]) - HZ) < 30, user);
  assert.match(voice, /^Voice\s*heard/);
  // The next turn is heard as well: nothing of the old answer is left in its way.
  await reach(page, 'speaking');
  await isHeard(page);
  const { answers, underruns } = await page.evaluate(() => conversation.timings);
  const latencyMs = Math.min(...answers.map((answer) => answer.latencyMs));
  assert.ok(answers.length >= 2 && latencyMs < 3_000 * watch.busyFactor(), `${latencyMs} ms`);
  // A machine that stands still for longer than what is sent ahead makes any playback run dry.
  assert.ok(underruns < watch.busyFactor(), `playback ran dry ${underruns} times`);
  await page.click('#toggle');
  await page.locator('body[data-phase="idle"]').waitFor({ timeout: WAIT_MS });
  assert.equal(await page.textContent('#hint'), 'The conversation has ended.');
  assert.deepEqual(faults, []);
  await close();
});

test('the orb stays within its canvas, however loud it is', { skip: noChromium }, async () => {
  const { page, faults, close } = await open();
  const isCut = await page.evaluate(`(async () => {
    const { Orb } = await import('/voice/orb.js');
    const canvas = document.createElement('canvas');
    canvas.style.cssText = 'position: fixed; width: 200px; height: 200px';
    document.body.append(canvas);
    const orb = new Orb(canvas);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const width = Math.round(200 * devicePixelRatio);
    const last = width - 1;
    for (let ms = 0; ms < 20_000; ms += 20) {
      orb.draw(ms, { state: 'speaking', userLevel: 1, voiceLevel: 1 });
      const edges = [[0, 0, width, 1], [0, last, width, 1], [0, 0, 1, width], [last, 0, 1, width]];
      const isInked = (edge) => context.getImageData(...edge).data.some((byte) => byte > 0);
      if (edges.some(isInked)) return true;
    }
    return false;
  })()`);
  assert.equal(isCut, false, 'nothing of it reaches an edge');
  assert.deepEqual(faults, []);
  await close();
});

test('a restart of the server is survived: the conversation goes on where it was', {
  skip: noChromium,
}, async () => {
  const { page, close } = await open();
  await page.click('#toggle');
  await reach(page, 'listening');
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.evaluate(() => conversation.setMuted(true));
  // Watched from before: it may be over when the new process says that it is ready.
  const renewing = page.locator('body[data-phase="renewing"]').waitFor({ timeout: WAIT_MS });
  await Promise.all([renewing, gateway.killMain('SIGKILL')]);
  await reach(page, 'listening');
  assert.equal(sockets.length, 1, 'on one connection more');
  await close();
});

test('on a phone, by keyboard and without a microphone the page says what it needs', {
  skip: noChromium,
}, async () => {
  const { page, faults, close } = await open({
    viewport: { width: 360, height: 720 },
    colorScheme: 'dark',
    reducedMotion: 'reduce',
  });
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.equal(overflow, 0, 'nothing is wider than the screen');
  await page.evaluate(
    'navigator.mediaDevices.getUserMedia = () => ' +
      "Promise.reject(new DOMException('no', 'NotAllowedError'))",
  );
  await page.locator('#toggle').focus();
  await page.keyboard.press('Enter');
  const alert = page.getByRole('alert');
  await alert.waitFor({ timeout: WAIT_MS });
  assert.match((await alert.textContent()) ?? '', /microphone is blocked/);
  assert.equal(await page.getByRole('status').textContent(), 'That did not work');
  assert.ok(await page.getByRole('button', { name: 'Try again' }).isEnabled());
  assert.ok((await page.getByRole('radio').count()) > 1, 'there are voices to choose from');
  const unnamed = page.locator('canvas:not([aria-label]):not([aria-hidden]), button:empty');
  assert.equal(await unnamed.count(), 0, 'everything has a name for screen readers');
  assert.deepEqual(faults, []);
  await close();
});

test('without anything to play on the page says so, and does not wait for ever', {
  skip: noChromium,
}, async () => {
  const { page, close } = await open();
  try {
    // As Firefox does on a machine without a sound device.
    await page.evaluate('AudioContext.prototype.resume = () => new Promise(() => undefined)');
    await page.click('#toggle');
    const alert = page.getByRole('alert').filter({ hasText: 'loudspeaker' });
    await alert.waitFor({ timeout: WAIT_MS });
    assert.ok(await page.getByRole('button', { name: 'Try again' }).isEnabled());
  } finally {
    await close();
  }
});

test('who hears the page, enlarges its text or has colours of his own misses nothing', {
  skip: noChromium,
}, async () => {
  const { page, close } = await open({ forcedColors: 'active' });
  try {
    const styleOf = (selector: string) =>
      page.locator(selector).evaluate((node) => {
        const { fontSize, borderTopWidth } = getComputedStyle(node);
        return { fontSize, borderTopWidth };
      });
    assert.equal((await styleOf('#toggle')).borderTopWidth, '1px', 'a button has an edge');
    await page.evaluate("document.documentElement.style.fontSize = '24px'");
    assert.equal((await styleOf('#toggle')).fontSize, '24px', 'all text follows the browser');
    await page.setViewportSize({ width: 640, height: 900 });
    await page.evaluate("document.documentElement.style.fontSize = '32px'");
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.equal(width, 640, 'nothing is beyond the edge');
    await page.click('#toggle');
    await reach(page, 'listening');
    await page.click('#toggle');
    const why = page.getByRole('status').filter({ hasText: 'The conversation has ended.' });
    await why.waitFor({ timeout: WAIT_MS });
  } finally {
    await close();
  }
});
