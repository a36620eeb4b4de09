// Spend limits of keys on a real database. No number of holds at once passes one. A hold counts in
// the period in which it was made, and the counter is right however it ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ReleaseRequest, SettleRequest } from '../../../actors/wallet/protocol.ts';
import { recoverDead } from '../../../actors/wallet/recovery.ts';
import { sweepOnce } from '../../../actors/wallet/sweep.ts';
import { auditLedger } from '../../../db/audit.ts';
import { registerInstance } from '../../../db/instances.ts';
import { accountId, type Bank, type Branch, openBank } from './bank.ts';
import {
  countersOf,
  fundedWallet,
  keyHold,
  limitOf,
  newKey,
  setLimit,
  settlement,
} from './limited-keys.ts';

let bank: Bank;
let branches: [Branch, Branch];
before(async () => {
  bank = await openBank();
  branches = [bank.branch(), bank.branch()];
});
after(() => bank.close());

const ask: Branch['ask'] = (walletId, message, payload) =>
  branches[0].ask(walletId, message, payload);

async function spentAndHeld(keyId: string): Promise<[number, number]> {
  const [counter, ...others] = await countersOf(bank, keyId);
  assert.ok(counter !== undefined && others.length === 0, 'one counter');
  return [counter.spent, counter.held];
}

test('of 1,000 holds at once on a limit for 100, 100 are held', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, limitOf(1_000));
  const holds = Array.from({ length: 1_000 }, () => keyHold(keyId, 10));
  const replies = await Promise.all(
    holds.map((hold, index) => branches[index % 2]?.ask(walletId, 'hold', hold)),
  );
  const held = holds.filter((_, index) => replies[index]?.status === 'held');
  assert.equal(held.length, 100);
  const refused = replies.find((reply) => reply?.status === 'over_limit');
  assert.deepEqual(refused, {
    status: 'over_limit',
    requiredMicros: 10n,
    availableMicros: 0n,
    cap: { kind: 'key', spender: keyId, resetsAtMs: null },
  });
  assert.equal(replies.filter((reply) => reply?.status === 'over_limit').length, 900);
  assert.deepEqual(await spentAndHeld(keyId), [0, 1_000]);
  await bank.assertBooks();
  // Half of them give back, the others are charged: as much may be held again.
  await Promise.all(
    held.map(async (hold, index) => {
      if (index % 2 === 0) return ask(walletId, 'settle', settlement(hold, 7));
      return ask(walletId, 'release', { holdId: hold.holdId, reason: 'failed', finish: null });
    }),
  );
  assert.deepEqual(await spentAndHeld(keyId), [350, 0]);
  const most = await ask(walletId, 'hold', keyHold(keyId, 651));
  assert.equal(most.status, 'over_limit');
  assert.equal((await ask(walletId, 'hold', keyHold(keyId, 650))).status, 'held');
  await bank.assertBooks();
});

test('an extension gets what the limit leaves, and a charge beyond it is a shortfall', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, limitOf(100));
  const hold = keyHold(keyId, 60);
  const other = keyHold(keyId, 15);
  for (const each of [hold, other]) await ask(walletId, 'hold', each);
  const { holdId } = hold;
  const more = { holdId, step: 1, amountMicros: 50n, expiresAtMs: Date.now() + 900_000 };
  const none = await ask(walletId, 'extend', { ...more, minimumMicros: 26n });
  assert.deepEqual(none, { status: 'insufficient', availableMicros: 25n });
  const some = await ask(walletId, 'extend', { ...more, minimumMicros: 1n });
  assert.deepEqual(some, { status: 'extended', addedMicros: 25n });
  assert.deepEqual(await spentAndHeld(keyId), [0, 100]);
  const checkpoint = { id: hold.owner.id, dueMicros: 70n, dueProviderMicros: 0n };
  const request = { holdId, step: 2, keepMicros: 80n, checkpoint };
  assert.equal((await ask(walletId, 'reduce', request)).status, 'reduced');
  assert.deepEqual(await spentAndHeld(keyId), [0, 95]);
  // 80 are held, and the limit leaves 5 beside them.
  const charged = await ask(walletId, 'settle', settlement(hold, 95));
  assert.deepEqual(charged, { status: 'settled', chargedMicros: 95n, shortfallMicros: 10n });
  assert.deepEqual(await spentAndHeld(keyId), [85, 15]);
  const last = await ask(walletId, 'settle', settlement(other, 40));
  assert.equal(last.status === 'settled' && last.shortfallMicros, 25n);
  assert.deepEqual(await spentAndHeld(keyId), [100, 0]);
  await bank.assertBooks();
});

