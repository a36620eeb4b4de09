// What the client of a process is told that stood still and was taken for dead meanwhile.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { openStage, type Stage, type StageOptions } from './stage.ts';

const stages: Stage[] = [];
after(() => Promise.all(stages.map((stage) => stage.close())));

type Ask = ActorRef<WalletProtocol>['ask'];

/** A stage whose wallets answer one message in another way. */
async function stageWith(options: StageOptions, asked: (real: Ask, message: string) => Ask | null) {
  const stage = await openStage({
    ...options,
    wallet: (real) => {
      const ask = ((message, payload, timeoutMs) => {
        const other = asked(real.ask.bind(real), message) ?? real.ask.bind(real);
        return other(message, payload, timeoutMs);
      }) as Ask;
      return new Proxy(real, {
        get: (target, name) => (name === 'ask' ? ask : Reflect.get(target, name)),
      });
    },
  });
  stages.push(stage);
  return stage;
}

test('an answer whose key was run again is refused at its end, without a charge', async () => {
  const stage = await stageWith({}, (_real, message) => {
    if (message !== 'settle') return null;
    return (async () => ({ ok: true, value: { status: 'superseded' } })) as unknown as Ask;
  });
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim tokens=3]]', 'again');
  assert.ok(end.status === 'failed', end.status);
  assert.equal(end.problem.code, 'conflict');
  assert.deepEqual([end.svcUsage?.charge_microcredits, end.svcUsage?.source], [0, 'none']);
  assert.equal(stage.alive(), 0);
});

/** A hold whose answer comes after the lease has passed. */
const lateHold = (real: Ask, message: string): Ask | null => {
  if (message !== 'hold') return null;
  return (async (...parameters: Parameters<Ask>) => {
    const answer = await real(...parameters);
    await sleep(60);
    return answer;
  }) as Ask;
};

test('a hold that is told after the lease has passed is no reason to begin', async () => {
  const stage = await stageWith({ instance: { leaseMs: 30, isShared: true } }, lateHold);
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim tokens=3]]', 'late');
  assert.ok(end.status === 'failed', end.status);
  assert.equal(end.problem.code, 'dependency_unavailable');
  assert.deepEqual(await account.quiet(), { availableMicros: 1_000_000_000n, heldMicros: 0n });
  assert.equal((await stage.simulator.stats()).started, 0, 'no provider was called');
});

test('where nobody else reaches the database a late hold is as good as any', async () => {
  const stage = await stageWith({ instance: { leaseMs: 30, isShared: false } }, lateHold);
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim tokens=3]]', 'late');
  assert.equal(end.status, 'completed');
});
