// Refusals whose members are of the strangest kinds: whatever a family makes of them, there is a
// failure. One that throws instead is told to nobody, and the request would wait for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedReply } from '../../../media/providers/call-pool.ts';
import { familyNames, requireFamily } from '../../../media/providers/families.ts';
import { openaiAudio } from '../../../media/providers/openai-audio/family.ts';

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
