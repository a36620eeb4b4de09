// Every operation at random on a real database, from two systems that know nothing of each other,
// while connections are cut, systems are dropped and the server crashes. Then the books must be
// right, nothing applied twice, and everything that was answered still true.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { noUsage } from '../../../actors/voice/tariff.ts';
import type { HoldRequest, SettleReply, WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { sweepOnce } from '../../../actors/wallet/sweep.ts';
import type { PayloadOf, ReplyOf } from '../../../runtime/actor/contract.ts';
import { openOwnDatabase } from '../../harness/database.ts';
import { testSeed } from '../../harness/seed.ts';
import {
  auditEvent,
  type Bank,
  type Branch,
  claimingHold,
  freshId,
  openBank,
  promotion,
  purchase,
} from './bank.ts';

const seed = testSeed;
const systems = 2;
const workers = 24;
const walletCount = 3;
const keyCount = 40;

/** Mulberry32: the choices of a run can be repeated, its timing cannot. */
function createRandom(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Message = keyof WalletProtocol & string;

interface Scene {
  bank: Bank;
  branches: Branch[];
  wallets: string[];
  random: (below: number) => number;
  running: boolean;
  /** What was answered, by hold. */
  settled: Map<string, SettleReply>;
  held: Set<string>;
  doubts: number;
}

/** Asks some system; null when the outcome is not known. */
async function ask<M extends Message>(
  scene: Scene,
  walletId: string,
  message: M,
  payload: PayloadOf<WalletProtocol, M>,
): Promise<ReplyOf<WalletProtocol, M> | null> {
  const branch = scene.branches[scene.random(systems)];
  assert.ok(branch !== undefined);
  const answer = await branch.wallet(walletId).ask(message, payload, 5_000);
  if (answer.ok && (answer.value as { status: string }).status !== 'unavailable') {
    return answer.value;
  }
  scene.doubts += 1;
  return null;
}

/** Repeats with the same ids until the outcome is known. */
async function insist<M extends Message>(
  scene: Scene,
  walletId: string,
  message: M,
  payload: PayloadOf<WalletProtocol, M>,
): Promise<ReplyOf<WalletProtocol, M>> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const reply = await ask(scene, walletId, message, payload);
    if (reply !== null) return reply;
    assert.ok(performance.now() < deadline, `no outcome of ${message} (seed ${seed})`);
    await sleep(scene.random(20));
  }
}

async function worker(scene: Scene): Promise<void> {
  while (scene.running) {
    const walletId = scene.wallets[scene.random(walletCount)];
    assert.ok(walletId !== undefined);
    if (scene.random(12) === 0) await giveMoney(scene, walletId);
    else await useMoney(scene, walletId);
  }
}

async function giveMoney(scene: Scene, walletId: string): Promise<void> {
  const request =
    scene.random(2) === 0
      ? purchase(BigInt(1 + scene.random(5_000)))
      : promotion(BigInt(1 + scene.random(5_000)), Date.now() + scene.random(1_500));
  const first = await insist(scene, walletId, 'grant', request);
  const second = await insist(scene, walletId, 'grant', request);
  assert.equal(first.status, 'granted');
  assert.equal(second.status, 'granted');
  assert.equal(first.grantId, second.grantId, `the same grant (seed ${seed})`);
  if (request.kind === 'promotion') await takeBack(scene, walletId, first.grantId);
}

async function takeBack(scene: Scene, walletId: string, grantId: string): Promise<void> {
  if (scene.random(2) === 0) {
    const first = await insist(scene, walletId, 'revoke', { grantId, event: auditEvent() });
    const second = await insist(scene, walletId, 'revoke', { grantId, event: auditEvent() });
    assert.deepEqual(second, first, `the same revocation (seed ${seed})`);
    return;
  }
  const operationId = freshId('debit');
  const amountMicros = BigInt(1 + scene.random(3_000));
  const details = { amount_microcredits: amountMicros.toString() };
  const ask = () => {
    const event = { ...auditEvent(details), operationId };
    return insist(scene, walletId, 'debit', { operationId, amountMicros, event });
  };
  const [first, second] = [await ask(), await ask()];
  assert.notEqual(first.status, 'reused');
  // What did not fit may fit a moment later.
  if (first.status === 'debited') assert.equal(second.status, 'debited', `${seed}`);
}

