// Audio messages are read by the template of the one before: it must never show. The same stream
// with ever more blanks before its messages is always read the long way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AudioTemplate } from '../../../../../media/providers/live/gemini-live/template.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { mutation } from '../mutations.ts';
import { asText, pcm, readAll } from '../streams.ts';
import { audio, content } from './fixtures.ts';
import { readyCodec } from './session.ts';

/** Most messages are as they were. */
const sometimes = fc.oneof(
  { weight: 3, arbitrary: fc.constant(String) },
  { weight: 1, arbitrary: mutation },
);
const seed = testSeed;

const sent = fc
  .record({
    bytes: fc.uint8Array({ minLength: 40, maxLength: 90 }),
    mimeType: fc.constantFrom(
      'audio/pcm;rate=24000',
      'audio/pcm;rate=24000',
      'audio/pcm',
      'text/x',
    ),
    more: fc.constantFrom({}, {}, {}, { usageMetadata: { promptTokenCount: 5 } }, { x: 'AAAA' }),
    inside: fc.constantFrom({}, {}, {}, { interrupted: true }, { turnComplete: true }),
    indent: fc.constantFrom(0, 0, 2),
    change: sometimes,
  })
  .map(({ bytes, mimeType, more, inside, indent, change }) => {
    const { serverContent } = audio(Buffer.from(bytes), mimeType);
    const message = content({ ...Object(serverContent), ...inside }, more);
    return change(JSON.stringify(message, null, indent));
  });

test('a stream is read alike with and without the template', () => {
  fc.assert(
    fc.property(fc.array(sent, { minLength: 2, maxLength: 20 }), (messages) => {
      const short = readyCodec();
      const long = readyCodec();
      messages.forEach((message, index) => {
        const blanks = ' '.repeat(index + 1);
        const expected = readAll(long, [blanks + message]);
        assert.deepEqual(readAll(short, [Buffer.from(message)]), expected, message);
      });
    }),
    { seed, numRuns: 1500 },
  );
});

test('the second of two like messages fits, whatever its length', () => {
  const template = new AudioTemplate();
  const first = Buffer.from(asText(audio(pcm(1))));
  assert.equal(template.read(first), null);
  template.learn(first, pcm(1).toString('base64'));
  for (const length of [60, 240, 2400]) {
    assert.deepEqual(template.read(Buffer.from(asText(audio(pcm(2, length))))), pcm(2, length));
  }
  const other = content({ modelTurn: audio(pcm(3)).serverContent });
  assert.equal(template.read(Buffer.from(asText(other))), null);
});
