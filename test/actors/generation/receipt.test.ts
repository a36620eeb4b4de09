// The receipt of a managed route, pure: what it says of an answer that its first choice did not
// give, and of one that was cancelled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svcRoutingOf } from '../../../actors/generation/receipt.ts';
import type { GenerationState } from '../../../actors/generation/state.ts';
import { zeroUsage } from '../../../media/model/usage.ts';

/** When the generations of these tests began. */
const createdAtMs = Date.now() - 60_000;

function receipt(status: string | null, fallbacks: number, times: Partial<GenerationState> = {}) {
  const routing = { decision_category: 'sticky', sticky: true, decisionMs: 40.4 };
  const candidates = ['chosen', 'other'].map((alias) => ({ model: { alias } }));
  const state = {
    spec: { id: 'req_000000000000000000000001', createdAtMs, routing, candidates },
    model: { alias: 'chosen' },
    outcome: status === null ? null : { status },
    fallbacks,
    firstEventMs: null,
    ...times,
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

test('nor is one that was passed over, as it rests since the decision', () => {
  const other = { alias: 'other' } as GenerationState['model'];
  const passed = receipt('completed', 0, { model: other });
  assert.deepEqual([passed.decision_category, passed.sticky], ['fallback', false]);
  assert.equal(passed.fallbacks, 0, 'no attempt has failed');
});

test('a cut answer is complete for its receipt, a cancelled one is cancelled', () => {
  const said = { completed: 'completed', incomplete: 'completed', failed: 'failed' };
  for (const [status, outcome] of Object.entries({ ...said, cancelled: 'cancelled' })) {
    assert.equal(receipt(status, 0).outcome, outcome, status);
  }
  assert.equal(receipt(null, 0).outcome, 'completed');
});

test('times count from before the model was chosen, in milliseconds', () => {
  const before = Date.now();
  const {
    decision,
    first_token: first,
    total,
  } = receipt('completed', 0, {
    firstEventMs: createdAtMs + 300,
  }).latency_ms;
  const begunAtMs = createdAtMs - 40;
  assert.deepEqual([decision, first], [40.4, 340]);
  assert.ok(total >= before - begunAtMs && total <= Date.now() - begunAtMs, `${total} ms`);
  assert.equal(receipt('failed', 0).latency_ms.first_token, null, 'nothing was shown');
});
