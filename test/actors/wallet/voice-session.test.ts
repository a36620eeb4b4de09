// Voice sessions in the books: made with their hold, ended with its settlement, and what a dead
// process had written down is charged exactly once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SessionFinish } from '../../../actors/voice/holder.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { reconcile } from '../../../actors/wallet/reconcile.ts';
import { type Ends, recoverDead } from '../../../actors/wallet/recovery.ts';
import { sweepOnce } from '../../../actors/wallet/sweep.ts';
import { registerInstance } from '../../../db/instances.ts';
import { checkpointSessions } from '../../../db/voice/sessions.ts';
import { newId, siblingId } from '../../../runtime/ids.ts';
import { accountId, type Bank, type Branch, openBank, purchase } from './bank.ts';

let bank: Bank;
let branch: Branch;
let ends: Ends;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  ends = {
    release: (id, request) => branch.ask(id, 'release', request),
    settle: (id, request) => branch.ask(id, 'settle', request),
  };
});
after(() => bank.close());

const usage = {
  inputSpeechTokens: 100,
  inputTextTokens: 20,
  outputSpeechTokens: 50,
  outputTextTokens: 10,
  searchCalls: 0,
};

async function funded(): Promise<string> {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(100_000n));
  return walletId;
}

function sessionHold(instanceId: string, node = 1): HoldRequest {
  const id = newId('vs', node);
  return {
    holdId: siblingId(id, 'hold'),
    amountMicros: 1_000n,
    owner: { kind: 'voice_session', id, instanceId },
    expiresAtMs: Date.now() + 60_000,
    claim: { id, accountId, apiKeyId: null, model: 'svc-voice-1', voiceId: 'alto' },
  };
}

async function begin(walletId: string, instanceId = 'i-live'): Promise<HoldRequest> {
  const hold = sessionHold(instanceId);
  assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
  return hold;
}

async function write(hold: HoldRequest, dueMicros: bigint, used = usage): Promise<void> {
  const { id } = hold.owner;
  const checkpoint = { id, usage: used, dueMicros, dueProviderMicros: dueMicros };
  await checkpointSessions(bank.sql, [checkpoint]);
}

interface Row {
  state: string;
  reason: string | null;
  source: string | null;
  charge_micros: bigint | null;
  input_speech_tokens: bigint;
}

async function rowOf(hold: HoldRequest): Promise<Row> {
  const [row] = await bank.sql<Row[]>`
    SELECT state, reason, source, charge_micros, input_speech_tokens
    FROM voice_sessions WHERE id = ${hold.owner.id}`;
  assert.ok(row !== undefined, 'the row was made with the hold');
  return { ...row };
}

function finishOf(hold: HoldRequest): SessionFinish {
  const { id } = hold.owner;
  return { kind: 'voice_session', id, reason: 'client_end', source: 'reported', usage };
}

test('a session is ended by its settlement, once, whatever is written afterwards', async () => {
  const walletId = await funded();
  const hold = await begin(walletId);
  assert.equal((await rowOf(hold)).state, 'live');
  await bank.assertBooks();
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 300n,
    providerCostMicros: 280n,
    finish: finishOf(hold),
  };
  for (let time = 0; time < 2; time += 1) {
    const reply = await branch.ask(walletId, 'settle', settle);
    assert.deepEqual(reply, { status: 'settled', chargedMicros: 300n, shortfallMicros: 0n });
  }
  await write(hold, 9_999n);
  assert.deepEqual(await rowOf(hold), {
    state: 'ended',
    reason: 'client_end',
    source: 'reported',
    charge_micros: 300n,
    input_speech_tokens: 100n,
  });
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 99_700n, heldMicros: 0n });
  await bank.assertBooks();
});

test('an end that overtakes the answer to its own hold is written after it', async () => {
  const walletId = await funded();
  const hold = sessionHold('i-live');
  const [held, released] = await Promise.all([
    branch.ask(walletId, 'hold', hold),
    branch.ask(walletId, 'release', {
      holdId: hold.holdId,
      reason: 'failed',
      finish: { ...finishOf(hold), source: 'none', usage: null },
    }),
  ]);
  assert.deepEqual([held.status, released.status], ['held', 'released']);
  assert.equal((await rowOf(hold)).state, 'ended');
  await bank.assertBooks();
});

test('of a dead process what was written down is charged, the rest goes back', async () => {
  const walletId = await funded();
  await registerInstance(bank.sql, 'i-dead', 60_000);
  await registerInstance(bank.sql, 'i-live', 60_000);
  const used = await begin(walletId, 'i-dead');
  const unused = await begin(walletId, 'i-dead');
  const other = await begin(walletId, 'i-live');
  await write(used, 250n);
  const options = { instanceId: 'i-live', others: 'all' as const, ...ends };
  await Promise.all([recoverDead(bank.sql, options), recoverDead(bank.sql, options)]);
  assert.deepEqual(await rowOf(used), {
    state: 'ended',
    reason: 'recovered',
    source: 'reported',
    charge_micros: 250n,
    input_speech_tokens: 100n,
  });
  const { state, charge_micros: charge } = await rowOf(unused);
  assert.deepEqual([state, charge], ['ended', null]);
  assert.equal((await rowOf(other)).state, 'live');
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 98_750n, heldMicros: 1_000n });
  await bank.assertBooks();
});

