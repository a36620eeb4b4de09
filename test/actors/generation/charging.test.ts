// The bounds of a charge: what was held of an answer that was cut short, and what can be stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf } from '../../../actors/generation/charging.ts';
import { compileCard } from '../../../actors/wallet/price.ts';
import { zeroUsage } from '../../../media/model/usage.ts';

const most = BigInt(Number.MAX_SAFE_INTEGER);

function cost(dollars: string, outputTokens: number, cutAtMicros?: bigint) {
  const card = compileCard({ output_per_million: dollars }, '100');
  const exhausted = cutAtMicros !== undefined;
  const priced = { model: { card }, exhausted, funds: { heldMicros: cutAtMicros ?? 0n } };
  const { chargeMicros, providerCostMicros } = costOf(priced, [{ ...zeroUsage, outputTokens }]);
  return [chargeMicros, providerCostMicros];
}

test('an answer that was cut short costs at most what was held', () => {
  assert.deepEqual(cost('10', 1_000), [1_050_000n, 1_000_000n]);
  assert.deepEqual(cost('10', 1_000, 2_000_000n), [1_050_000n, 1_000_000n]);
  assert.deepEqual(cost('10', 1_000, 1_020_000n), [1_020_000n, 1_000_000n]);
  assert.deepEqual(cost('10', 1_000, 500_000n), [500_000n, 500_000n]);
});

test('an absurd report at an absurd price costs no more than can be stored', () => {
  assert.deepEqual(cost('999999999', 100_000_000), [most, most]);
  assert.deepEqual(cost('80000', 100_000_000), [840_000_000_000_000n, 800_000_000_000_000n]);
});
