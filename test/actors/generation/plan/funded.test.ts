// Planning asks the wallet before it asks the pool, with no more than the hold will be. What needs
// no pool asks nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogModel } from '../../../../actors/catalog/model.ts';
import { requireLeastHold } from '../../../../actors/generation/least-hold.ts';
import { planThatFits } from '../../../../actors/generation/plan/context-fit.ts';
import { assertCompiles } from '../../../../actors/generation/plan/format-check.ts';
import { optimized } from '../../../../actors/generation/plan/prepare.ts';
import type { PlanServices } from '../../../../actors/generation/plan/services.ts';
import { compileCard } from '../../../../actors/wallet/price.ts';
import { conversationOf } from '../../../../bench/optimizer/sessions.ts';
import { noControls } from '../../../../media/model/request.ts';
import { Problem } from '../../../../runtime/problem.ts';
import { neutralRequest, userMessage } from '../../../harness/request.ts';

/** What the pool and the wallet were asked, in order; the wallet refuses if it has nothing. */
function scene(hasFunds: boolean) {
  const asked: unknown[] = [];
  const tasks = {
    ask: async (_message: string, { name, accountId }: { name: string; accountId: string }) => {
      asked.push([name, accountId]);
      return { ok: false, reason: 'overloaded' };
    },
  };
  const services = {
    tasks: () => tasks,
    limits: { work: { taskTimeoutMs: 1_000 } },
    catalog: () => ({ models: new Map(), routes: new Map() }),
  } as unknown as PlanServices;
  const client = {
    accountId: 'acc',
    async requireFunds() {
      asked.push('wallet');
      if (!hasFunds) throw new Problem('insufficient_credits');
    },
  };
  return { asked, services, client };
}

const { messages } = conversationOf('operations', 'en', 5, 24);
const optimization = { profile: 'code', mode: 'aggressive', allowLossyContext: true } as const;
const long = neutralRequest({ messages, controls: { ...noControls, optimization } });
const schema = { type: 'object', properties: { a: { pattern: 'a' } } };
const heavy = neutralRequest({
  outputFormat: { type: 'json_schema', name: 'x', schema, strict: true },
});
const tooLong = () => {
  throw new Problem('input_too_long');
};

const steps = [
  ['optimize', ({ client, services }) => optimized(long, client, undefined, services)],
  ['check-format', ({ client, services }) => assertCompiles(heavy, [], client, services)],
  ['count-tokens', ({ client, services }) => planThatFits(long, 9, tooLong, client, services)],
] as [string, (given: ReturnType<typeof scene>) => Promise<unknown>][];

for (const [name, step] of steps) {
  test(`the wallet is asked before ${name} is, and its refusal ends the request`, async () => {
    const poor = scene(false);
    await assert.rejects(step(poor), { code: 'insufficient_credits' });
    assert.deepEqual(poor.asked, ['wallet']);
    const rich = scene(true);
    await step(rich).catch((error: unknown) => assert.ok(error instanceof Problem));
    assert.deepEqual(rich.asked, ['wallet', [name, 'acc']]);
  });
}

test('what needs no pool asks no wallet', async () => {
  const { client, services, asked } = scene(false);
  const plain = neutralRequest({ messages: [userMessage('hello')] });
  await optimized(plain, client, undefined, services);
  await assertCompiles(plain, [], client, services);
  assert.deepEqual(asked, []);
});

test('the wallet is asked for the cheapest model, its input and one slice', async () => {
  const cards = {
    dear: { input_per_million: '10', output_per_million: '100' },
    cheap: { input_per_million: '1', output_per_million: '2' },
  };
  const model = (card: keyof typeof cards, outputTokensMax: number) =>
    ({ card: compileCard(cards[card], '100'), outputTokensMax }) as CatalogModel;
  const pool = [model('dear', 4_096), model('cheap', 4_096)].map((each) => ({ model: each }));
  const models = new Map([['exact', model('dear', 10)]]);
  const looked: unknown[] = [];
  const services = {
    catalog: () => ({ models, routes: new Map([['managed', { pool }]]) }),
    fundsEstimate: { expectsFunds: () => false },
    limits: { ledger: { askTimeoutMs: 1 }, generation: { sliceTokens: 1_000 } },
    wallet: () => ({
      ask: async (_message: string, { amountMicros }: { amountMicros: bigint }) => {
        looked.push(amountMicros);
        return { ok: false, reason: 'timeout' };
      },
    }),
  } as never;
  const ask = (alias: string, outputTokensMax: number | null, inputTokens: number) =>
    requireLeastHold(
      services,
      { walletId: 'wal', accountId: 'acc', apiKeyId: null },
      { model: alias, outputTokensMax },
      inputTokens,
    );
  // A dollar a million tokens is 105 microcredits a token.
  await ask('managed', null, 0);
  await ask('managed', 100, 1_000);
  await ask('exact', 2_000, 0);
  await ask('nobody-has-it', null, 1_000);
  assert.deepEqual(looked, [210_000n, 21_000n + 105_000n, 105_000n]);
});
