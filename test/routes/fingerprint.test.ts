// The fingerprint of a request: made in turns of the loop it is the same, and only what is asked
// for is in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, fingerprintInTurns } from '../../routes/generations/idempotency.ts';
import { fc } from '../harness/properties.ts';
import { testSeed } from '../harness/seed.ts';
import { countTurns } from '../harness/turns.ts';

const seed = testSeed;
const body = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom('messages', 'stream', '10', '9', 'request_id')),
  fc.jsonValue({ maxDepth: 5 }),
  { maxKeys: 8 },
);

test(`one made in turns is the one made at once (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(body, async (value) => {
      // Only what JSON can say: no negative zero.
      const parsed = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
      assert.equal(await fingerprintInTurns(parsed), fingerprint(parsed));
    }),
    { seed, numRuns: 300 },
  );
});

test('a long one hands the loop on, and knows nothing of the order of members', async () => {
  const text = 'Wärme — 漢字 🧭 "quoted"\n'.repeat(20);
  const content = Array.from({ length: 2_000 }, (_, index) => ({ type: 'text', text, index }));
  const messages = [{ role: 'user', content }];
  const body = { model: 'm', messages, stream: true };
  const { result: found, turns } = await countTurns(() => fingerprintInTurns(body));
  assert.ok(turns > 1, `${turns} turns`);
  assert.equal(found, fingerprint({ messages, model: 'm' }));
  assert.notEqual(found, fingerprint({ messages, model: 'n' }));
});
