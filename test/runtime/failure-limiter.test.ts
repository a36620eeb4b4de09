// How often an address may fail: exact for one that is alone, bounded in memory, shared by threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailureBuffers, FailureLimiter } from '../../runtime/failure-limiter.ts';

const epochMs = 1_700_000_000_000;

test('a minute allows its limit at once, then one more each interval, over all threads', () => {
  const buffers = createFailureBuffers(epochMs);
  const limiters = [new FailureLimiter(buffers, 60), new FailureLimiter(buffers, 60)];
  for (let count = 0; count < 60; count += 1) {
    assert.equal(limiters[count % 2]?.take('198.51.100.9', epochMs), null, `failure ${count}`);
  }
  for (const limiter of limiters) {
    assert.deepEqual(limiter.take('198.51.100.9', epochMs), {
      state: { limit: 60, remaining: 0, resetSeconds: 60 },
      retryAfterSeconds: 1,
    });
    assert.equal(limiter.take('198.51.100.10', epochMs), null, 'nobody else');
  }
  assert.equal(limiters[0]?.take('198.51.100.9', epochMs + 1_000), null);
  assert.notEqual(limiters[1]?.take('198.51.100.9', epochMs + 1_000), null);
});

test('a flood of addresses is forgotten within a minute, and takes no memory', () => {
  const buffers = createFailureBuffers(epochMs);
  const limiter = new FailureLimiter(buffers, 60);
  for (let index = 0; index < 20_000; index += 1) {
    limiter.take(`2001:db8:${index.toString(16)}:0::/64`, epochMs);
  }
  assert.equal(buffers.shared.byteLength, 256 * 1_024);
  let refused = 0;
  for (let index = 0; index < 1_000; index += 1) {
    if (limiter.take(`10.0.${index >> 8}.${index & 255}`, epochMs) !== null) refused += 1;
  }
  assert.equal(refused, 0, 'each address of the flood failed once');
  for (let count = 0; count < 60; count += 1) {
    assert.equal(limiter.take('192.0.2.1', epochMs + 61_000), null);
  }
  assert.notEqual(limiter.take('192.0.2.1', epochMs + 61_000), null);
});

test('a clock that is set back refuses nobody for as long as it was ahead', () => {
  const limiter = new FailureLimiter(createFailureBuffers(epochMs), 60);
  while (limiter.take('192.0.2.1', epochMs + 3_600_000) === null);
  for (let count = 0; count < 60; count += 1) {
    assert.equal(limiter.take('192.0.2.1', epochMs), null, `failure ${count}`);
  }
  assert.notEqual(limiter.take('192.0.2.1', epochMs), null, 'the limit holds');
});
