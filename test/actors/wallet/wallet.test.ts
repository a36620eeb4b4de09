// The wallet actor on a real database: what each operation does, its repetition, its refusal.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { failedUncharged, findGeneration, findGenerationByKey } from '../../../db/generations.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  freshId,
  holdOf,
  openBank,
  promotion,
  purchase,
} from './bank.ts';

let bank: Bank;
let branch: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
});
after(() => bank.close());

async function funded(amountMicros: bigint): Promise<string> {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(amountMicros));
  return walletId;
}

async function balanceOf(walletId: string): Promise<[bigint, bigint]> {
  const reply = await branch.ask(walletId, 'balance', {});
  assert.equal(reply.status, 'ok');
  return [reply.availableMicros, reply.heldMicros];
}

test('a hold is settled for less than it held, and the slack comes back', async () => {
  const walletId = await funded(1_000n);
  const hold = holdOf(400n);
  assert.deepEqual(await branch.ask(walletId, 'hold', hold), {
    status: 'held',
    availableMicros: 600n,
  });
  const settled = await branch.ask(walletId, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 150n,
    providerCostMicros: 142n,
    finish: null,
  });
  assert.deepEqual(settled, { status: 'settled', chargedMicros: 150n, shortfallMicros: 0n });
  assert.deepEqual(await balanceOf(walletId), [850n, 0n]);
  const [row] = await bank.sql`SELECT * FROM wallets WHERE id = ${walletId}`;
  assert.equal(row?.revenue_micros, 8n);
  assert.equal(row?.provider_cost_micros, 142n);
  assert.equal(row?.purchase_micros, -1_000n);
});

test('more than the hold is taken from what is available, the rest is a shortfall', async () => {
  const walletId = await funded(500n);
  const hold = holdOf(400n);
  await branch.ask(walletId, 'hold', hold);
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 650n,
    providerCostMicros: 600n,
    finish: null,
  };
  const settled = await branch.ask(walletId, 'settle', settle);
  assert.deepEqual(settled, { status: 'settled', chargedMicros: 650n, shortfallMicros: 150n });
  assert.deepEqual(await balanceOf(walletId), [0n, 0n]);
  assert.deepEqual(await branch.ask(walletId, 'settle', settle), settled, 'a repetition');
  const [row] = await bank.sql`SELECT * FROM wallets WHERE id = ${walletId}`;
  assert.equal(row?.shortfall_micros, -150n);
});

test('a hold that does not fit is refused with both figures', async () => {
  const walletId = await funded(100n);
  assert.deepEqual(await branch.ask(walletId, 'hold', holdOf(101n)), {
    status: 'insufficient',
    requiredMicros: 101n,
    availableMicros: 100n,
  });
});

test('of grants that are too much together one is refused, and the wallet goes on', async () => {
  const half = BigInt(Number.MAX_SAFE_INTEGER) / 2n + 1n;
  const walletId = await bank.newWallet();
  const replies = await Promise.all([
    branch.ask(walletId, 'grant', purchase(half)),
    branch.ask(walletId, 'hold', holdOf(5n)),
    branch.ask(walletId, 'grant', purchase(half)),
    branch.ask(walletId, 'hold', holdOf(5n)),
  ]);
  const statuses = replies.map((reply) => reply.status);
  assert.deepEqual(statuses, ['granted', 'held', 'too_much', 'held']);
  assert.deepEqual(await balanceOf(walletId), [half - 10n, 10n]);
});

test('a grant that was spent is known when it is repeated to a wallet that is full', async () => {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  const walletId = await bank.newWallet();
  const first = purchase(100n);
  const granted = await branch.ask(walletId, 'grant', first);
  const hold = holdOf(100n);
  await branch.ask(walletId, 'hold', hold);
  const { holdId } = hold;
  await branch.ask(walletId, 'settle', {
    holdId,
    chargeMicros: 100n,
    providerCostMicros: 95n,
    finish: null,
  });
  await branch.ask(walletId, 'grant', purchase(most));
  const again = await bank.branch().ask(walletId, 'grant', first);
  assert.deepEqual(again, { ...granted, availableMicros: most });
});

