// The look before dear work. Who is rich is not asked, who has too little is refused with both
// amounts. A ledger that does not answer refuses nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFundsEstimate } from '../../../actors/billed-request/funds-estimate.ts';
import { type LookServices, requireFunds } from '../../../actors/billed-request/funds-look.ts';
import type { BalanceReply } from '../../../actors/wallet/protocol.ts';
import type { Answer } from '../../../runtime/actor/contract.ts';

/** A shard whose wallets all give this answer to a look. */
function shard(answer: Answer<BalanceReply>) {
  const asked: unknown[] = [];
  const wallet = (walletId: string) => ({
    ask: async (message: string, payload: unknown) => {
      asked.push([walletId, message, payload]);
      return answer;
    },
  });
  const fundsEstimate = createFundsEstimate();
  const limits = { ledger: { askTimeoutMs: 1_000 } };
  return {
    asked,
    fundsEstimate,
    services: { wallet, fundsEstimate, limits } as never as LookServices,
  };
}

const has = (availableMicros: bigint): Answer<BalanceReply> => ({
  ok: true,
  value: { status: 'ok', availableMicros, heldMicros: 0n },
});

const payer = (walletId: string) => ({ walletId, accountId: 'acc', apiKeyId: null });

test('who has as much goes on, who has less is told both amounts', async () => {
  const { services, asked } = shard(has(10n));
  await requireFunds(services, payer('wal'), 10n);
  assert.deepEqual(asked, [
    ['wal', 'look', { amountMicros: 10n, spender: { accountId: 'acc', apiKeyId: null } }],
  ]);
  await assert.rejects(requireFunds(services, payer('wal'), 11n), {
    code: 'insufficient_credits',
    details: { required_microcredits: 11, available_microcredits: 10 },
  });
});

test('a wallet that was lately seen to be rich is not asked, nor is one for nothing', async () => {
  const { services, asked, fundsEstimate } = shard(has(0n));
  fundsEstimate.saw(payer('rich'), 1_000_000n, Date.now());
  await requireFunds(services, payer('rich'), 1_000n);
  await requireFunds(services, payer('poor'), 0n);
  assert.deepEqual(asked, []);
});

test('no answer refuses nobody', async () => {
  for (const answer of [
    { ok: false, reason: 'timeout' },
    { ok: true, value: { status: 'unavailable' } },
    { ok: true, value: { status: 'wallet_not_found' } },
  ] as const) {
    await requireFunds(shard(answer).services, payer('wal'), 1n);
  }
});