async function useMoney(scene: Scene, walletId: string): Promise<void> {
  const { random } = scene;
  const key = random(3) === 0 ? `key-${random(keyCount)}` : null;
  const hold: HoldRequest = {
    ...claimingHold(BigInt(random(300)), key),
    expiresAtMs: Date.now() + 200 + random(3_000),
  };
  const held = await ask(scene, walletId, 'hold', hold);
  // In doubt: half of the callers give up, and the wallet has to clear up after them.
  const outcome = held === null && random(2) === 0 ? await insistHold(scene, walletId, hold) : held;
  if (outcome?.status !== 'held') return;
  scene.held.add(hold.holdId);
  for (let step = 1; random(3) > 0 && step < 4; step += 1) {
    const extend = {
      holdId: hold.holdId,
      step,
      amountMicros: BigInt(random(200)),
      minimumMicros: 0n,
      expiresAtMs: Date.now() + random(3_000),
    };
    const first = await insist(scene, walletId, 'extend', extend);
    if (first.status !== 'extended') break;
    const second = await insist(scene, walletId, 'extend', extend);
    assert.deepEqual(second, first, `a repeated extension (seed ${seed})`);
  }
  if (random(3) === 0) {
    const checkpoint = { id: 'vs_none', usage: noUsage, dueMicros: 0n, dueProviderMicros: 0n };
    const keepMicros = BigInt(random(200));
    const less = { holdId: hold.holdId, step: 9, keepMicros, checkpoint };
    const first = await insist(scene, walletId, 'reduce', less);
    const second = await insist(scene, walletId, 'reduce', less);
    if (first.status !== 'reduced') assert.equal(second.status, first.status);
  }
  const ending = random(10);
  if (ending === 0) return; // Left for the sweep.
  if (ending < 4) {
    const reason = random(2) === 0 ? ('failed' as const) : ('cancelled' as const);
    await insist(scene, walletId, 'release', { holdId: hold.holdId, reason, finish: null });
    return;
  }
  await settleTwice(scene, walletId, hold);
}

/** Repeats a hold; one that was cleared up in between stays unavailable, which is an outcome. */
async function insistHold(
  scene: Scene,
  walletId: string,
  hold: HoldRequest,
): Promise<ReplyOf<WalletProtocol, 'hold'> | null> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await sleep(scene.random(20));
    const reply = await ask(scene, walletId, 'hold', hold);
    if (reply !== null) return reply;
  }
  return null;
}

async function settleTwice(scene: Scene, walletId: string, hold: HoldRequest): Promise<void> {
  const chargeMicros = BigInt(scene.random(500));
  const request = {
    holdId: hold.holdId,
    chargeMicros,
    providerCostMicros: (chargeMicros * 95n) / 100n,
    finish: {
      kind: 'generation',
      id: hold.owner.id,
      status: 'completed' as const,
      answerJson: `{"text":"${freshId('x')}"}`,
      usageJson: '{"input_tokens":1}',
      problemJson: null,
    },
  };
  const first = await insist(scene, walletId, 'settle', request);
  assert.equal(first.status, 'settled', `${first.status} ${hold.holdId} (seed ${seed})`);
  scene.settled.set(hold.holdId, first);
  const second = await insist(scene, walletId, 'settle', { ...request, chargeMicros: 9_999n });
  assert.deepEqual(second, first, `a repeated settlement (seed ${seed})`);
}

