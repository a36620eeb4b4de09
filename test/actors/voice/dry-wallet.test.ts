// A wallet that has nothing left while a session runs: what its hold does not cover is not begun.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { type FakeClient, report, sound } from './fakes.ts';
import { stagesOfFile, until } from './stage.ts';

const open = stagesOfFile();
/** 100 s x 10 tokens x (100 + 10 + 200 + 20) x 1.05 */
const holdMicros = 346_500n;

const reasonOf = (client: FakeClient) => client.of('session.ended')[0]?.reason;

test('a session ends before an answer whose input alone is not covered begins', async () => {
  const stage = await open();
  const account = await stage.account(holdMicros);
  const client = await stage.live(account);
  client.call?.says(report(0, 500));
  await until('the wallet was asked', () => client.session.funds.isEmpty);
  assert.equal(client.ended, null, 'the hold covers what is said next');
  // 262,500 are due; the next answer counts 1,000 tokens of speech once more: 105,000.
  client.call?.says(report(500, 500));
  await until('it ends', () => client.ended !== null);
  assert.equal(reasonOf(client), 'credits_exhausted');
  assert.equal((await stage.over(client)).charge, 262_500);
  assert.deepEqual(await account.balance(), { availableMicros: 84_000n, heldMicros: 0n });
});

test('an answer that outgrows what is held is ended while it is heard', async () => {
  const stage = await open();
  const account = await stage.account(holdMicros);
  const client = await stage.live(account);
  client.call?.says(report(0, 500));
  await until('the wallet was asked', () => client.session.funds.isEmpty);
  // 105,000 are due, 52,500 is its input, and 2,100 a second of its sound.
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 91_000));
  await until('it ends', () => client.ended !== null, 10_000);
  assert.equal(reasonOf(client), 'credits_exhausted');
  const row = await stage.over(client);
  assert.ok(Number(row.charge) <= Number(holdMicros), 'nothing beyond the hold');
});

/** A wallet that was empty the first time that it was asked for more. */
const filled = (real: ActorRef<WalletProtocol>): ActorRef<WalletProtocol> => {
  let asked = 0;
  return {
    kind: real.kind,
    id: real.id,
    tell: (message, payload) => real.tell(message, payload),
    ask: async (message, payload, timeoutMs) => {
      if (message === 'extend') asked += 1;
      if (message !== 'extend' || asked > 1) return await real.ask(message, payload, timeoutMs);
      const value = { status: 'insufficient', availableMicros: 0n };
      return { ok: true, value } as Awaited<ReturnType<typeof real.ask<typeof message>>>;
    },
  };
};

test('a wallet that was filled meanwhile is asked before the end: it goes on', async () => {
  let wallet: ActorRef<WalletProtocol> | null = null;
  const stage = await open({
    wallet: (real) => {
      wallet ??= filled(real);
      return wallet;
    },
  });
  const account = await stage.account(10_000_000n);
  const client = await stage.live(account);
  client.call?.says(report(0, 500));
  await until('the wallet was asked', () => client.session.funds.isEmpty);
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 100_000));
  await until('it has more', () => !client.session.funds.isEmpty);
  assert.equal(client.ended, null);
  client.send({ type: 'end' });
  await stage.over(client);
});
