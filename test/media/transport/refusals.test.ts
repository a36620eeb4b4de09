// Refusals whose members are of the strangest kinds: whatever a family makes of them, there is a
// failure. One that throws instead is told to nobody, and the request would wait for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { familyNames, requireFamily } from '../../../media/providers/generation/families.ts';
import { openaiAudio } from '../../../media/providers/speech/openai-audio/family.ts';
import { RefusedReply } from '../../../media/transport/call-pool.ts';
import { retryAfterMs } from '../../../media/transport/refusal.ts';

const values = [
  '{"toString":1}',
  '[]',
  'null',
  '7',
  '{}',
  `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
];
const members = ['status', 'code', 'type', 'message', 'details', 'reason'];

for (const family of [...familyNames.map(requireFamily), openaiAudio]) {
  test(`every refusal of ${family.name} is a failure with its status`, () => {
    for (const value of values) {
      const error = `{${members.map((name) => `"${name}":${value}`).join()}}`;
      const nested = `{"message":"x","details":[${error}]}`;
      for (const each of [value, error, nested, `[${error}]`]) {
        const refused = new RefusedReply(400, { 'retry-after': '7' });
        refused.push(Buffer.from(`{"error":${each}}`));
        const { kind, status } = refused.read(family);
        assert.deepEqual([kind, status], ['rejected', 400], each.slice(0, 80));
      }
    }
  });
}

test('a pause is seconds or a date, also where it is told twice; anything else is none', () => {
  const wait = (header: string) => retryAfterMs({ 'retry-after': header });
  assert.equal(wait('30'), 30_000);
  assert.equal(wait(' 1.5 '), 1_500);
  assert.equal(wait('0'), 0);
  assert.equal(wait('9'.repeat(400)), 86_400_000);
  assert.equal(wait('30, 30'), 30_000, 'of a proxy that repeats it');
  assert.equal(wait('Sun, 06 Nov 1994 08:49:37 GMT'), 0);
  assert.ok((wait('Sunday, 06-Nov-50 08:49:37 GMT') ?? -1) >= 0);
  // What JavaScript takes for a date of long ago would be a wish not to wait at all.
  for (const header of ['', '-1', '+5', '60 (sec)', '120;', 'soon', 'soon 5', '1e3', 'NaN']) {
    assert.equal(wait(header), null, header);
  }
});
