// The wire keeps values exact, however many shapes a link has seen, and recovers from a bad batch.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { MovedBytes } from '../../../runtime/shard/moved.ts';
import {
  type Batch,
  type Frame,
  FrameDecoder,
  FrameEncoder,
  frameType,
  transferOf,
} from '../../../runtime/shard/wire.ts';
import { fc } from '../../harness/properties.ts';

function passer() {
  const encoder = new FrameEncoder();
  const decoder = new FrameDecoder();
  const pass = (payload: unknown): unknown => {
    const frame: Frame = [frameType.tell, 'wallet', 'wal_1', 'hold', payload];
    const [got] = decoder.decode(encoder.encode([frame]));
    assert(got !== undefined && got[0] === frameType.tell);
    return got[4];
  };
  return { encoder, decoder, pass };
}

test('bigints are exact over the whole range of int64, and stay bigints when small', () => {
  const { pass } = passer();
  for (const edge of [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
    for (const value of [edge, -edge]) assert.equal(pass(value), value);
  }
  assert.equal(pass(-(2n ** 63n)), -(2n ** 63n));
  assert.equal(pass(-(2n ** 70n) + 1n), -(2n ** 70n) + 1n);
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(fc.property(int64, (value) => assert.deepEqual(pass({ value }), { value })));
});

test('numbers, bytes, dates, null, undefined and text arrive as they were', () => {
  const { pass } = passer();
  for (const value of [
    2 ** 53 - 1,
    -(2 ** 53 - 1),
    1.1,
    2 ** 40,
    Number.NaN,
    null,
    undefined,
    '€𝄞',
  ]) {
    assert.deepEqual(pass(value), value);
  }
  assert.deepEqual(pass(new Date(1_763_654_400_123)), new Date(1_763_654_400_123));
  const bytes = pass(new Uint8Array([0, 255, 7]));
  assert(bytes instanceof Uint8Array);
  assert.deepEqual([...bytes], [0, 255, 7]);
});

test('batches of every size arrive, as text or as bytes', () => {
  const { pass } = passer();
  for (const size of [0, 1, 4_000, 4_096, 5_000, 300_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => i % 256);
    const got = pass({ bytes, text: 'é'.repeat(size) }) as { bytes: Uint8Array; text: string };
    assert.deepEqual(Uint8Array.from(got.bytes), bytes);
    assert.equal(got.text, 'é'.repeat(size));
  }
});

test('any sequence of plain objects passes one link unchanged', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  );
  const key = fc.string({ maxLength: 12 }).filter((name) => name !== '__proto__');
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(key, tie('node'), { maxKeys: 6, noNullPrototype: true }),
    ),
  })).node;
  // One link for all runs: hundreds of shapes, far beyond what its structure table holds.
  const { pass } = passer();
  fc.assert(
    fc.property(value, (each) => assert.deepEqual(pass(each), each)),
    { numRuns: 2_000 },
  );
});

test('after a batch that cannot be encoded, a reset on both sides heals the link', () => {
  const { encoder, decoder, pass } = passer();
  pass({ a: 1 });
  const bad = { a: 1, fresh: { shape: 1 }, symbol: Symbol('no plain data') };
  assert.throws(() => encoder.encode([[frameType.tell, 'k', 'i', 'm', bad]]));
  encoder.reset();
  decoder.reset();
  const good = { a: 1, fresh: { shape: 2 }, other: [{ shape: 3 }] };
  assert.deepEqual(pass(good), good);
  assert.deepEqual(pass(good), good);
});

test('moved bytes change hands: the port takes them, and nothing is copied into the batch', () => {
  const { encoder, decoder } = passer();
  const { port1, port2 } = new MessageChannel();
  const first = new MovedBytes(Uint8Array.from({ length: 100_000 }, (_, i) => i % 251));
  const second = new MovedBytes(new Uint8Array([1, 2, 3]));
  const frames: Frame[] = [
    [frameType.ask, 'tasks', 'tasks', 'run', { name: 'optimize', payload: first }, 1],
    [frameType.tell, 'tasks', 'tasks', 'run', [second, 'beside it', new Uint8Array([7])]],
  ];
  const batch = encoder.encode(frames);
  assert.ok(typeof batch !== 'string' && 'moved' in batch);
  assert.ok(batch.bytes.length < 1_000, `${batch.bytes.length} bytes in the batch`);
  assert.ok(batch.length > 100_003, 'what is moved counts against the bytes in flight');
  port1.postMessage(batch, transferOf(batch));
  assert.equal(first.bytes.length, 0, 'the sender has them no more');
  const received: { message: Batch } | undefined = receiveMessageOnPort(port2);
  port1.close();
  assert.ok(received !== undefined);
  const [ask, tell] = decoder.decode(received.message);
  assert.ok(ask?.[0] === frameType.ask && tell?.[0] === frameType.tell);
  const { payload } = ask[4] as { payload: unknown };
  assert.ok(payload instanceof MovedBytes);
  assert.deepEqual(
    payload.bytes,
    Uint8Array.from({ length: 100_000 }, (_, i) => i % 251),
  );
  const [other, text, copied] = tell[4] as [MovedBytes, string, Uint8Array];
  assert.deepEqual([...other.bytes, text, ...copied], [1, 2, 3, 'beside it', 7]);
  // The next batch has none of them.
  const [plain] = decoder.decode(encoder.encode([[frameType.tell, 'k', 'i', 'm', 'plain']]));
  assert.equal(plain?.[4], 'plain');
});

test('moved bytes that are a view of something larger leave the rest of it alone', () => {
  const whole = new Uint8Array(1_000).fill(9);
  const moved = new MovedBytes(whole.subarray(10, 20));
  assert.deepEqual(
    [...moved.bytes],
    Array.from({ length: 10 }, () => 9),
  );
  structuredClone(moved.bytes, { transfer: [moved.bytes.buffer] });
  assert.equal(whole.length, 1_000);
});
