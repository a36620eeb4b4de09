// What is left behind: by dead processes, by holds that expired, by databases that went away.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { ledgerLimits, walletLimits } from '../../../actors/wallet/limits.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { type Release, recoverDead, type Settle } from '../../../actors/wallet/recovery.ts';
import { endExpired, sweepOnce } from '../../../actors/wallet/sweep.ts';
import { findGeneration, findGenerationByKey } from '../../../db/generations.ts';
import { registerInstance } from '../../../db/instances.ts';
import { createSession } from '../../../db/sessions.ts';
import { newId } from '../../../runtime/ids.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  holdOf,
  instanceId,
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

const log = { warn: () => {}, error: () => {} };
const route = '/v1/chat/completions';

test('a dead instance loses its holds, its generations fail, their keys run again', async () => {
  const walletId = await funded(100_000n);
  const direct = createDirectWallet({
    sql: bank.database.pool('ledger', 2),
    clock: bank.clock.nowMs,
    limits: walletLimits,
    log,
  });
  await registerInstance(bank.sql, 'i-old', 60_000);
  await registerInstance(bank.sql, 'i-new', 60_000);
  const owned = (instanceId: string, key: string) => {
    const hold = claimingHold(10n, key);
    return { ...hold, owner: { ...hold.owner, instanceId } };
  };
  const dead = Array.from({ length: 700 }, (_, index) => owned('i-old', `dead-${index}`));
  const alive = owned('i-new', 'alive');
  await Promise.all([...dead, alive].map((hold) => branch.ask(walletId, 'hold', hold)));
  const options = {
    instanceId: 'i-new',
    others: 'all' as const,
    release: ((id, request) => direct(id, 'release', request)) satisfies Release,
    settle: ((id, request) => direct(id, 'settle', request)) satisfies Settle,
  };
  // Twice at once, then again: nothing happens twice.
  const both = await Promise.all([recoverDead(bank.sql, options), recoverDead(bank.sql, options)]);
  assert.ok(both.every((recovered) => recovered.complete));
  assert.deepEqual(await recoverDead(bank.sql, options), {
    instances: 0,
    holds: 0,
    complete: true,
  });
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 99_990n, heldMicros: 10n });
  const [first] = dead;
  assert.ok(first !== undefined);
  const failed = await findGeneration(bank.sql, accountId, first.owner.id);
  assert.equal(failed?.status, 'failed');
  assert.equal((await branch.ask(walletId, 'hold', owned('i-new', 'dead-0'))).status, 'held');
  assert.equal((await findGenerationByKey(bank.sql, accountId, route, 'alive'))?.status, 'running');
});

test('a settlement of a process that was given up too early settles once', async () => {
  const walletId = await funded(1_000n);
  const hold = claimingHold(100n, null);
  await branch.ask(walletId, 'hold', hold);
  await branch.ask(walletId, 'release', {
    holdId: hold.holdId,
    reason: 'recovered',
    finish: null,
  });
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 30n,
    providerCostMicros: 20n,
    finish: {
      kind: 'generation',
      id: hold.owner.id,
      status: 'completed' as const,
      answerJson: '{}',
      usageJson: '{}',
      problemJson: null,
    },
  };
  const settled = { status: 'settled', chargedMicros: 30n, shortfallMicros: 0n };
  assert.deepEqual(await branch.ask(walletId, 'settle', settle), settled);
  assert.deepEqual(await bank.branch().ask(walletId, 'settle', settle), settled);
  const generation = await findGeneration(bank.sql, accountId, hold.owner.id);
  assert.deepEqual([generation?.status, generation?.chargeMicros], ['completed', 30n]);
});

