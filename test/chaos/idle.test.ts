// 5,000 streams that say nothing: kept alive, at a bounded price, ended well.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { rssBytesOf } from '../../bench/proc.ts';
import type { Gateway } from '../harness/gateway.ts';
import { assertNothingHeld } from './books.ts';
import { assertLedger, cleanUp, openGateway, tail, until } from './reach.ts';

// slow: It opens 5,000 streams and waits for their keep-alives.

after(cleanUp);

const STREAMS = 5_000;
const AT_ONCE = 200;
/** A keep-alive is due after 15 s of silence; the simulator says nothing for longer. */
const GAP_MS = 50_000;
const MB = 1_048_576;

interface Idle {
  begun: boolean;
  keepAlives: number;
  done: boolean;
  closed: boolean;
  /** The end of what came last, for what is split over two packets. */
  rest: string;
}

function openStream(gateway: Gateway): Idle {
  const idle: Idle = { begun: false, keepAlives: 0, done: false, closed: false, rest: '' };
  const payload = JSON.stringify({
    model: 'svc-sim-chat',
    stream: true,
    messages: [{ role: 'user', content: `[[sim tokens=9 gap_ms=${GAP_MS}]]` }],
  });
  const socket = connect(gateway.port, '127.0.0.1', () => {
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n` +
        `authorization: Bearer ${gateway.dev.api_key}\r\ncontent-length: ${payload.length}\r\n` +
        `\r\n${payload}`,
    );
  });
  socket.on('data', (chunk: Buffer) => {
    const text = idle.rest + chunk.toString('latin1');
    idle.rest = text.slice(-16);
    if (text.includes('data: {')) idle.begun = true;
    if (/\n:/.test(text)) idle.keepAlives += 1;
    if (text.includes('[DONE]')) {
      idle.done = true;
      socket.destroy();
    }
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    idle.closed = true;
  });
  return idle;
}

test('5,000 idle streams: memory flat, keep-alives arrive, a stop ends them all', async () => {
  const gateway = await openGateway({ env: { TOLLGATE_DRAIN_SECONDS: '6' } });
  const main = await gateway.mainPid();
  const empty = rssBytesOf([main]);
  const streams: Idle[] = [];
  while (streams.length < STREAMS) {
    streams.push(...Array.from({ length: AT_ONCE }, () => openStream(gateway)));
    const opened = streams.length - AT_ONCE / 2;
    const begun = () => streams.filter((stream) => stream.begun).length >= opened;
    await until(`${opened} streams have begun`, 10_000, begun);
  }
  await until('all have begun', 10_000, () => streams.every((stream) => stream.begun));
  const full = rssBytesOf([main]);
  const first = streams[0];
  await until('the first keep-alive', 16_000, () => (first?.keepAlives ?? 0) > 0);
  const later = rssBytesOf([main]);
  console.log(
    `# ${((full - empty) / STREAMS / 1_024).toFixed(1)} KB a stream; ` +
      `${((later - full) / MB).toFixed(1)} MB more while idle`,
  );
  assert.ok(later - full < 32 * MB, 'memory is flat');
  const silent = streams.filter((stream) => stream.keepAlives === 0).length;
  await until('every stream was kept alive', 15_000, () =>
    streams.every((stream) => stream.keepAlives > 0),
  );
  const begun = performance.now();
  assert.equal(await gateway.stop(), 0, tail(gateway));
  const stopMs = Math.round(performance.now() - begun);
  // The process is gone, and what it wrote last may still be unread here.
  const unread = streams.filter((stream) => !stream.closed).length;
  await until('every stream is closed', 15_000, () => streams.every((stream) => stream.closed));
  const cut = streams.filter((stream) => !stream.done);
  console.log(
    `# ${silent} keep-alives came late; stopped after ${stopMs} ms, ${unread} streams unread ` +
      `by then, ${cut.length} cut`,
  );
  assert.equal(cut.length, 0, `every stream was ended by an event, not by ${cut[0]?.rest}`);
  await assertNothingHeld(gateway, 100);
  await assertLedger(gateway);
});