test('the session of a lost shard is settled by reconciliation, one that runs is not', async () => {
  const walletId = await funded();
  const lost = await begin(walletId, 'i-shards');
  const running = await begin(walletId, 'i-shards');
  await write(lost, 40n);
  const pass = () =>
    reconcile(bank.sql, {
      instanceId: 'i-shards',
      ageMs: -1_000,
      lost: async (_node, ids) => ids.filter((id) => id !== running.owner.id),
      ...ends,
    });
  assert.equal(await pass(), 1);
  assert.equal(await pass(), 0);
  assert.equal((await rowOf(lost)).charge_micros, 40n);
  assert.equal((await rowOf(running)).state, 'live');
  await bank.assertBooks();
});

test('a hold that expired under its session is settled late, once', async () => {
  const walletId = await funded();
  const hold = await begin(walletId);
  bank.clock.aheadMs += 120_000;
  const touch = (id: string) => branch.ask(id, 'balance', {});
  const keyKeptMs = 86_400_000;
  const options = { clock: bank.clock.nowMs, instanceId: 'i-live', keyKeptMs, touch, ...ends };
  await sweepOnce(bank.sql, options);
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 70n,
    providerCostMicros: 70n,
    finish: finishOf(hold),
  };
  await branch.ask(walletId, 'settle', settle);
  await branch.ask(walletId, 'settle', settle);
  assert.equal((await rowOf(hold)).charge_micros, 70n);
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 99_930n, heldMicros: 0n });
  await bank.assertBooks();
});

function less(hold: HoldRequest, keepMicros: bigint, dueMicros = 0n) {
  const checkpoint = { id: hold.owner.id, usage, dueMicros, dueProviderMicros: dueMicros };
  return { holdId: hold.holdId, step: 2, keepMicros, checkpoint };
}

test('what cannot be due goes back; of a dead process what is due is charged', async () => {
  const walletId = await funded();
  await registerInstance(bank.sql, 'i-ending', 60_000);
  const hold = await begin(walletId, 'i-ending');
  for (let time = 0; time < 2; time += 1) {
    const reply = await branch.ask(walletId, 'reduce', less(hold, 400n, 250n));
    assert.deepEqual(reply, { status: 'reduced' });
    const balance = await branch.ask(walletId, 'balance', {});
    assert.deepEqual(balance, { status: 'ok', availableMicros: 99_600n, heldMicros: 400n });
  }
  await bank.assertBooks();
  // Killed between the two: nothing but the reduction has said what is due.
  const other = bank.branch();
  await recoverDead(bank.sql, {
    instanceId: 'i-live',
    others: 'all',
    release: (id, request) => other.ask(id, 'release', request),
    settle: (id, request) => other.ask(id, 'settle', request),
  });
  const row = await rowOf(hold);
  assert.deepEqual([row.charge_micros, row.input_speech_tokens], [250n, 100n]);
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 99_750n, heldMicros: 0n });
  await bank.assertBooks();
});

for (const dueMicros of [0n, 250n]) {
  test(`of who was taken for dead owing ${dueMicros}, the row shows what was charged`, async () => {
    const walletId = await funded();
    await registerInstance(bank.sql, `i-paused-${dueMicros}`, 60_000);
    const hold = await begin(walletId, `i-paused-${dueMicros}`);
    const before = dueMicros === 0n ? { ...usage, inputSpeechTokens: 0 } : usage;
    await write(hold, dueMicros, before);
    // It lives, and writes again after others have read what it owes.
    const more = () => write(hold, 9_999n, { ...usage, inputSpeechTokens: 7_777 });
    await recoverDead(bank.sql, {
      instanceId: 'i-live',
      others: 'all',
      release: async (id, request) => {
        await more();
        return await ends.release(id, request);
      },
      settle: async (id, request) => {
        await more();
        return await ends.settle(id, request);
      },
    });
    const row = await rowOf(hold);
    const charged = dueMicros === 0n ? null : dueMicros;
    assert.deepEqual(
      [row.charge_micros, row.input_speech_tokens],
      [charged, BigInt(before.inputSpeechTokens)],
    );
    await bank.assertBooks();
  });
}

test('a reduction in one write with what comes before and after it', async () => {
  const walletId = await funded();
  const hold = sessionHold('i-live');
  const settle = {
    holdId: hold.holdId,
    chargeMicros: 600n,
    providerCostMicros: 600n,
    finish: finishOf(hold),
  };
  const replies = await Promise.all([
    branch.ask(walletId, 'hold', hold),
    branch.ask(walletId, 'reduce', less(hold, 400n, 250n)),
    branch.ask(walletId, 'settle', settle),
    branch.ask(walletId, 'reduce', less(hold, 300n, 250n)),
  ]);
  const statuses = replies.map(({ status }) => status);
  assert.deepEqual(statuses, ['held', 'reduced', 'settled', 'hold_not_active']);
  const row = await rowOf(hold);
  assert.deepEqual([row.state, row.charge_micros], ['ended', 600n], 'more than was kept is paid');
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 99_400n, heldMicros: 0n });
  await bank.assertBooks();
});