test('a wallet of 100 holds gives exactly 100 of 1,000 concurrent ones', async () => {
  const walletId = await funded(100n * 7n);
  const replies = await Promise.all(
    Array.from({ length: 1_000 }, () => branch.ask(walletId, 'hold', holdOf(7n))),
  );
  assert.equal(replies.filter((reply) => reply.status === 'held').length, 100);
  assert.equal(replies.filter((reply) => reply.status === 'insufficient').length, 900);
  assert.deepEqual(await balanceOf(walletId), [0n, 700n]);
});

test('an unknown wallet and an unknown hold are answers', async () => {
  const missing = freshId('wal');
  const hold = holdOf(1n);
  assert.deepEqual(await branch.ask(missing, 'hold', hold), { status: 'wallet_not_found' });
  assert.deepEqual(await branch.ask(missing, 'balance', {}), { status: 'wallet_not_found' });
  const walletId = await funded(10n);
  const settle = { holdId: hold.holdId, chargeMicros: 1n, providerCostMicros: 1n, finish: null };
  assert.deepEqual(await branch.ask(walletId, 'settle', settle), { status: 'hold_unknown' });
  const release = { holdId: hold.holdId, reason: 'failed' as const, finish: null };
  assert.deepEqual(await branch.ask(walletId, 'release', release), { status: 'not_active' });
});

test('every operation repeated gives the first outcome, also when memory is gone', async () => {
  const walletId = await funded(1_000n);
  const other = bank.branch();
  const hold = holdOf(100n);
  const grant = promotion(50n);
  const extend = {
    holdId: hold.holdId,
    step: 1,
    amountMicros: 30n,
    minimumMicros: 1n,
    expiresAtMs: Date.now() + 900_000,
  };
  const settle = { holdId: hold.holdId, chargeMicros: 70n, providerCostMicros: 60n, finish: null };
  for (const each of [branch, branch, other, branch]) {
    assert.equal((await each.ask(walletId, 'hold', hold)).status, 'held');
    assert.equal((await each.ask(walletId, 'grant', grant)).status, 'granted');
    assert.deepEqual(await each.ask(walletId, 'extend', extend), {
      status: 'extended',
      addedMicros: 30n,
    });
    assert.equal((await each.ask(walletId, 'settle', settle)).status, 'settled');
  }
  const fresh = bank.branch();
  assert.deepEqual(await fresh.ask(walletId, 'settle', settle), {
    status: 'settled',
    chargedMicros: 70n,
    shortfallMicros: 0n,
  });
  const grants = await fresh.ask(walletId, 'grant', grant);
  assert.deepEqual(grants, await branch.ask(walletId, 'grant', grant));
  assert.deepEqual(await balanceOf(walletId), [980n, 0n]);
});

test('promotions are spent by earliest expiry, then purchases, oldest first', async () => {
  const walletId = await bank.newWallet();
  const soon = Date.now() + 60_000;
  await branch.ask(walletId, 'grant', purchase(10n));
  bank.clock.aheadMs += 1;
  await branch.ask(walletId, 'grant', purchase(10n));
  await branch.ask(walletId, 'grant', promotion(10n));
  await branch.ask(walletId, 'grant', promotion(10n, soon + 1));
  await branch.ask(walletId, 'grant', promotion(10n, soon));
  const remaining = async (): Promise<number[]> => {
    const rows = await bank.sql<{ remaining_micros: bigint }[]>`
      SELECT remaining_micros FROM grants WHERE wallet_id = ${walletId}
      ORDER BY kind, expires_at, created_at`;
    return rows.map((row) => Number(row.remaining_micros));
  };
  const spend = async (amountMicros: bigint): Promise<void> => {
    const hold = holdOf(amountMicros);
    await branch.ask(walletId, 'hold', hold);
    await branch.ask(walletId, 'settle', {
      holdId: hold.holdId,
      chargeMicros: amountMicros,
      providerCostMicros: 0n,
      finish: null,
    });
  };
  await spend(12n);
  assert.deepEqual(await remaining(), [0, 8, 10, 10, 10]);
  await spend(20n);
  assert.deepEqual(await remaining(), [0, 0, 0, 8, 10]);
  await spend(9n);
  assert.deepEqual(await remaining(), [0, 0, 0, 0, 9]);
});

