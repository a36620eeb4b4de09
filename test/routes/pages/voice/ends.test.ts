// How conversations of the page /voice end and go on, in a real browser whose connections answer
// what the test says: an end is the end, and what is asked for once is opened once.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { noChromium, openChromium, writeTone } from '../../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../../harness/gateway.ts';

// slow: A browser waits for the deadlines of the page in real time.

const WAIT_MS = 45_000;
/** Longer than the page waits for the answer to `end`, and until it tries again. */
const PATIENCE_MS = 5_000;
/** Longer than a restart takes, on a slow machine. */
const AWAY_MS = 15_000;
const skip = noChromium;

let gateway: Gateway;
let browser: Browser;
let folder: string;

before(async () => {
  if (noChromium !== false) return;
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chromium-'));
  const wav = join(folder, 'tone.wav');
  await writeTone(wav, { hz: 440, toneSeconds: 0.8, silenceSeconds: 3 });
  [gateway, browser] = await Promise.all([startGateway({ shards: 1 }), openChromium(wav)]);
});
after(async () => {
  await browser?.close();
  await gateway?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

type Message = Record<string, unknown> & { type: string };

/** What the test answers to a message of the page, on the connection of this number. */
type Answer = (message: Message, socket: WebSocketRoute, number: number) => void;

const ready = {
  type: 'session.ready',
  session_id: 'vs_1',
  voice_id: 'a',
  max_duration_seconds: 30,
};
const fatal = (code: string, retryable: boolean) => ({
  type: 'error',
  code,
  message: `says ${code}`,
  retryable,
  fatal: true,
});
const ended = { type: 'session.ended', reason: 'error', renewable: false, reconnect: false };

function tell(socket: WebSocketRoute, ...events: object[]): void {
  for (const event of events) socket.send(JSON.stringify(event));
}

function welcome(socket: WebSocketRoute): void {
  const listening = { type: 'status', state: 'listening' };
  tell(socket, { ...ready, continuation_token: 'token' }, listening);
}

interface Opened {
  page: Page;
  /** Those that it opened. */
  sockets: WebSocketRoute[];
  /** Its messages in order; null: a frame of sound. */
  sent: (string | null)[];
}

async function open(answer: Answer): Promise<Opened> {
  const context = await browser.newContext({ permissions: ['microphone'] });
  const page = await context.newPage();
  const sockets: WebSocketRoute[] = [];
  const sent: (string | null)[] = [];
  await page.routeWebSocket(/voice\/sessions/, (socket) => {
    const number = sockets.push(socket);
    socket.onMessage((data) => {
      const message = typeof data === 'string' ? (JSON.parse(data) as Message) : null;
      sent.push(message?.type ?? null);
      if (message !== null) answer(message, socket, number);
    });
  });
  await page.goto(`${gateway.url}/voice`);
  await page.locator('#toggle:enabled').waitFor({ timeout: WAIT_MS });
  return { page, sockets, sent };
}

const reach = (page: Page, phase: string) =>
  page.locator(`body[data-phase="${phase}"]`).waitFor({ timeout: WAIT_MS });

async function holds(page: Page, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await isSo()) && performance.now() < deadline) await page.waitForTimeout(50);
  assert.ok(await isSo(), 'what was waited for has come');
}

/** Until something is true in the page, whose policy lets it evaluate nothing by itself. */
const until = (page: Page, expression: string) =>
  holds(page, async () => (await page.evaluate(expression)) === true);