test('a limit of 0 allows what costs nothing, one below what is spent cuts nothing', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, limitOf(0));
  assert.equal((await ask(walletId, 'hold', keyHold(keyId, 1))).status, 'over_limit');
  const free = keyHold(keyId, 0);
  assert.equal((await ask(walletId, 'hold', free)).status, 'held');
  await ask(walletId, 'release', { holdId: free.holdId, reason: 'failed', finish: null });
  await setLimit(bank, keyId, limitOf(100));
  const hold = keyHold(keyId, 80);
  await ask(walletId, 'hold', hold);
  await setLimit(bank, keyId, limitOf(20));
  assert.equal((await ask(walletId, 'hold', keyHold(keyId, 1))).status, 'over_limit');
  const settled = await ask(walletId, 'settle', settlement(hold, 80));
  assert.equal(settled.status === 'settled' && settled.shortfallMicros, 0n);
  assert.deepEqual(await spentAndHeld(keyId), [80, 0]);
  await bank.assertBooks();
});

test('a key without a limit writes no counter, beside one that has', async () => {
  const walletId = await fundedWallet(bank);
  await newKey(bank, walletId, limitOf(1));
  const keyId = await newKey(bank, walletId, null);
  const hold = keyHold(keyId, 50);
  assert.equal((await ask(walletId, 'hold', hold)).status, 'held');
  await ask(walletId, 'settle', settlement(hold, 50));
  assert.deepEqual(await countersOf(bank, keyId), []);
});

const utc = (text: string) => Date.parse(`${text}Z`);

test('midnight and the end of a month begin a new period, for what begins then', async () => {
  const year = new Date().getUTCFullYear() + 1;
  const cases = [
    ['day', `${year}-03-09T23:59:59.999`, `${year}-03-10T00:00:00`, 86_400_000],
    ['month', `${year}-12-31T23:59:59.999`, `${year + 1}-01-01T00:00:00`, 31 * 86_400_000],
  ] as const;
  for (const [period, last, first, lengthMs] of cases) {
    const walletId = await fundedWallet(bank);
    const keyId = await newKey(bank, walletId, limitOf(100, period));
    const before = keyHold(keyId, 70, utc(last));
    assert.equal((await ask(walletId, 'hold', before)).status, 'held');
    const refused = await ask(walletId, 'hold', keyHold(keyId, 31, utc(last)));
    assert.equal(refused.status === 'over_limit' && refused.cap.resetsAtMs, utc(first));
    const behind = keyHold(keyId, 100, utc(first));
    const held = await ask(walletId, 'hold', behind);
    assert.deepEqual(held, { status: 'held', availableMicros: 0n });
    const full = await ask(walletId, 'hold', keyHold(keyId, 1, utc(first) + lengthMs - 1));
    assert.equal(full.status === 'over_limit' && full.cap.resetsAtMs, utc(first) + lengthMs);
    // It ends in the next period, and counts where it began; so does what it is charged beyond.
    await ask(walletId, 'settle', settlement(before, 90));
    await ask(walletId, 'settle', settlement(behind, 10));
    const counted = (await countersOf(bank, keyId)).filter(({ spent }) => spent > 0);
    assert.deepEqual(
      counted.map(({ spent, held }) => [spent, held]),
      [
        [90, 0],
        [10, 0],
      ],
      period,
    );
    await bank.assertBooks();
  }
});

test('however a hold ends without its owner, its counter follows', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, limitOf(100));
  const dead = keyHold(keyId, 40);
  const slow = { ...keyHold(keyId, 30), expiresAtMs: Date.now() - 1 };
  dead.owner.instanceId = 'i-dead';
  for (const id of ['i-dead', 'i-new']) await registerInstance(bank.sql, id, 60_000);
  for (const hold of [dead, slow]) await ask(walletId, 'hold', hold);
  const ends = {
    release: (id: string, request: ReleaseRequest) => ask(id, 'release', request),
    settle: (id: string, request: SettleRequest) => ask(id, 'settle', request),
  };
  const touch = (id: string) => ask(id, 'balance', {});
  const swept = {
    ...ends,
    instanceId: 'instance-1',
    clock: bank.clock.nowMs,
    touch,
    keyKeptMs: 1e9,
  };
  await sweepOnce(bank.sql, swept);
  assert.deepEqual(await spentAndHeld(keyId), [0, 40], 'expired: it waits for its owner');
  await recoverDead(bank.sql, {
    instanceId: 'i-new',
    others: 'none',
    previousInstanceIds: ['i-dead'],
    ...ends,
  });
  assert.deepEqual(await spentAndHeld(keyId), [0, 0]);
  await bank.assertBooks();
  // Both owners live, and settle late: what the limit leaves is taken, and counted.
  await branches[1].ask(walletId, 'settle', settlement(slow, 30));
  await branches[1].ask(walletId, 'settle', settlement(dead, 90));
  assert.deepEqual(await spentAndHeld(keyId), [100, 0]);
  await bank.assertBooks();
});

