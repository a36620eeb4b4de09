// Batches that are decided while the write of the one before is on its way: what they may build on,
// and when they may answer. The ledgerAccess is played by the test, so that every order can be had.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createWalletEngine,
  emptyMemory,
  type WalletEntry,
  type WalletMemory,
} from '../../../actors/wallet/engine.ts';
import { noLegs } from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import type { LedgerAccess, WriteOutcome } from '../../../actors/wallet/ledger-access.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import type { WalletWrite } from '../../../db/ledger/write.ts';
import type { WalletRow } from '../../../db/wallets.ts';
import type { PayloadOf, ReplyOf } from '../../../runtime/actor/contract.ts';
import { type Bank, holdOf, openBank, purchase } from './bank.ts';

type Message = keyof WalletProtocol & string;

/** A wallet with 1,000 of one purchase. */
function rowOf(version: bigint, changes: Partial<WalletRow> = {}): WalletRow {
  const grant = {
    id: 'grant_1',
    operationId: 'buy_1',
    kind: 'purchase' as const,
    note: '',
    amountMicros: 1_000n,
    remainingMicros: 1_000n,
    heldMicros: 0n,
    expiresAtMs: null,
    expired: false,
    createdAtMs: 1,
  };
  const balances = { ...noLegs(), walletMicros: 1_000n, purchaseMicros: -1_000n };
  return { id: 'wal_1', version, balances, grants: [grant], debts: [], holds: [], ...changes };
}

interface Stage {
  memory: WalletMemory;
  /** Writes as they were sent, each waiting for its outcome. */
  writes: { write: WalletWrite; land(outcome: WriteOutcome): Promise<void> }[];
  /** What a load finds, and how often that was asked. */
  stored: WalletRow;
  loads: number;
  /** Runs a batch of one; the answer, once there is one, stands in `told`. */
  begin<M extends Message>(
    message: M,
    payload: PayloadOf<WalletProtocol, M>,
  ): Promise<{ told: ReplyOf<WalletProtocol, M> | null }>;
}

function openStage(): Stage {
  const stage: Stage = {
    memory: emptyMemory('wal_1'),
    writes: [],
    stored: rowOf(7n),
    loads: 0,
    async begin(message, payload) {
      const asked: { told: ReplyOf<WalletProtocol, typeof message> | null } = { told: null };
      const reply = (value: ReplyOf<WalletProtocol, typeof message>) => {
        asked.told = value;
      };
      void engine.run(stage.memory, [{ message, payload, reply } as unknown as WalletEntry]);
      await nextTurn();
      return asked;
    },
  };
  const ledgerAccess: LedgerAccess = {
    holders,
    async load() {
      stage.loads += 1;
      return { ok: true, value: structuredClone(stage.stored) };
    },
    write: (write) =>
      new Promise((resolve) => {
        const land = async (outcome: WriteOutcome): Promise<void> => {
          resolve(outcome);
          await nextTurn();
        };
        stage.writes.push({ write, land });
      }),
    findEntries: async () => ({ ok: true, value: new Map() }),
    findUsed: async () => ({ ok: true, value: [] }),
    findReplaced: async () => ({ ok: true, value: [] }),
    findHolders: async () => ({ ok: true, value: [] }),
    findKeys: async () => ({ ok: true, value: [] }),
  };
  const log = { warn: () => undefined, error: () => undefined };
  const none = null as never;
  const engine = createWalletEngine(
    { sql: none, clock: Date.now, limits: walletLimits, log },
    ledgerAccess,
  );
  return stage;
}

function writeAt(stage: Stage, index: number): Stage['writes'][number] {
  const found = stage.writes[index];
  assert.ok(found !== undefined, `write ${index} was sent`);
  return found;
}

test('a batch builds on the write before it, and is answered after its own', async () => {
  const stage = openStage();
  const first = await stage.begin('hold', holdOf(600n));
  const second = await stage.begin('hold', holdOf(300n));
  assert.equal(stage.writes.length, 2, 'both are on their way');
  assert.equal(writeAt(stage, 1).write.version, writeAt(stage, 0).write.nextVersion);
  assert.equal(writeAt(stage, 1).write.balances.walletMicros, 100n);
  assert.deepEqual([first.told, second.told], [null, null]);
  await writeAt(stage, 0).land('applied');
  assert.deepEqual([first.told?.status, second.told], ['held', null]);
  await writeAt(stage, 1).land('applied');
  assert.deepEqual(second.told, { status: 'held', availableMicros: 100n });
  assert.equal(stage.loads, 1);
});

test('no other memory of the wallet makes the version that a batch builds on', async () => {
  const [one, other] = [openStage(), openStage()];
  for (const stage of [one, other]) await stage.begin('hold', holdOf(1n));
  const [mine, theirs] = [writeAt(one, 0).write, writeAt(other, 0).write];
  assert.equal(mine.version, theirs.version);
  assert.notEqual(mine.nextVersion, theirs.nextVersion);
  await one.begin('hold', holdOf(1n));
  const next = writeAt(one, 1).write;
  assert.notEqual(next.nextVersion, next.version + 1n, 'not even one that counts them');
});

