// The receipt of a managed route, pure: what it says of an answer that its first choice did not
// give, and of one that was cancelled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svcRoutingOf } from '../../../actors/generation/receipt.ts';
import type { GenerationState } from '../../../actors/generation/state.ts';
import { zeroUsage } from '../../../media/model/usage.ts';

function receipt(status: string | null, fallbacks: number) {
  const routing = { decision_category: 'sticky', sticky: true, decisionMs: 0.1 };
  const state = {
    spec: { id: 'req_000000000000000000000001', createdAtMs: Date.now(), routing },
    model: { alias: 'chosen' },
    outcome: status === null ? null : { status },
    fallbacks,
    firstEventMs: null,
  };
  const made = svcRoutingOf(state as unknown as GenerationState, zeroUsage, 7n);
  assert.ok(made !== null);
  return made;
}

test('the model of the conversation that failed is not what answered', () => {
  const kept = receipt('completed', 0);
  assert.deepEqual([kept.decision_category, kept.sticky], ['sticky', true]);
  const left = receipt('completed', 1);
  assert.deepEqual([left.decision_category, left.sticky, left.fallbacks], ['fallback', false, 1]);
});

test('a cut answer is complete for its receipt, a cancelled one is cancelled', () => {
  const said = { completed: 'completed', incomplete: 'completed', failed: 'failed' };
  for (const [status, outcome] of Object.entries({ ...said, cancelled: 'cancelled' })) {
    assert.equal(receipt(status, 0).outcome, outcome, status);
  }
  assert.equal(receipt(null, 0).outcome, 'completed');
});