test('the sweep releases expired holds, expires grants and frees old keys', async () => {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', promotion(1_000n, bank.clock.nowMs() + 10_000));
  await branch.ask(walletId, 'grant', purchase(1_000n));
  const expired = { ...claimingHold(10n, 'swept'), expiresAtMs: bank.clock.nowMs() + 5_000 };
  const lasting = { ...holdOf(10n), expiresAtMs: bank.clock.nowMs() + 3_600_000 };
  await branch.ask(walletId, 'hold', expired);
  await branch.ask(walletId, 'hold', lasting);
  const quiet = await bank.newWallet();
  await branch.ask(quiet, 'grant', promotion(1_000n, bank.clock.nowMs() + 10_000));
  const release: Release = (id, request) => branch.ask(id, 'release', request);
  const touch = (id: string) => branch.ask(id, 'balance', {});
  const { keyKeptMs } = walletLimits;
  const settle: Settle = (id, request) => branch.ask(id, 'settle', request);
  const options = { clock: bank.clock.nowMs, instanceId, keyKeptMs, release, settle, touch };
  const sweep = () => sweepOnce(bank.sql, options);
  assert.equal((await sweep()).releasedHolds, 0);
  bank.clock.aheadMs += 11_000;
  const swept = await sweep();
  assert.deepEqual([swept.releasedHolds, swept.expiredWallets], [1, 1]);
  assert.deepEqual(await branch.ask(walletId, 'balance', {}), {
    status: 'ok',
    availableMicros: 1_000n,
    heldMicros: 10n,
  });
  // Its generation still runs: the owner may settle late. Nobody comes: it is given up.
  const { id } = expired.owner;
  assert.equal((await findGeneration(bank.sql, accountId, id))?.status, 'running');
  bank.clock.aheadMs += ledgerLimits.abandonedAfterMs - 60_000;
  assert.equal((await sweep()).abandonedHolds, 0);
  bank.clock.aheadMs += 120_000;
  assert.equal((await sweep()).abandonedHolds, 1);
  assert.equal((await findGeneration(bank.sql, accountId, id))?.status, 'failed');

  const fresh = claimingHold(10n, 'old-key');
  const generationId = newId('req', 1);
  assert.ok(fresh.claim !== null);
  const hold = {
    ...fresh,
    owner: { ...fresh.owner, id: generationId },
    claim: { ...fresh.claim, id: generationId },
  };
  await branch.ask(walletId, 'hold', hold);
  await branch.ask(walletId, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 1n,
    providerCostMicros: 1n,
    finish: null,
  });
  bank.clock.aheadMs += walletLimits.keyKeptMs;
  const tokenHash = randomBytes(32);
  await createSession(bank.sql, { tokenHash, accountId, expiresAt: new Date(Date.now() - 1) });
  assert.equal((await sweep()).sessionsForgotten, 1);
  const generation = await findGeneration(bank.sql, accountId, generationId);
  assert.deepEqual([generation?.status, generation?.idempotencyKey], ['completed', null]);
});

test('grants that end all at once are expired in one sweep', async () => {
  const count = 1_200;
  const atMs = bank.clock.nowMs() - 1_000;
  await bank.sql.begin(async (sql) => {
    const series = sql`generate_series(1, ${count}) n`;
    await sql`INSERT INTO wallets (id, account_id, wallet_micros, promotion_micros)
      SELECT 'wal_month_' || n, ${accountId}, 100, -100 FROM ${series}`;
    await sql`INSERT INTO grants (id, wallet_id, operation_id, kind, note, amount_micros,
        remaining_micros, expires_at, created_at)
      SELECT 'grant_month_' || n, 'wal_month_' || n, 'month.' || n, 'promotion', '', 100, 100,
        to_timestamp(${atMs}::float8 / 1000), now() FROM ${series}`;
    await sql`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
        revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros)
      SELECT 'month.' || n, 'wal_month_' || n, 'grant', 100, 0, 0, 0, -100, 0, 0 FROM ${series}`;
  });
  const never = () => assert.fail('nothing is held');
  const touch = (id: string) => branch.ask(id, 'balance', {});
  const { keyKeptMs } = walletLimits;
  const options = { clock: bank.clock.nowMs, instanceId, keyKeptMs, release: never, settle: never };
  const swept = await sweepOnce(bank.sql, { ...options, touch });
  assert.equal(swept.expiredWallets, count);
  const left = await bank.sql`
    SELECT 1 FROM wallets WHERE starts_with(id, 'wal_month_') AND wallet_micros > 0`;
  assert.equal(left.length, 0);
});

test('what a living process holds is late by its own clock alone', async () => {
  const walletId = await funded(1_000n);
  const behindMs = 3_600_000;
  const ownerId = 'i-behind';
  await registerInstance(bank.sql, ownerId, 600_000);
  const begin = async () => {
    const hold = claimingHold(10n, null);
    const expiresAtMs = Date.now() - behindMs + ledgerLimits.holdExpiryMs;
    const owner = { ...hold.owner, instanceId: ownerId };
    assert.equal(
      (await branch.ask(walletId, 'hold', { ...hold, owner, expiresAtMs })).status,
      'held',
    );
    return hold.holdId;
  };
  const sweepBy = async (by: string, aheadMs: number) => {
    const release: Release = (id, request) => branch.ask(id, 'release', request);
    const settle: Settle = (id, request) => branch.ask(id, 'settle', request);
    bank.clock.aheadMs = aheadMs;
    const options = { clock: bank.clock.nowMs, instanceId: by, release, settle };
    return (await endExpired(bank.sql, options)).releasedHolds;
  };
  const aheadMs = bank.clock.aheadMs;
  await begin();
  assert.equal(await sweepBy('i-right', 0), 0, 'its lease says that it lives');
  assert.equal(await sweepBy(ownerId, -behindMs), 0);
  assert.equal(await sweepBy(ownerId, 60_000 - behindMs + ledgerLimits.holdExpiryMs), 1);
  await begin();
  await bank.sql`UPDATE instances SET lease_expires_at = now() - interval '1 second'
    WHERE id = ${ownerId}`;
  assert.equal(await sweepBy('i-right', 0), 1, 'nobody else will');
  bank.clock.aheadMs = aheadMs;
});

