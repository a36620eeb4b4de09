// What a request is told that no model could take, and meanwhile none is there any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planThatFits } from '../../../../actors/generation/plan/context-fit.ts';
import type { PlanServices } from '../../../../actors/generation/plan/services.ts';
import { Problem } from '../../../../runtime/problem.ts';
import { neutralRequest } from '../../../harness/request.ts';

/** A catalog whose managed route has these models; counting is left to the estimate. */
function servicesWith(models: { targets: number[]; contextWindow: number }[]): PlanServices {
  const pool = models.map((model) => ({ model }));
  const ref = { ask: async () => ({ ok: false }) };
  return {
    catalog: () => ({ models: new Map(), routes: new Map([['auto', { pool }]]) }),
    tasks: () => ref,
    limits: { work: { taskTimeoutMs: 1_000 } },
  } as unknown as PlanServices;
}

const client = { accountId: 'acc', requireFunds: async () => {} };

async function refusalOf(services: PlanServices): Promise<Problem> {
  const request = neutralRequest({ model: 'auto' });
  const planWith = () => {
    throw new Problem('input_too_long');
  };
  const refused = planThatFits(request, 1_000, planWith, client, services);
  return refused.then(
    () => assert.fail('it has a plan'),
    (error) => error as Problem,
  );
}

test('the widest window of those that can run is told, none where the last has gone', async () => {
  const gone = { targets: [], contextWindow: 9_000 };
  const few = [{ targets: [1], contextWindow: 400 }, { targets: [1], contextWindow: 500 }, gone];
  const tooLong = await refusalOf(servicesWith(few));
  assert.equal(tooLong.code, 'context_length_exceeded');
  assert.match(tooLong.message, /\b500\b/);
  assert.equal((await refusalOf(servicesWith([gone]))).code, 'no_route_available');
});