test('a look knows the limit of whoever looks', async () => {
  const walletId = await fundedWallet(bank, 1_000n);
  const keyId = await newKey(bank, walletId, limitOf(50, 'month'));
  await ask(walletId, 'hold', keyHold(keyId, 20));
  const look = (apiKeyId: string | null) =>
    ask(walletId, 'look', { amountMicros: 40n, spender: { accountId, apiKeyId } });
  const own = await look(keyId);
  assert.equal(own.status === 'ok' && own.availableMicros, 30n);
  assert.equal(own.status === 'ok' && own.cap?.spender, keyId);
  assert.deepEqual(await look(null), { status: 'ok', availableMicros: 980n, heldMicros: 20n });
});

test('a new limit counts what was settled and is held in its period', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, null);
  const settled = keyHold(keyId, 30);
  const short = keyHold(keyId, 10);
  const running = keyHold(keyId, 25);
  const lastMonth = keyHold(keyId, 40, Date.now() - 32 * 86_400_000);
  for (const hold of [settled, short, running, lastMonth]) await ask(walletId, 'hold', hold);
  await ask(walletId, 'settle', settlement(settled, 30));
  await ask(walletId, 'settle', settlement(lastMonth, 40));
  await ask(walletId, 'settle', settlement(short, 12));
  await setLimit(bank, keyId, limitOf(100, 'month'));
  const now = (await countersOf(bank, keyId)).at(-1);
  assert.deepEqual([now?.spent, now?.held], [42, 25]);
  await setLimit(bank, keyId, limitOf(100, 'total'));
  assert.deepEqual(await spentAndHeld(keyId), [82, 25]);
  await bank.assertBooks();
  assert.equal((await ask(walletId, 'hold', keyHold(keyId, 1))).status, 'over_limit');
  await setLimit(bank, keyId, null);
  assert.deepEqual(await countersOf(bank, keyId), []);
  assert.equal((await ask(walletId, 'hold', keyHold(keyId, 500))).status, 'held');
  await ask(walletId, 'settle', settlement(running, 25));
  await bank.assertBooks();
});

test('what has counters that are wrong is found', async () => {
  const walletId = await fundedWallet(bank);
  const keyId = await newKey(bank, walletId, limitOf(100));
  const [settled, held] = [keyHold(keyId, 10), keyHold(keyId, 20)];
  for (const hold of [settled, held]) await ask(walletId, 'hold', hold);
  await ask(walletId, 'settle', settlement(settled, 10));
  const of = `spender = '${keyId}'`;
  const faults = [
    [`UPDATE spend SET spent_micros = spent_micros + 1 WHERE ${of}`, /spent is what it was/],
    [`UPDATE spend SET held_micros = held_micros - 1 WHERE ${of}`, /what its holds have/],
    [`UPDATE holds SET amount_micros = 21 WHERE id = '${held.holdId}'`, /what its holds have/],
    [`DELETE FROM spend WHERE ${of}`, /what its holds have/],
    [`UPDATE spend SET period = 'day' WHERE ${of}`, /limited by/],
    [`UPDATE generations SET charge_micros = 9 WHERE id = '${settled.owner.id}'`, /spent is what/],
  ] as const;
  for (const [fault, rule] of faults) {
    const broken = await bank.sql
      .begin(async (transaction) => {
        await transaction.unsafe(fault);
        const asIt = { begin: (_how: string, run: (sql: unknown) => unknown) => run(transaction) };
        const findings = await auditLedger(asIt as never);
        throw new Found(findings.filter((finding) => finding.broken > 0n).map((each) => each.rule));
      })
      .catch((error: unknown) => {
        if (error instanceof Found) return error.rules;
        throw error;
      });
    assert.ok(
      broken.some((name) => rule.test(name)),
      `${fault}: ${broken.join(', ')}`,
    );
  }
  await bank.assertBooks();
});

/** Takes a fault back. */
class Found extends Error {
  readonly rules: string[];
  constructor(rules: string[]) {
    super('found');
    this.rules = rules;
  }
}