test('an expired promotion is gone before the next decision, and its slack with it', async () => {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', promotion(100n, bank.clock.nowMs() + 1_000));
  const hold = holdOf(40n);
  await branch.ask(walletId, 'hold', hold);
  bank.clock.aheadMs += 2_000;
  assert.deepEqual(await balanceOf(walletId), [0n, 40n]);
  assert.equal((await branch.ask(walletId, 'hold', holdOf(1n))).status, 'insufficient');
  await branch.ask(walletId, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 10n,
    providerCostMicros: 9n,
    finish: null,
  });
  assert.deepEqual(await balanceOf(walletId), [0n, 0n]);
  const [row] = await bank.sql`SELECT promotion_micros FROM wallets WHERE id = ${walletId}`;
  assert.equal(row?.promotion_micros, -10n);
});

test('an extension takes what there is, down to its minimum', async () => {
  const walletId = await funded(100n);
  const hold = holdOf(50n);
  await branch.ask(walletId, 'hold', hold);
  const extend = { holdId: hold.holdId, amountMicros: 40n, minimumMicros: 20n, expiresAtMs: 0 };
  const first = await branch.ask(walletId, 'extend', { ...extend, step: 1 });
  assert.deepEqual(first, { status: 'extended', addedMicros: 40n });
  const second = await branch.ask(walletId, 'extend', { ...extend, step: 2 });
  assert.deepEqual(second, { status: 'insufficient', availableMicros: 10n });
  const third = await branch.ask(walletId, 'extend', { ...extend, step: 3, minimumMicros: 10n });
  assert.deepEqual(third, { status: 'extended', addedMicros: 10n });
  await branch.ask(walletId, 'release', { holdId: hold.holdId, reason: 'failed', finish: null });
  assert.deepEqual(await balanceOf(walletId), [100n, 0n]);
  const late = await branch.ask(walletId, 'extend', { ...extend, step: 4 });
  assert.deepEqual(late, { status: 'hold_not_active' });
});

test('an extension by nothing renews the hold of an empty wallet', async () => {
  const walletId = await funded(50n);
  const hold = { ...holdOf(50n), expiresAtMs: bank.clock.nowMs() + 1_000 };
  await branch.ask(walletId, 'hold', hold);
  const expiresAtMs = bank.clock.nowMs() + 900_000;
  const nothing = { holdId: hold.holdId, amountMicros: 0n, minimumMicros: 0n, expiresAtMs };
  const reply = await branch.ask(walletId, 'extend', { ...nothing, step: 1 });
  assert.deepEqual(reply, { status: 'extended', addedMicros: 0n });
  const [row] = await bank.sql<{ at: Date }[]>`
    SELECT expires_at AS at FROM holds WHERE id = ${hold.holdId}`;
  assert.equal(row?.at.getTime(), expiresAtMs);
});

