// Audio deltas are read without JSON.parse where that is safe: it must never show. The same stream
// with blanks before each message is always read the long way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AudioDeltas } from '../../../../../media/providers/live/openai-realtime/delta.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { mutation } from '../mutations.ts';
import { asText, pcm, readAll } from '../streams.ts';
import { created, delta, itemAdded } from './fixtures.ts';
import { readyCodec } from './session.ts';

/** Most messages are as they were. */
const sometimes = fc.oneof(
  { weight: 3, arbitrary: fc.constant(String) },
  { weight: 1, arbitrary: mutation },
);
const seed = testSeed;

const sent = fc
  .record({
    bytes: fc.uint8Array({ maxLength: 90 }),
    item: fc.constantFrom('item_1', 'item_1', 'item_2', 'item"3', 'item_é'),
    isBeta: fc.boolean(),
    order: fc.shuffledSubarray(
      ['type', 'event_id', 'response_id', 'item_id', 'output_index', 'content_index', 'delta'],
      { minLength: 5, maxLength: 7 },
    ),
    more: fc.constantFrom(
      {},
      { obfuscation: 'abc' },
      { x: null },
      { x: { delta: 'AAAA' } },
      { x: 1.5 },
    ),
    indent: fc.constantFrom(0, 0, 0, 1),
    isUsual: fc.boolean(),
    change: sometimes,
  })
  .map(({ bytes, item, isBeta, order, more, indent, isUsual, change }) => {
    const usual: Record<string, unknown> = delta(item, Buffer.from(bytes));
    if (isBeta) usual.type = 'response.audio.delta';
    const members = isUsual ? usual : Object.fromEntries(order.map((name) => [name, usual[name]]));
    return change(JSON.stringify({ ...members, ...more }, null, indent));
  });

test('a stream is read alike with and without the shortcut', () => {
  let shortCount = 0;
  let count = 0;
  const property = fc.property(fc.array(sent, { minLength: 2, maxLength: 20 }), (messages) => {
    const short = readyCodec();
    const long = readyCodec();
    const begin = [asText(created()), asText(itemAdded('item_1'))];
    readAll(short, begin);
    readAll(long, begin);
    const deltas = new AudioDeltas();
    messages.forEach((message, index) => {
      const blanks = ' '.repeat(index + 1);
      const expected = readAll(long, [blanks + message]);
      assert.deepEqual(readAll(short, [message]), expected, message);
      count += 1;
      if (deltas.read(Buffer.from(message)) !== null) shortCount += 1;
    });
  });
  fc.assert(property, { seed, numRuns: 1500 });
  assert.ok(shortCount > count / 10, `the shortcut was taken ${shortCount} of ${count} times`);
});

test('every usual message takes the shortcut, with blanks after commas too', () => {
  const deltas = new AudioDeltas();
  for (const indent of ['', ' ']) {
    for (let index = 0; index < 5; index += 1) {
      const message = asText(delta('item_1', pcm(index)))
        .replaceAll('","', `",${indent}"`)
        .replaceAll('":', `":${indent}`);
      const read = deltas.read(Buffer.from(message));
      assert.equal(read?.delta, pcm(index).toString('base64'));
      assert.equal(read.itemId, 'item_1');
      assert.equal(read.eventId, JSON.parse(message).event_id);
    }
  }
});

test('a server that gives one id to several events repeats nothing, however alike they are', () => {
  const codec = readyCodec();
  readAll(codec, [asText(created()), asText(itemAdded('item_1'))]);
  const messages = [1, 2, 2, 3].map((number) => {
    return asText({ ...delta('item_1', pcm(number)), event_id: 'event_same' });
  });
  assert.equal(readAll(codec, messages).events.length, 4);
});

test('equal audio without event ids is no repetition', () => {
  const codec = readyCodec();
  readAll(codec, [asText(created()), asText(itemAdded('item_1'))]);
  const { event_id: _, ...silence } = delta('item_1', Buffer.alloc(96));
  assert.equal(readAll(codec, [asText(silence), asText(silence)]).events.length, 2);
});

test('sound that was read stays in no heap as text, in which each collection would copy it', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const codecs = Array.from({ length: 200 }, () => {
    const codec = readyCodec();
    readAll(codec, [asText(created()), asText(itemAdded('item_1'))]);
    return codec;
  });
  const usedBytes = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = usedBytes();
  for (const codec of codecs) {
    const message = Buffer.from(asText(delta('item_1', Buffer.alloc(48_000))));
    assert.equal(codec.read(message).events.length, 1);
  }
  const bytes = usedBytes() - before;
  // Each of them has read 64 KB of text; a wrapper of its samples is kept.
  assert.ok(bytes < codecs.length * 4_000, `${bytes} bytes more`);
});
