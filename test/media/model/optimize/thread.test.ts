// Optimizing on a thread: the same plan of less, made by the pool, and only where it is worth it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { conversationOf } from '../../../../bench/optimizer/sessions.ts';
import {
  applyPlan,
  needsThread,
  optimizeMessages,
  threadBytes,
  threadInput,
} from '../../../../media/model/optimize/optimizer.ts';
import type { OptimizerPlan } from '../../../../media/model/optimize/plan.ts';
import optimizeTask from '../../../../media/tasks/optimize.ts';
import { createPool } from '../../../../runtime/work/pool.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';
import { options, toolConversation, turns } from './conversations.ts';

const seed = testSeed;
const run = { seed, numRuns: 150 };

test(`a thread makes the same plan of less (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, options, (conversation, chosen) => {
      const messages = conversation.flat();
      assert.ok(!JSON.stringify(threadInput(messages, chosen)).includes('signature'));
      const plan = structuredClone(optimizeTask(threadBytes(messages, chosen)));
      assert.deepEqual(applyPlan(messages, plan), optimizeMessages(messages, chosen));
    }),
    run,
  );
});

test('a thread of the pool makes the plan of a long conversation', async () => {
  const pool = createPool({
    threadsMax: 1,
    queueLengthMax: 1,
    idleMs: 1_000,
    timeoutMs: 30_000,
    log: pino({ level: 'silent' }),
  });
  try {
    const chosen = { profile: 'code', mode: 'aggressive', allowLossyContext: true } as const;
    const { messages } = conversationOf('operations', 'en', 5, 24);
    const input = threadBytes(messages, chosen);
    const file = new URL('../../../../media/tasks/optimize.js', import.meta.url);
    const answer = await pool.run<OptimizerPlan>(file, input);
    assert.ok(answer.ok, JSON.stringify(answer));
    const result = applyPlan(messages, answer.value);
    assert.deepEqual(result, optimizeMessages(messages, chosen));
    assert.ok(result.tokensAfter < result.tokensBefore * 0.8, 'or this test shows nothing');
    assert.ok(result.tokensBefore > 100_000, String(result.tokensBefore));
  } finally {
    await pool.stop();
  }
});

test('a small or unsealed conversation needs no thread', () => {
  const chosen = { profile: 'code', mode: 'balanced', allowLossyContext: false } as const;
  const large = toolConversation(['x y z\n'.repeat(20_000)], 'And?');
  assert.equal(needsThread(large, chosen), true);
  assert.equal(needsThread(large.slice(0, -1), chosen), false, 'one turn is the last turn');
  assert.equal(needsThread(toolConversation(['x'.repeat(20_000)], 'And?'), chosen), false);
  assert.equal(optimizeMessages(large.slice(0, -1), chosen).messages.length, large.length - 1);
});