test('a settlement after expiry settles once, from what is available', async () => {
  const walletId = await funded(100n);
  const hold = { ...claimingHold(60n, 'late-key'), expiresAtMs: bank.clock.nowMs() - 1 };
  await branch.ask(walletId, 'hold', hold);
  const release = { holdId: hold.holdId, reason: 'expired' as const, finish: null };
  assert.deepEqual(await branch.ask(walletId, 'release', release), { status: 'released' });
  assert.deepEqual(await branch.ask(walletId, 'release', release), { status: 'not_active' });
  assert.deepEqual(await balanceOf(walletId), [100n, 0n]);
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 130n,
    providerCostMicros: 120n,
    finish: {
      kind: 'generation',
      id: hold.owner.id,
      status: 'completed' as const,
      answerJson: '{"text":"a\\"b\\\\c"}',
      usageJson: '{"input_tokens":3}',
      problemJson: null,
    },
  };
  const settled = { status: 'settled', chargedMicros: 130n, shortfallMicros: 30n };
  assert.deepEqual(await branch.ask(walletId, 'settle', settle), settled);
  assert.deepEqual(await bank.branch().ask(walletId, 'settle', settle), settled);
  const [row] = await bank.sql`SELECT * FROM generations WHERE id = ${hold.owner.id}`;
  assert.equal(row?.status, 'completed');
  assert.equal(row?.charge_micros, 130n);
  assert.equal(row?.answer, settle.finish.answerJson);
});

test('one of many concurrent claims of a key runs, also across two systems', async () => {
  const walletId = await funded(1_000_000n);
  const other = bank.branch();
  const holds = Array.from({ length: 60 }, () => claimingHold(10n, 'one-key'));
  const replies = await Promise.all(
    holds.map((hold, index) => (index % 2 === 0 ? branch : other).ask(walletId, 'hold', hold)),
  );
  const held = holds.filter((_, index) => replies[index]?.status === 'held');
  assert.equal(held.length, 1);
  for (const reply of replies) {
    if (reply.status === 'held') continue;
    assert.deepEqual(reply, { status: 'duplicate', generationId: held[0]?.owner.id });
  }
});

test('a key may run again after a failure without charge, and after its time', async () => {
  const walletId = await funded(1_000n);
  const claim = async (): Promise<[string, ReturnType<typeof claimingHold>]> => {
    const hold = claimingHold(10n, 'again');
    return [(await branch.ask(walletId, 'hold', hold)).status, hold];
  };
  const [first, failed] = await claim();
  assert.equal(first, 'held');
  assert.equal((await claim())[0], 'duplicate');
  await branch.ask(walletId, 'release', { holdId: failed.holdId, reason: 'failed', finish: null });
  const [second, completed] = await claim();
  assert.equal(second, 'held');
  await branch.ask(walletId, 'settle', {
    holdId: completed.holdId,
    chargeMicros: 5n,
    providerCostMicros: 5n,
    finish: null,
  });
  const [third, refused] = await claim();
  assert.equal(third, 'duplicate');
  assert.notEqual(refused.holdId, completed.holdId);
  await bank.sql`UPDATE generations SET created_at = now() - interval '25 hours'
    WHERE id = ${completed.owner.id}`;
  assert.equal((await claim())[0], 'held');
});

test('the age of a key goes by the clock of the routes, whatever the own one says', async () => {
  const walletId = await funded(1_000n);
  for (const [aheadMs, hours, status] of [
    [-3_600_000, 24.5, 'held'],
    [3_600_000, 23.5, 'duplicate'],
  ] as const) {
    const key = `hours-${hours}`;
    const first = claimingHold(10n, key);
    const { holdId } = first;
    await branch.ask(walletId, 'hold', first);
    await branch.ask(walletId, 'settle', {
      holdId,
      chargeMicros: 5n,
      providerCostMicros: 5n,
      finish: null,
    });
    await bank.sql`UPDATE generations SET created_at = now() - ${hours}::float8 * interval '1 hour'
      WHERE hold_id = ${holdId}`;
    const row = await findGenerationByKey(bank.sql, accountId, '/v1/chat/completions', key);
    assert.equal(row === null ? 'held' : 'duplicate', status);
    bank.clock.aheadMs = aheadMs;
    const again = await branch.ask(walletId, 'hold', claimingHold(10n, key));
    bank.clock.aheadMs = 0;
    assert.equal(again.status, status);
  }
});