/** Cuts connections, or drops a whole system with everything it has on its way. */
async function breakSomething(scene: Scene): Promise<void> {
  const { bank, branches, random } = scene;
  const slot = random(systems);
  if (random(3) > 0) {
    await bank.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'tollgate-ledger' AND datname = current_database()
        AND random() < 0.5`;
    return;
  }
  const dropped = branches[slot];
  branches[slot] = bank.branch();
  await Promise.all([dropped?.system.stop(0), dropped?.cut()]);
}

/** Kills one session of the server: all the others are cut, and it recovers from its log. */
async function crashServer(scene: Scene): Promise<void> {
  const [row] = await scene.bank.sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE application_name = 'tollgate-ledger'
      AND datname = current_database() ORDER BY random() LIMIT 1`;
  if (row === undefined) return;
  process.kill(row.pid, 'SIGKILL');
  const deadline = performance.now() + 30_000;
  for (;;) {
    await sleep(50);
    const [answer] = await scene.bank.sql`SELECT 1 AS one`.catch(() => []);
    if (answer !== undefined) return;
    assert.ok(performance.now() < deadline, 'the server recovers');
  }
}

async function run(
  bank: Bank,
  harm: (scene: Scene) => Promise<void>,
  rounds: number,
): Promise<void> {
  const scene: Scene = {
    bank,
    branches: Array.from({ length: systems }, () => bank.branch()),
    wallets: await Promise.all(Array.from({ length: walletCount }, () => bank.newWallet())),
    random: createRandom(seed),
    running: true,
    settled: new Map(),
    held: new Set(),
    doubts: 0,
  };
  try {
    for (const walletId of scene.wallets) {
      await insist(scene, walletId, 'grant', purchase(2_000n));
    }
    const all = Promise.all(Array.from({ length: workers }, () => worker(scene)));
    for (let round = 0; round < rounds; round += 1) {
      await Promise.race([sleep(60 + scene.random(120)), all]);
      await harm(scene);
    }
    // A database that is back at once leaves a busy machine little time between the rounds.
    for (let waits = 0; scene.settled.size <= 10 && waits < 1_500; waits += 1) await sleep(20);
    scene.running = false;
    await all;
    await assertAftermath(scene);
  } finally {
    scene.running = false;
    await bank.close();
  }
}

async function assertAftermath(scene: Scene): Promise<void> {
  const { bank, settled, held } = scene;
  bank.clock.aheadMs = 8_000_000;
  const release = (id: string, request: PayloadOf<WalletProtocol, 'release'>) =>
    insist(scene, id, 'release', request);
  const settle = (id: string, request: PayloadOf<WalletProtocol, 'settle'>) =>
    insist(scene, id, 'settle', request);
  const touch = (id: string) => insist(scene, id, 'balance', {});
  const expiry = { clock: bank.clock.nowMs, instanceId: 'i-sweep', keyKeptMs: 86_400_000 };
  for (let pass = 0; pass < 2; pass += 1) {
    await sweepOnce(bank.sql, { ...expiry, release, settle, touch });
  }
  await bank.assertBooks();
  const [audited] = await bank.sql<{ events: bigint; entries: bigint }[]>`
    SELECT (SELECT count(*) FROM audit_events) AS events,
      (SELECT count(*) FROM ledger WHERE kind IN ('revoke', 'debit')) AS entries`;
  assert.equal(audited?.events, audited?.entries, `an event with each (seed ${seed})`);
  const [left] = await bank.sql<{ holds: bigint; held: bigint; running: bigint }[]>`
    SELECT (SELECT count(*) FROM holds) AS holds, (SELECT sum(held_micros)::bigint FROM wallets)
      AS held, (SELECT count(*) FROM generations WHERE status = 'running') AS running`;
  assert.deepEqual({ ...left }, { holds: 0n, held: 0n, running: 0n }, `nothing left (${seed})`);
  const rows = await bank.sql<{ hold: string; charge: bigint; shortfall: bigint }[]>`
    SELECT split_part(operation_id, '.', 1) AS hold,
      revenue_micros + provider_cost_micros AS charge, -shortfall_micros AS shortfall
    FROM ledger WHERE kind IN ('settle', 'late')`;
  const journal = new Map(rows.map((row) => [row.hold, row]));
  assert.equal(journal.size, rows.length, `settled once each (seed ${seed})`);
  for (const [holdId, reply] of settled) {
    assert.ok(reply.status === 'settled');
    assert.equal(journal.get(holdId)?.charge, reply.chargedMicros, `${holdId} (seed ${seed})`);
    assert.equal(journal.get(holdId)?.shortfall, reply.shortfallMicros);
  }
  const begun = await bank.sql<{ id: string }[]>`
    SELECT split_part(operation_id, '.', 1) AS id FROM ledger WHERE kind = 'hold'`;
  const known = new Set(begun.map((row) => row.id));
  for (const holdId of held) assert.ok(known.has(holdId), `${holdId} was held (seed ${seed})`);
  const [twice] = await bank.sql<{ keys: bigint }[]>`
    SELECT count(*) AS keys FROM (
      SELECT 1 FROM generations WHERE charge_micros IS NOT NULL AND idempotency_key IS NOT NULL
      GROUP BY account_id, route, idempotency_key HAVING count(*) > 1) k`;
  assert.equal(twice?.keys, 0n, 'no key is charged twice');
  assert.ok(settled.size > 10, `${settled.size} settlements`);
  assert.ok(scene.doubts > 0, 'something was in doubt');
  assert.deepEqual(bank.errors, []);
}

test(`cut connections and dropped systems lose and double nothing (seed ${seed})`, async () => {
  await run(await openBank(), breakSomething, 15);
});

test(`crashes of the server lose and double nothing (seed ${seed})`, async () => {
  await run(await openBank(await openOwnDatabase()), crashServer, 3);
});
