// Clients that mean harm or cannot do better: every one gets a clear error or a closed connection,
// memory stays flat, and everybody else is served.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rssBytesOf } from '../../bench/proc.ts';
import type { Gateway } from '../harness/gateway.ts';
import { assertNothingHeld } from './books.ts';
import { chat } from './client.ts';
import { isGood } from './load.ts';
import { openRaw, type Raw, rawHead } from './raw.ts';
import { assertLedger, cleanUp, openGateway, until } from './reach.ts';
import { openChance } from './seed.ts';

// slow: It waits until slow clients are cut.

const MB = 1_048_576;
const CHAT = '/v1/chat/completions';

let gateway: Gateway;
let main = 0;

before(async () => {
  gateway = await openGateway();
  main = await gateway.mainPid();
});

after(cleanUp);

const statusOf = (raw: Raw): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(raw.text)?.[1] ?? 0);

const open = () => openRaw(gateway);
const head = (length: number | string, more = '') => rawHead(gateway, length, more);

/** Sends bytes on a connection of its own; resolves with the status, 0 when it was just closed. */
async function send(bytes: Buffer | string, timeoutMs = 5_000): Promise<number> {
  const raw = await open();
  raw.socket.write(bytes);
  const answered = () => raw.closed || /\r\n\r\n/.test(raw.text);
  await until('an answer or a close', timeoutMs, answered, 1);
  raw.socket.destroy();
  return statusOf(raw);
}

function post(body: Buffer): Promise<number> {
  return send(Buffer.concat([Buffer.from(head(body.length)), body]));
}

async function assertServes(): Promise<void> {
  const told = await chat(gateway, { text: 'still there?' });
  assert.ok(isGood(told), JSON.stringify(told));
  assert.equal(await gateway.mainPid(), main, 'the process is the same');
}

/**
 * Runs the attack once to warm up, then again: that must not grow the process. A leak grows it
 * every time; what the collector merely has not taken back yet is not there the third time.
 */
async function assertFlat(name: string, attack: () => Promise<void>, megabytesMax = 48) {
  await attack();
  let earlier = 0;
  let grown = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && grown >= megabytesMax; round += 1) {
    earlier = rssBytesOf([main]);
    await attack();
    await sleep(300);
    grown = (rssBytesOf([main]) - earlier) / MB;
  }
  console.log(`# ${name}: ${Math.round(earlier / MB)} MB, then ${grown.toFixed(1)} MB more`);
  assert.ok(grown < megabytesMax, `${name} grew the process by ${grown} MB`);
  await assertServes();
}

test('bad JSON at every byte, invalid UTF-8, keys that pollute prototypes: 400', async () => {
  const chance = openChance('hostile bodies');
  const good = Buffer.from('{"model":"svc-sim-chat","messages":[{"role":"user","content":"hi"}]}');
  assert.equal(await post(good), 200);
  await assertFlat('bad bodies', async () => {
    for (let at = 0; at < good.length; at += 1) {
      const cut = good.subarray(0, at);
      const broken = Buffer.from(good);
      broken[at] = chance.pick([0, 0x7f, 0x5c, 0xff]);
      const statuses = await Promise.all([post(cut), post(broken)]);
      assert.equal(statuses[0], 400, `cut at ${at}`);
      // A broken byte inside a text is another text; a broken model's name is not found.
      assert.ok([200, 400, 404].includes(statuses[1] ?? 0), `${statuses[1]}, broken at ${at}`);
    }
  });
  for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x28, 0x8c, 0xbc]]) {
    const text = good.toString('latin1').replace('hi', Buffer.from(bytes).toString('latin1'));
    assert.equal(await post(Buffer.from(text, 'latin1')), 400, `UTF-8 ${bytes}`);
  }
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const member = `"${name}":{"prototype":{"admin":true},"admin":true},`;
    const polluted = good.toString().replace('{', `{${member}`);
    const status = await post(Buffer.from(polluted));
    assert.ok([200, 400].includes(status), `${name}: ${status}`);
    const nested = good.toString().replace('{"role"', `{${member}"role"`);
    const nestedStatus = await post(Buffer.from(nested));
    assert.ok([200, 400].includes(nestedStatus), `nested ${name}: ${nestedStatus}`);
  }
  assert.equal(await post(Buffer.from(`${'['.repeat(100_000)}`)), 400);
  await assertServes();
});