test('a key is taken from those whom the routes would not replay, and from no other', async () => {
  const walletId = await funded(1_000n);
  for (const status of ['failed', 'cancelled'] as const) {
    for (const usageJson of [null, '{}']) {
      const key = `${status}-${usageJson}`;
      const hold = claimingHold(10n, key);
      await branch.ask(walletId, 'hold', hold);
      const { id } = hold.owner;
      const finish = {
        kind: 'generation',
        id,
        status,
        answerJson: null,
        usageJson,
        problemJson: null,
      };
      await branch.ask(walletId, 'release', { holdId: hold.holdId, reason: 'failed', finish });
      const row = await findGeneration(bank.sql, accountId, id);
      assert.ok(row !== null);
      const again = await branch.ask(walletId, 'hold', claimingHold(10n, key));
      assert.equal(again.status, failedUncharged(row) ? 'held' : 'duplicate', key);
    }
  }
});

test('an end that overtakes its own hold in one batch is written after it', async () => {
  const walletId = await funded(1_000n);
  const hold = claimingHold(10n, 'same-batch');
  const [held, settled] = await Promise.all([
    branch.ask(walletId, 'hold', hold),
    branch.ask(walletId, 'settle', {
      holdId: hold.holdId,
      chargeMicros: 4n,
      providerCostMicros: 4n,
      finish: null,
    }),
  ]);
  assert.equal(held.status, 'held');
  assert.equal(settled.status, 'settled');
  const [row] = await bank.sql`SELECT status FROM generations WHERE id = ${hold.owner.id}`;
  assert.equal(row?.status, 'completed');
});

test('a culprit in a batch is answered alone, its neighbours are not refused', async () => {
  const walletId = await funded(1_000n);
  const other = bank.branch();
  await other.ask(walletId, 'hold', claimingHold(10n, 'taken'));
  const holds = Array.from({ length: 20 }, (_, index) =>
    claimingHold(10n, index === 7 ? 'taken' : `free-${index}`),
  );
  const replies = await Promise.all(holds.map((hold) => branch.ask(walletId, 'hold', hold)));
  assert.equal(replies.filter((reply) => reply.status === 'held').length, 19);
  assert.equal(replies[7]?.status, 'duplicate');
});

test('what another process gave or took is known to every answer', async () => {
  const walletId = await funded(10n);
  const other = bank.branch();
  const balance = async (each: Branch) => each.ask(walletId, 'balance', {});
  assert.deepEqual(await balance(branch), await balance(other));
  await other.ask(walletId, 'grant', purchase(90n));
  assert.equal((await branch.ask(walletId, 'hold', holdOf(100n))).status, 'held');
  assert.deepEqual(await other.ask(walletId, 'hold', holdOf(1n)), {
    status: 'insufficient',
    requiredMicros: 1n,
    availableMicros: 0n,
  });
  await branch.ask(walletId, 'grant', purchase(5n));
  assert.deepEqual(await balance(other), { status: 'ok', availableMicros: 5n, heldMicros: 100n });
});

test('many wallets at once share statements and keep their books', async () => {
  const wallets = await Promise.all(Array.from({ length: 60 }, () => funded(1_000n)));
  await Promise.all(
    wallets.flatMap((walletId) =>
      Array.from({ length: 3 }, async () => {
        const hold = claimingHold(100n, null);
        await branch.ask(walletId, 'hold', hold);
        await branch.ask(walletId, 'settle', {
          holdId: hold.holdId,
          chargeMicros: 33n,
          providerCostMicros: 31n,
          finish: null,
        });
      }),
    ),
  );
  for (const walletId of wallets) assert.deepEqual(await balanceOf(walletId), [901n, 0n]);
});

test('a malformed amount is refused without harm to the batch', async () => {
  const walletId = await funded(1_000n);
  const [bad, good] = await Promise.all([
    branch.ask(walletId, 'hold', holdOf(-1n)),
    branch.ask(walletId, 'hold', holdOf(1n)),
  ]);
  assert.equal(bad.status, 'unavailable');
  assert.equal(good.status, 'held');
  assert.match(bank.errors.splice(0).join(), /malformed/);
});

test('after all that the books are right', async () => {
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});