test('when a write was in vain, what was built on it is decided anew, in order', async () => {
  const stage = openStage();
  const first = await stage.begin('hold', holdOf(600n));
  const second = await stage.begin('hold', holdOf(300n));
  // Somebody else has taken 500 meanwhile.
  const balances = { ...stage.stored.balances, walletMicros: 500n, heldMicros: 500n };
  const grants = stage.stored.grants.map((grant) => ({ ...grant, heldMicros: 500n }));
  stage.stored = rowOf(99n, { balances, grants });
  await writeAt(stage, 0).land('conflict');
  await writeAt(stage, 1).land('conflict');
  assert.deepEqual(first.told, {
    status: 'insufficient',
    requiredMicros: 600n,
    availableMicros: 500n,
  });
  assert.equal(second.told, null);
  await writeAt(stage, 2).land('applied');
  assert.deepEqual(second.told, { status: 'held', availableMicros: 200n });
  assert.equal(writeAt(stage, 2).write.balances.walletMicros, 200n);
});

test('an answer without a write waits for the writes that it stands on', async () => {
  const stage = openStage();
  const hold = holdOf(600n);
  const held = await stage.begin('hold', hold);
  const again = await stage.begin('hold', hold);
  const poor = await stage.begin('hold', holdOf(401n));
  assert.equal(stage.writes.length, 1);
  assert.deepEqual([held.told, again.told, poor.told], [null, null, null]);
  await writeAt(stage, 0).land('applied');
  assert.deepEqual([held.told?.status, again.told?.status], ['held', 'held']);
  assert.deepEqual(poor.told, {
    status: 'insufficient',
    requiredMicros: 401n,
    availableMicros: 400n,
  });
});

test('what another batch reads waits until nothing is on its way', async () => {
  const stage = openStage();
  await stage.begin('hold', holdOf(600n));
  await stage.begin('hold', holdOf(100n));
  await writeAt(stage, 0).land('conflict');
  assert.equal(stage.loads, 1, 'the second write may still be applied');
  await writeAt(stage, 1).land('conflict');
  assert.equal(stage.loads, 2);
});

test('a hold in doubt stays so when a later write is applied, and is cleared up', async () => {
  const stage = openStage();
  const hold = holdOf(600n);
  const first = await stage.begin('hold', hold);
  const second = await stage.begin('hold', holdOf(100n));
  const written = writeAt(stage, 0).write;
  await writeAt(stage, 0).land('unavailable');
  await writeAt(stage, 1).land('applied');
  assert.deepEqual([first.told?.status, second.told?.status], ['unavailable', 'held']);
  const { newHolds } = written;
  stage.stored = rowOf(writeAt(stage, 1).write.nextVersion, {
    balances: { ...noLegs(), walletMicros: 300n, heldMicros: 700n, purchaseMicros: -1_000n },
    grants: stage.stored.grants.map((grant) => ({ ...grant, heldMicros: 700n })),
    holds: [...newHolds, ...writeAt(stage, 1).write.newHolds],
  });
  const balance = await stage.begin('balance', {});
  assert.deepEqual(writeAt(stage, 2).write.endedHolds, [hold.holdId]);
  await writeAt(stage, 2).land('applied');
  assert.deepEqual(balance.told, { status: 'ok', availableMicros: 900n, heldMicros: 100n });
});

test('what a write says stays said while the next batch is decided', async () => {
  const stage = openStage();
  const hold = holdOf(600n);
  await stage.begin('hold', hold);
  const { newHolds, changedGrants } = writeAt(stage, 0).write;
  const extend = { holdId: hold.holdId, step: 1, amountMicros: 100n, minimumMicros: 1n };
  await stage.begin('extend', { ...extend, expiresAtMs: Date.now() });
  assert.equal(writeAt(stage, 1).write.changedHolds[0]?.amountMicros, 700n);
  assert.equal(newHolds[0]?.amountMicros, 600n);
  assert.equal(changedGrants[0]?.heldMicros, 600n);
});

let bank: Bank;
before(async () => {
  bank = await openBank();
});
after(() => bank.close());

test('a write of others between two that overlap voids both: the books are right', async () => {
  const [one, other] = [bank.branch(), bank.branch()];
  const walletId = await bank.newWallet();
  await one.ask(walletId, 'grant', purchase(1_000_000n));
  for (let round = 0; round < 50; round += 1) {
    await one.ask(walletId, 'hold', holdOf(1n));
    await other.ask(walletId, 'grant', purchase(10n));
    const asked = [one.ask(walletId, 'hold', holdOf(100n))];
    await nextTurn();
    asked.push(one.ask(walletId, 'hold', holdOf(10n)));
    for (const reply of await Promise.all(asked)) assert.equal(reply.status, 'held');
  }
  await bank.assertBooks();
  const reply = await bank.branch().ask(walletId, 'balance', {});
  assert.deepEqual(reply, {
    status: 'ok',
    availableMicros: 1_000_000n + 50n * 10n - 50n * 111n,
    heldMicros: 50n * 111n,
  });
});

test('hundreds at once on one wallet, and an end beside each hold: nothing is lost', async () => {
  const branch = bank.branch();
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(100_000n));
  const lives = Array.from({ length: 400 }, async (_, index) => {
    if (index % 7 === 0) await nextTurn();
    const hold = holdOf(100n);
    assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
    const { holdId } = hold;
    const release = { holdId, reason: 'failed' as const, finish: null };
    if (index % 3 === 0) return branch.ask(walletId, 'release', release);
    const settle = { holdId, chargeMicros: 40n, providerCostMicros: 38n, finish: null };
    return branch.ask(walletId, 'settle', settle);
  });
  const replies = await Promise.all(lives);
  const settled = replies.filter((reply) => reply.status === 'settled').length;
  assert.equal(settled, 266);
  const reply = await branch.ask(walletId, 'balance', {});
  const availableMicros = 100_000n - BigInt(settled) * 40n;
  assert.deepEqual(reply, { status: 'ok', availableMicros, heldMicros: 0n });
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});