/** A hold whose write comes through only after its caller was told `unavailable`. */
async function holdInDoubt(walletId: string, doubting: Branch): Promise<HoldRequest> {
  const hold = claimingHold(60n, null);
  await bank.sql.begin(async (lock) => {
    await lock`SELECT 1 FROM wallets WHERE id = ${walletId} FOR UPDATE`;
    assert.deepEqual(await doubting.ask(walletId, 'hold', hold), { status: 'unavailable' });
  });
  return hold;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(20);
  }
}

test('a hold in doubt is released by the actor itself, and its generation fails', async () => {
  const walletId = await funded(100n);
  const doubting = bank.branch({ statementDeadlineMs: 500 });
  const hold = await holdInDoubt(walletId, doubting);
  await until('it became durable', async () => {
    const rows = await bank.sql`SELECT 1 FROM ledger WHERE operation_id = ${`${hold.holdId}.hold`}`;
    return rows.length > 0;
  });
  await until('it is released', async () => {
    const generation = await findGeneration(bank.sql, accountId, hold.owner.id);
    return generation?.status === 'failed';
  });
  assert.deepEqual(await branch.ask(walletId, 'balance', {}), {
    status: 'ok',
    availableMicros: 100n,
    heldMicros: 0n,
  });
  // Its id is used up: it must not be told to be held.
  assert.deepEqual(await branch.ask(walletId, 'hold', hold), { status: 'unavailable' });
});

test('a hold in doubt that its caller asks for again stays', async () => {
  const walletId = await funded(100n);
  const doubting = bank.branch({ statementDeadlineMs: 1_500 });
  const hold = await holdInDoubt(walletId, doubting);
  assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
  // The doubting actor looks again by itself after a second.
  await sleep(1_500);
  assert.equal((await doubting.ask(walletId, 'balance', {})).status, 'ok');
  const settle = { holdId: hold.holdId, chargeMicros: 50n, providerCostMicros: 40n, finish: null };
  assert.deepEqual(await doubting.ask(walletId, 'settle', settle), {
    status: 'settled',
    chargedMicros: 50n,
    shortfallMicros: 0n,
  });
});

test('a connection killed under load loses nothing that was answered', async () => {
  const walletId = await funded(10_000_000n);
  let stopped = false;
  const charges: bigint[] = [];
  let unavailable = 0;
  const worker = async (): Promise<void> => {
    while (!stopped) {
      const hold = claimingHold(100n, null);
      const held = await branch.ask(walletId, 'hold', hold);
      if (held.status !== 'held') {
        unavailable += 1;
        await sleep(5);
        continue;
      }
      for (;;) {
        const settled = await branch.ask(walletId, 'settle', {
          holdId: hold.holdId,
          chargeMicros: 60n,
          providerCostMicros: 50n,
          finish: null,
        });
        if (settled.status === 'settled') {
          charges.push(settled.chargedMicros);
          break;
        }
        assert.equal(settled.status, 'unavailable');
        await sleep(5);
      }
    }
  };
  const workers = Array.from({ length: 32 }, worker);
  // Until one was killed with a statement on its way: most of the time none is.
  for (let round = 0; round < 10 || (unavailable === 0 && round < 100); round += 1) {
    await sleep(60);
    await bank.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'tollgate-ledger' AND datname = current_database()`;
  }
  stopped = true;
  await Promise.all(workers);
  // The actor looks after holds in doubt by itself.
  const deadline = performance.now() + 30_000;
  const heldNow = async (): Promise<unknown> =>
    (await bank.sql`SELECT held_micros FROM wallets WHERE id = ${walletId}`)[0]?.held_micros;
  while ((await heldNow()) !== 0n && performance.now() < deadline) await sleep(50);
  const [row] = await bank.sql<{ charged: bigint; held: bigint }[]>`
    SELECT revenue_micros + provider_cost_micros AS charged, held_micros AS held
    FROM wallets WHERE id = ${walletId}`;
  assert.equal(row?.charged, BigInt(charges.length) * 60n);
  assert.equal(row?.held, 0n, 'no hold is left behind');
  assert.ok(charges.length > 20 && unavailable > 0, `${charges.length} ${unavailable}`);
});

test('after all that the books are right', async () => {
  bank.clock.aheadMs = 0;
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});
