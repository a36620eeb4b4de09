// How often a wallet with holds in doubt looks again: one timer at a time, and ever less often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyMemory } from '../../../actors/wallet/engine.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { createWalletKind } from '../../../actors/wallet/wallet.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import type { ActorContext } from '../../../runtime/actor/contract.ts';

/** A database that is away. */
const away = {
  unsafe: () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })),
} as unknown as Sql;
const log = { warn: () => {}, error: () => {} };

test('batches that find holds in doubt leave one timer, which waits longer each time', async () => {
  const { behaviour } = createWalletKind({
    sql: away,
    clock: Date.now,
    limits: { ...walletLimits, doubtMsMin: 1, doubtMsMax: 40 },
    log,
  });
  assert.ok('batch' in behaviour);
  const { receive } = behaviour.batch;
  const memory = emptyMemory('wal_1');
  for (let hold = 0; hold < 700; hold += 1) memory.uncertain.set(`hold_${hold}`, 1n);
  const waiting = new Set<object>();
  const delays: number[] = [];
  const context = {
    after(delayMs: number) {
      const timer = { cancel: () => void waiting.delete(timer) };
      waiting.add(timer);
      delays.push(delayMs);
      return timer;
    },
  } as unknown as ActorContext<WalletProtocol>;
  const look = async () => {
    const entry = { message: 'balance' as const, payload: {}, reply: () => {} };
    await receive(memory, [entry], context);
  };
  for (let batch = 0; batch < 20; batch += 1) await look();
  assert.equal(waiting.size, 1);
  assert.equal(delays[0], 1);
  const deadline = performance.now() + 30_000;
  while (delays.at(-1) !== 40) {
    assert.ok(performance.now() < deadline, `it waits no longer: ${delays.at(-1)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await look();
  }
  assert.equal(waiting.size, 1);
  memory.uncertain.clear();
  await look();
  assert.equal(waiting.size, 0, 'nothing is in doubt');
});
