// The bounds of a body to the byte, without a socket: its own, that of all bodies together, and the
// half of it that one tenant may take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BodyRead, createBodyReader } from '../../../runtime/http/body.ts';
import type { Ticker } from '../../../runtime/http/ticker.ts';

type Receive = (chunk: ArrayBuffer, isLast: boolean) => void;

const limits = { bodyDeadlineMs: 1_000, bodyBytesTotalMax: 200 };
const clock: Ticker = { now: 0, tickMs: 1, ticksOf: (ms) => ms, stop: () => undefined };

/** A reader of at most 100 bytes a body; `begin` tells what became of one with so many bytes. */
function reading() {
  const reader = createBodyReader(limits, () => clock);
  const begin = (tenant: string, bytes: number, isLast = false) => {
    const fate = { now: 'waits' };
    const sink = {
      complete: (body: BodyRead) => {
        fate.now = `${body.bytes.length} bytes`;
      },
      refuse: ({ code }: { code: string }) => {
        fate.now = code;
      },
      expire: () => {
        fate.now = 'expired';
      },
    };
    const response = {
      onData: (receive: Receive) => receive(new ArrayBuffer(bytes), isLast),
    };
    reader.read(response as never, bytes, 100, tenant, sink);
    return fate;
  };
  return { begin, reader };
}

test('a body may be as large as its bound, and no byte larger', () => {
  const { begin } = reading();
  assert.equal(begin('a', 100, true).now, '100 bytes');
  assert.equal(begin('a', 101, true).now, 'request_too_large');
});

test('one tenant has half of the room, whole, and all together have all of it', () => {
  const { begin, reader } = reading();
  assert.equal(begin('a', 100).now, 'waits');
  assert.equal(begin('a', 1).now, 'overloaded');
  assert.equal(begin('b', 100).now, 'waits');
  assert.equal(begin('c', 1).now, 'overloaded');
  assert.equal(reader.waiting, 2);
});

test('bodies that are too slow give their room back, all of it', () => {
  const { begin, reader } = reading();
  const slow = [begin('a', 100), begin('b', 100)];
  reader.tick(999);
  assert.deepEqual(
    slow.map(({ now }) => now),
    ['waits', 'waits'],
  );
  reader.tick(1_000);
  assert.deepEqual(
    slow.map(({ now }) => now),
    ['expired', 'expired'],
  );
  assert.equal(reader.waiting, 0);
  assert.equal(begin('a', 100).now, 'waits');
  assert.equal(begin('b', 100).now, 'waits');
});