test('a 10 MB header, a 9 MB body, announced or in chunks: refused, memory flat', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  await assertFlat('huge requests', async () => {
    const header = await open();
    header.socket.write(`GET /api/health HTTP/1.1\r\nhost: gateway\r\nx-long: `);
    for (let sent = 0; sent < 10 * MB && !header.closed; sent += chunk.length) {
      if (!header.socket.write(chunk)) await sleep(1);
    }
    await until('the header is refused', 5_000, () => header.closed || statusOf(header) > 0);
    assert.ok([0, 400, 431].includes(statusOf(header)), header.text);
    header.socket.destroy();

    const body = await open();
    body.socket.write(head(9 * MB));
    for (let sent = 0; sent < 9 * MB && !body.closed; sent += chunk.length) {
      if (!body.socket.write(chunk)) await sleep(1);
    }
    await until('the body is refused', 5_000, () => body.closed || statusOf(body) > 0);
    assert.equal(statusOf(body), 413, body.text);
    body.socket.destroy();

    const chunked = await open();
    chunked.socket.write(head(0).replace('content-length: 0', 'transfer-encoding: chunked'));
    for (let sent = 0; sent < 9 * MB && !chunked.closed; sent += chunk.length) {
      chunked.socket.write(`${chunk.length.toString(16)}\r\n`);
      chunked.socket.write(chunk);
      if (!chunked.socket.write('\r\n')) await sleep(1);
      if (statusOf(chunked) > 0) break;
    }
    await until('the chunks are refused', 5_000, () => chunked.closed || statusOf(chunked) > 0);
    assert.ok([0, 411, 413].includes(statusOf(chunked)), chunked.text);
    chunked.socket.destroy();
  });
});

test('5,000 connections at once, silent or half-spoken: others are served', async () => {
  await assertFlat('5,000 connections', async () => {
    const raws: Raw[] = [];
    for (let batch = 0; batch < 10; batch += 1) {
      raws.push(...(await Promise.all(Array.from({ length: 500 }, open))));
    }
    raws.forEach((raw, index) => {
      if (index % 3 === 1) raw.socket.write(`POST ${CHAT} HTTP/1.1\r\nhost:`);
      if (index % 3 === 2) raw.socket.write(`${head(100)}{"model"`);
    });
    await assertServes();
    for (const raw of raws) raw.socket.destroy();
    await until(
      'the sockets are gone',
      5_000,
      async () => {
        const health = await fetch(`${gateway.url}/api/health`);
        const { shards } = (await health.json()) as { shards: { sockets: number }[] };
        return shards.reduce((sum, { sockets }) => sum + sockets, 0) < 50;
      },
      250,
    );
  });
});

test('slow-loris, in the headers and in the body: cut after a while', async () => {
  const headers = await open();
  const body = await open();
  headers.socket.write('GET /api/health HTTP/1.1\r\nhost: gateway\r\n');
  body.socket.write(head(1_000));
  let dripping = true;
  const drip = async (): Promise<void> => {
    while (dripping) {
      if (!headers.closed) headers.socket.write('x-a: b\r\n');
      if (!body.closed) body.socket.write(' ');
      await sleep(500);
    }
  };
  const dripped = drip();
  const begun = performance.now();
  const cut = { headers: 0, body: 0 };
  try {
    await until('both are cut', 40_000, () => {
      const now = Math.round(performance.now() - begun);
      if (headers.closed && cut.headers === 0) cut.headers = now;
      if ((body.closed || statusOf(body) === 408) && cut.body === 0) cut.body = now;
      return cut.headers > 0 && cut.body > 0;
    });
  } finally {
    dripping = false;
    await dripped;
  }
  console.log(`# cut after ${cut.headers} ms (headers), ${cut.body} ms (body)`);
  await assertServes();
});

async function isSettled(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${gateway.dev.api_key}` };
  const reply = await fetch(`${gateway.url}/v1/generations/${key}`, { headers });
  const { status } = (await reply.json()) as { status?: string };
  return status === 'completed';
}

test('a client that never reads its long answer is dropped; the answer is settled', async () => {
  // More than the kernel's buffers take, which are 4 MB of ours and less of the client's; of
  // dashes, since 64 of them are one token: it has to fit into the model's window.
  const word = '-'.repeat(2_000);
  const text = `slow [[sim text=${Array.from({ length: 3_500 }, () => word).join('_')}]]`;
  const payload = JSON.stringify({
    model: 'svc-sim-chat',
    stream: true,
    messages: [{ role: 'user', content: text }],
  });
  let readers = 0;
  const readNothing = async () => {
    readers += 1;
    const raw = await open();
    raw.socket.pause();
    const key = `slow-${readers}`;
    raw.socket.write(head(payload.length, `idempotency-key: ${key}\r\n`) + payload);
    await until('the answer is settled', 20_000, () => isSettled(key), 50);
    await assertNothingHeld(gateway, 20_000);
    raw.socket.resume();
    await until('the connection is closed', 5_000, () => raw.closed);
    assert.ok(!raw.text.includes('[DONE]'), 'it was dropped');
  };
  // Answers of 7 MB: the heap takes a few of them to reach its size.
  for (let time = 0; time < 3; time += 1) await readNothing();
  await assertFlat('slow readers', readNothing);
  const replay = await chat(gateway, { text, key: 'slow-1', stream: true });
  assert.ok(isGood(replay) && replay.usage?.replayed === true, 'the answer can be fetched');
  await assertLedger(gateway);
});
