// Sessions that their hold does not cover: it was ended by others, or the ledger stays away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stoodStill } from '../../../actors/voice/session.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { stagesOfFile, until } from './stage.ts';

const open = stagesOfFile();
const littleUsed = {
  type: 'usage',
  usage: {
    inputSpeechTokens: 0,
    inputTextTokens: 0,
    outputSpeechTokens: 1,
    outputTextTokens: 0,
  },
} as const;
const settledByOthers = { chargeMicros: 105n, providerCostMicros: 100n, finish: null };

for (const ending of ['released', 'settled'] as const) {
  test(`a session whose hold was ${ending} by others ends when it is to be extended`, async () => {
    let wallet: ActorRef<WalletProtocol> | undefined;
    const stage = await open({
      wallet: (real) => {
        wallet = real;
        return real;
      },
    });
    const account = await stage.account(1_000_000n);
    const client = await stage.live(account);
    const { holdId } = client.session;
    assert.ok(wallet !== undefined);
    // As recovery does for a process that was taken for dead.
    const other =
      ending === 'released'
        ? wallet.ask('release', { holdId, reason: 'recovered', finish: null }, 30_000)
        : wallet.ask('settle', { holdId, ...settledByOthers }, 30_000);
    assert.ok((await other).ok);
    const usage = { inputSpeechTokens: 0, inputTextTokens: 0, outputTextTokens: 0 };
    client.call?.says({ type: 'usage', usage: { ...usage, outputSpeechTokens: 2_000 } });
    await until('it ends', () => client.ended !== null);
    const [error] = client.of('error');
    assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['internal', true, true]);
    assert.deepEqual([client.of('session.ended')[0]?.reason, client.ended?.code], ['error', 1011]);
    const row = await stage.over(client);
    const chargeMicros = ending === 'released' ? 2_000 * 210 : 105;
    assert.equal(row.charge, chargeMicros, 'charged once');
    const availableMicros = 1_000_000n - BigInt(chargeMicros);
    assert.deepEqual(await account.balance(), { availableMicros, heldMicros: 0n });
  });
}

test('it ends with its next report, also if that does not outgrow the hold', async () => {
  let wallet: ActorRef<WalletProtocol> | undefined;
  const stage = await open({
    wallet: (real) => {
      wallet = real;
      return real;
    },
  });
  const account = await stage.account(1_000_000n);
  const client = await stage.live(account);
  const { holdId } = client.session;
  const session = { id: client.id, reason: 'recovered', source: 'reported', usage: null } as const;
  const other = { ...settledByOthers, holdId, session };
  assert.ok((await wallet?.ask('settle', other, 30_000))?.ok);
  // Far longer than one token lasts at the declared rates: the hold has room for it.
  await sleep(200);
  client.call?.says(littleUsed);
  await until('it ends', () => client.ended !== null);
  const [error] = client.of('error');
  assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['internal', true, true]);
  assert.equal(client.of('error').length, 1);
  assert.equal((await stage.over(client)).charge, 105, 'charged once');
  assert.deepEqual(await account.balance(), { availableMicros: 999_895n, heldMicros: 0n });
});

test('after a standstill it ends without a report: others took its process for dead', async () => {
  const stage = await open();
  const account = await stage.account(1_000_000n);
  const [client, other] = [await stage.live(account), await stage.live(await stage.account())];
  const { holdId, deps } = client.session;
  const session = { id: client.id, reason: 'recovered', source: 'none', usage: null } as const;
  const release = { holdId, reason: 'recovered', finish: null, session } as const;
  assert.ok((await deps.wallet(account.walletId).ask('release', release, 30_000)).ok);
  for (const each of [client, other]) stoodStill(each.session, 20_000, performance.now());
  await until('it ends', () => client.ended !== null);
  assert.equal(client.of('error')[0]?.code, 'internal');
  assert.equal((await stage.over(client)).charge, null);
  await until('the other is written', () => !other.session.funds.dirty);
  assert.equal(other.ended, null, 'its hold is still there');
  other.send({ type: 'end' });
  await stage.over(other);
});

/** A wallet whose extensions are not answered `times` times. */
const deaf = (times: number) => {
  let left = times;
  return (real: ActorRef<WalletProtocol>): ActorRef<WalletProtocol> => ({
    kind: real.kind,
    id: real.id,
    tell: (message, payload) => real.tell(message, payload),
    ask: async (message, payload, timeoutMs) => {
      if (message !== 'extend' || left === 0) return await real.ask(message, payload, timeoutMs);
      left -= 1;
      return { ok: false, reason: 'timeout' };
    },
  });
};

const muchUsed = {
  type: 'usage',
  usage: {
    inputSpeechTokens: 0,
    inputTextTokens: 0,
    outputSpeechTokens: 3_000,
    outputTextTokens: 0,
  },
} as const;

test('what a ledger that was away did not hold is held when it is back', async () => {
  const stage = await open({ wallet: deaf(3) });
  const account = await stage.account(2_000_000n);
  const client = await stage.live(account);
  client.call?.says(muchUsed);
  await until('the hold grew', async () => (await account.balance()).heldMicros > 630_000n);
  assert.equal(client.ended, null, 'the session goes on');
  client.send({ type: 'end' });
  assert.equal((await stage.over(client)).charge, 3_000 * 210);
});

test('a session that its hold does not cover ends when the ledger stays away', async () => {
  const stage = await open({ wallet: deaf(Number.POSITIVE_INFINITY), uncoveredMs: 2_000 });
  const account = await stage.account(2_000_000n);
  const client = await stage.live(account);
  client.call?.says(muchUsed);
  await until('it ends', () => client.ended !== null);
  const [error] = client.of('error');
  assert.deepEqual([error?.code, error?.retryable, error?.fatal], ['internal', true, true]);
  assert.equal(client.ended?.code, 1011);
  assert.equal((await stage.over(client)).charge, 3_000 * 210, 'what was used is charged');
});