// They mostly wait, each with a page of its own. All six at once starve each other beside a load.
describe('a conversation', { concurrency: 3 }, () => {
  for (const [name, close] of [
    ['never answered', () => undefined],
    ['cut', (socket: WebSocketRoute) => void socket.close({ code: 1012 })],
  ] as const) {
    test(`an end that is ${name} ends the conversation all the same`, { skip }, async () => {
      const { page, sockets, sent } = await open(({ type }, socket) => {
        if (type === 'start') welcome(socket);
        else if (type === 'end') close(socket);
      });
      await page.click('#toggle');
      await reach(page, 'live');
      await holds(page, () => sent.includes(null));
      await page.click('#toggle');
      await reach(page, 'idle');
      await page.waitForTimeout(PATIENCE_MS);
      assert.equal(sockets.length, 1, 'nobody asked for another connection');
      assert.equal(sent.at(-1), 'end', 'nothing is recorded after it');
      assert.equal(await page.textContent('#toggle'), 'Start talking');
      await page.context().close();
    });
  }

  test('ended and begun again while the browser asks for the microphone, it is one conversation', {
    skip,
  }, async () => {
    const { page, sockets } = await open(({ type }, socket) => {
      if (type === 'start') welcome(socket);
    });
    await page.evaluate(`
      const { mediaDevices } = navigator;
      const ask = mediaDevices.getUserMedia.bind(mediaDevices);
      window.asked = [];
      window.streams = [];
      mediaDevices.getUserMedia = async (wanted) => {
        await new Promise((consent) => window.asked.push(consent));
        const stream = await ask(wanted);
        window.streams.push(stream);
        return stream;
      };
    `);
    for (const [click, phase] of ['opening', 'idle', 'opening'].entries()) {
      await page.click('#toggle');
      await reach(page, phase);
      const asked = click === 0 ? 1 : 2;
      if (phase === 'opening') await until(page, `window.asked.length === ${asked}`);
    }
    await page.evaluate('window.asked.forEach((consent) => consent())');
    await reach(page, 'live');
    await until(page, 'window.streams.length === 2');
    await page.waitForTimeout(PATIENCE_MS);
    assert.equal(sockets.length, 1, 'one connection');
    const live = "window.streams.filter((s) => s.getTracks()[0].readyState === 'live').length";
    assert.equal(await page.evaluate(live), 1, 'one microphone');
    await page.context().close();
  });

  test('a fatal error says why, though the end that follows it does not', { skip }, async () => {
    const { page } = await open(({ type }, socket) => {
      if (type !== 'start') return;
      welcome(socket);
      tell(socket, fatal('slow_consumer', true), ended);
      void socket.close({ code: 1011 });
    });
    await page.click('#toggle');
    const alert = page.getByRole('alert');
    await alert.waitFor({ timeout: WAIT_MS });
    assert.equal(await alert.textContent(), 'The connection was too slow for the voice.');
    await page.context().close();
  });

  test('a token that is not taken, and a provider that is away, do not end it for good', {
    skip,
  }, async () => {
    const tokens: unknown[] = [];
    const { page, sockets } = await open((message, socket, number) => {
      if (message.type !== 'start') return;
      tokens.push(message.continuation_token ?? null);
      const refused = [null, null, 'invalid_continuation', 'upstream_error'][number];
      if (refused !== null && refused !== undefined) {
        tell(socket, fatal(refused, refused === 'upstream_error'));
        void socket.close({ code: 1008 });
        return;
      }
      welcome(socket);
      if (number > 1) return;
      tell(socket, { type: 'tool', id: 'call', name: 'web_search', state: 'started' });
      void socket.close({ code: 1012 });
    });
    await page.click('#toggle');
    await holds(page, () => sockets.length === 4);
    await reach(page, 'live');
    assert.deepEqual(tokens, [null, 'token', null, null]);
    assert.equal(await page.textContent('#hint'), '', 'no tool of the lost connection is at work');
    await page.context().close();
  });

  test('a server that is away for long is waited for, and what it refuses then is said at once', {
    skip,
  }, async () => {
    const { page, sockets } = await open(({ type }, socket) => {
      if (type === 'start') welcome(socket);
    });
    await page.click('#toggle');
    await reach(page, 'live');
    const lostAtMs = performance.now();
    let asked = 0;
    await page.route('**/v1/voice/tickets', (route) => {
      asked += 1;
      if (performance.now() - lostAtMs < AWAY_MS) return route.abort();
      return route.fulfill(asked % 2 === 0 ? { status: 502, body: 'away' } : { status: 503 });
    });
    await sockets[0]?.close({ code: 1012 });
    await page.waitForTimeout(AWAY_MS + PATIENCE_MS);
    assert.equal(await page.getAttribute('body', 'data-phase'), 'renewing', `asked ${asked} times`);
    assert.ok(asked > 5 && asked < 12, `asked ${asked} times, less and less often`);
    await page.unroute('**/v1/voice/tickets');
    await reach(page, 'live');
    assert.equal(sockets.length, 2);
    await page.route('**/v1/voice/tickets', (route) => route.fulfill({ status: 401, body: '{}' }));
    await page.route('**/voice/key', (route) => route.fulfill({ status: 404, body: '{}' }));
    await sockets[1]?.close({ code: 1012 });
    const alert = page.getByRole('alert');
    await alert.waitFor({ timeout: WAIT_MS });
    assert.match((await alert.textContent()) ?? '', /^Sign in first/);
    await page.context().close();
  });

  test('a server that is away at the beginning is no fault of the browser', { skip }, async () => {
    const { page } = await open(() => undefined);
    await page.context().setOffline(true);
    await page.click('#toggle');
    await reach(page, 'failed');
    assert.match((await page.getByRole('alert').textContent()) ?? '', /^The server cannot be/);
    await page.context().setOffline(false);
    await page.click('#toggle');
    await reach(page, 'opening');
    await page.context().close();
  });
});
