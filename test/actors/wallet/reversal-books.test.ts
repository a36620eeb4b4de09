// Purchases, reversals and debt on a real database: rows move with the entries, in one statement,
// once, whoever asks how often. Two processes may race on one wallet.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as setTurn } from 'node:timers/promises';
import { collectDebts } from '../../../actors/wallet/collecting.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { operation } from '../../../actors/wallet/ledger.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { RestoreReply, ReverseReply } from '../../../actors/wallet/protocol.ts';
import { auditLedger } from '../../../db/audit.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { accountId, type Bank, type Branch, freshId, holdOf, openBank, promotion } from './bank.ts';

let bank: Bank;
let branch: Branch;
let other: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  other = bank.branch();
});
after(() => bank.close());

/** A purchase that was paid, and waits for its credits. */
async function paid(walletId: string, credits: bigint): Promise<string> {
  const id = freshId('pur');
  await bank.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency, paid_at)
    VALUES (${id}, ${accountId}, ${walletId}, 'small', 'paid', ${credits}, 100, 'usd', now())`;
  return id;
}

const paidGrant = (id: string, amountMicros: bigint) => ({
  operationId: operation.paid(id),
  kind: 'purchase' as const,
  amountMicros,
  expiresAtMs: null,
  note: 'test',
  owner: { kind: 'purchase' as const, id },
});

async function buy(walletId: string, credits: bigint): Promise<string> {
  const id = await paid(walletId, credits);
  const reply = await branch.ask(walletId, 'grant', paidGrant(id, credits));
  assert.equal(reply.status, 'granted');
  return id;
}

/** What facts do: the target moves, and the difference is the next step. */
async function ask(walletId: string, purchaseId: string, micros: bigint): Promise<number> {
  const [row] = await bank.sql<{ step: number }[]>`
    UPDATE purchases SET target_micros = target_micros + ${micros}, step = step + 1
    WHERE id = ${purchaseId} RETURNING step`;
  assert.ok(row !== undefined);
  await bank.sql`
    INSERT INTO purchase_steps (purchase_id, step, wallet_id, micros, reason)
    VALUES (${purchaseId}, ${row.step}, ${walletId}, ${micros},
      ${micros > 0n ? 'refund' : 'restore'})`;
  return row.step;
}

/** Posts a step, and again while the wallet cannot say: two that race may lose many times. */
async function post(
  by: Branch,
  walletId: string,
  purchaseId: string,
  step: number,
  micros: bigint,
): Promise<ReverseReply | RestoreReply> {
  const amountMicros = micros > 0n ? micros : -micros;
  const message = micros > 0n ? 'reverse' : 'restore';
  for (let attempt = 0; ; attempt += 1) {
    const reply = await by.ask(walletId, message, { purchaseId, step, amountMicros });
    if (reply.status !== 'unavailable' || attempt === 5) return reply;
  }
}

async function rowOf(id: string) {
  const [row] = await bank.sql`
    SELECT status, completed_at IS NOT NULL AS done, reversed_micros AS reversed,
      debt_micros AS debt FROM purchases WHERE id = ${id}`;
  return { ...row };
}

const balanceOf = async (walletId: string) => {
  const reply = await other.ask(walletId, 'balance', {});
  assert.equal(reply.status, 'ok');
  return [reply.availableMicros, reply.heldMicros];
};

test('a purchase is completed in the statement of its grant, once', async () => {
  const walletId = await bank.newWallet();
  const id = await paid(walletId, 100n);
  const request = paidGrant(id, 100n);
  const replies = await Promise.all(
    [branch, other, branch, other].map((by) => by.ask(walletId, 'grant', request)),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set(['granted']));
  assert.deepEqual(await balanceOf(walletId), [100n, 0n]);
  assert.deepEqual(await rowOf(id), { status: 'completed', done: true, reversed: 0n, debt: 0n });
  await bank.assertBooks();
});

test('what is spent becomes debt, which later credits pay', async () => {
  const walletId = await bank.newWallet();
  const id = await buy(walletId, 100n);
  const spending = holdOf(60n);
  const waiting = holdOf(30n);
  for (const each of [spending, waiting]) await branch.ask(walletId, 'hold', each);
  const charge = { chargeMicros: 60n, providerCostMicros: 0n, finish: null };
  await branch.ask(walletId, 'settle', { holdId: spending.holdId, ...charge });
  const step = await ask(walletId, id, 100n);
  const first = await post(branch, walletId, id, step, 100n);
  assert.deepEqual(first, { status: 'reversed', takenMicros: 10n, debtMicros: 90n });
  assert.deepEqual(await post(other, walletId, id, step, 100n), first, 'another process');
  assert.deepEqual(await balanceOf(walletId), [0n, 30n]);
  const owing = { status: 'completed', done: true, reversed: 100n, debt: 90n };
  assert.deepEqual(await rowOf(id), owing);
  await bank.assertBooks();
  // A promotion is left alone; what a hold gives back is collected by the round.
  await branch.ask(walletId, 'grant', promotion(50n));
  await branch.ask(walletId, 'release', { holdId: waiting.holdId, reason: 'failed', finish: null });
  assert.deepEqual(await balanceOf(walletId), [80n, 0n]);
  const perform = createDirectWallet({
    sql: bank.sql,
    clock: bank.clock.nowMs,
    limits: walletLimits,
    log: { warn: () => {}, error: () => {} },
  });
  assert.equal(await collectDebts(bank.sql, perform), 1);
  assert.equal(await collectDebts(bank.sql, perform), 0, 'nobody else can pay');
  assert.deepEqual(await balanceOf(walletId), [50n, 0n]);
  assert.deepEqual(await rowOf(id), { ...owing, debt: 60n });
  const next = await buy(walletId, 100n);
  assert.deepEqual(await balanceOf(walletId), [90n, 0n]);
  assert.deepEqual(await rowOf(id), { ...owing, debt: 0n });
  assert.deepEqual(await rowOf(next), { ...owing, reversed: 0n, debt: 0n });
  const back = await ask(walletId, id, -100n);
  const given = await post(branch, walletId, id, back, -100n);
  assert.deepEqual(given, { status: 'restored', recoveredMicros: 0n });
  assert.deepEqual(await balanceOf(walletId), [190n, 0n]);
  assert.deepEqual(await rowOf(id), { ...owing, reversed: 0n, debt: 0n });
  await bank.assertBooks();
});

test('a wallet that is not there says so', async () => {
  const request = { purchaseId: freshId('pur'), step: 1, amountMicros: 1n };
  for (const message of ['reverse', 'restore'] as const) {
    const reply = await branch.ask(freshId('wal'), message, request);
    assert.deepEqual(reply, { status: 'wallet_not_found' });
  }
  const collected = await branch.ask(freshId('wal'), 'collect', { operationId: freshId('col') });
  assert.deepEqual(collected, { status: 'wallet_not_found' });
});

test('a step that is asked for again while its write is on its way is posted once', async () => {
  const walletId = await bank.newWallet();
  const id = await buy(walletId, 100n);
  await post(branch, walletId, id, await ask(walletId, id, 100n), 100n);
  const step = await ask(walletId, id, -100n);
  const asked: ReturnType<typeof post>[] = [];
  for (let count = 0; count < 20; count += 1) {
    asked.push(post(branch, walletId, id, step, -100n));
    await setTurn();
  }
  const replies = await Promise.all(asked);
  const restored = { status: 'restored', recoveredMicros: 0n } as const;
  assert.deepEqual(
    replies,
    Array.from(replies, () => restored),
  );
  assert.deepEqual(bank.errors, []);
  await bank.assertBooks();
});

test('two processes race on one wallet, and each step is posted once', async () => {
  console.log(`seed ${testSeed}`);
  const random = createRandom(testSeed);
  const pick = (most: number) => Math.floor(random() * most);
  const walletId = await bank.newWallet();
  const bought = await Promise.all([300n, 200n, 100n].map((credits) => buy(walletId, credits)));
  /** Facts of one purchase, in their order: each is posted twice, by whoever. */
  const facts = async (purchaseId: string) => {
    let reversed = 0n;
    for (let count = 0; count < 12; count += 1) {
      const most = reversed > 0n && pick(2) === 0 ? -reversed : 40n;
      const micros = most < 0n ? most / BigInt(1 + pick(2)) || most : BigInt(1 + pick(40));
      reversed += micros;
      const step = await ask(walletId, purchaseId, micros);
      const replies = await Promise.all(
        [branch, other, branch].map((by) => post(by, walletId, purchaseId, step, micros)),
      );
      assert.notEqual(replies[0]?.status, 'unavailable');
      for (const reply of replies) assert.deepEqual(reply, replies[0], `seed ${testSeed}`);
    }
  };
  const spend = async (by: Branch) => {
    for (let count = 0; count < 20; count += 1) {
      const hold = holdOf(BigInt(1 + pick(60)));
      if ((await by.ask(walletId, 'hold', hold)).status !== 'held') continue;
      const { holdId } = hold;
      if (pick(3) === 0) {
        await by.ask(walletId, 'release', { holdId, reason: 'failed', finish: null });
      } else {
        const charge = { chargeMicros: BigInt(pick(50)), providerCostMicros: 0n, finish: null };
        await by.ask(walletId, 'settle', { holdId, ...charge });
      }
      await by.ask(walletId, 'collect', { operationId: freshId('col') });
    }
  };
  await Promise.all([...bought.map(facts), spend(branch), spend(other)]);
  const [row] = await bank.sql<{ open: bigint; wrong: bigint }[]>`
    SELECT (SELECT count(*) FROM purchase_steps WHERE posted_at IS NULL) AS open,
      (SELECT count(*) FROM purchases WHERE reversed_micros <> target_micros) AS wrong`;
  assert.deepEqual({ ...row }, { open: 0n, wrong: 0n });
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});

/** Changes the books by hand; the rules that find it. */
async function findings(walletId: string, purchaseId: string, wrong: string): Promise<string[]> {
  const text = wrong.replaceAll('$P', `'${purchaseId}'`).replaceAll('$W', `'${walletId}'`);
  await bank.sql.unsafe(text);
  const found = (await auditLedger(bank.sql)).filter(({ broken }) => broken > 0n);
  return found.map(({ rule, examples }) => `${rule}: ${examples[0]}`);
}

const faults: readonly [string, string, string, RegExp][] = [
  [
    'a purchase that was never credited',
    'UPDATE purchases SET credits_micros = 101 WHERE id = $P',
    'UPDATE purchases SET credits_micros = 100 WHERE id = $P',
    /one grant.*granted 100 of 101/,
  ],
  [
    'a grant without its purchase',
    "UPDATE purchases SET status = 'expired' WHERE id = $P",
    "UPDATE purchases SET status = 'completed' WHERE id = $P",
    /one grant.*its purchase is expired/,
  ],
  [
    'a step that was not counted',
    'UPDATE purchases SET reversed_micros = 30 WHERE id = $P',
    'UPDATE purchases SET reversed_micros = 40 WHERE id = $P',
    /its steps say.*reversed 30, steps 40, target 40/,
  ],
  [
    'a target that nobody posted',
    'UPDATE purchases SET target_micros = 50 WHERE id = $P',
    'UPDATE purchases SET target_micros = 40 WHERE id = $P',
    /its steps say.*reversed 40, steps 40, target 50/,
  ],
  [
    'a step that is not in the journal',
    "INSERT INTO purchase_steps VALUES ($P, 9, $W, 5, 'refund', now(), now())",
    'DELETE FROM purchase_steps WHERE purchase_id = $P AND step = 9',
    /is in the journal.*rev.9: journal nothing, step 5/,
  ],
  [
    'debt that no reversal left',
    'UPDATE purchases SET debt_micros = 7 WHERE id = $P',
    'UPDATE purchases SET debt_micros = 0 WHERE id = $P',
    /owe.*owed 7, journal 0/,
  ],
];

test('each rule finds what is wrong with a purchase', async () => {
  const walletId = await bank.newWallet();
  const id = await buy(walletId, 100n);
  await post(branch, walletId, id, await ask(walletId, id, 40n), 40n);
  for (const [title, wrong, right, told] of faults) {
    const found = await findings(walletId, id, wrong);
    assert.ok(
      found.some((line) => told.test(line)),
      `${title}: ${found.join('; ')}`,
    );
    assert.deepEqual(await findings(walletId, id, right), [], `${title}: mended`);
  }
});
