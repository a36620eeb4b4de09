// The process of a request was given up, and comes to its end all the same. What it charges then
// is counted, although its id was passed and perhaps its day closed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeUsage, countUsage } from '../../../actors/usage/rounds.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { auditLedger } from '../../../db/audit.ts';
import { siblingId } from '../../../runtime/ids.ts';
import {
  beginAt,
  dayMs,
  figuresShown,
  limits,
  shown,
  stateOf,
  suffixAt,
} from '../../db/usage/world.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  openBank,
  purchase,
} from '../wallet/bank.ts';

let bank: Bank;
let branch: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
});
after(() => bank.close());

/** A request that began then. */
function heldAt(ms: number): HoldRequest {
  const hold = claimingHold(100n, null);
  const id = `req_${suffixAt(ms)}`;
  return {
    ...hold,
    holdId: siblingId(id, 'hold'),
    owner: { ...hold.owner, id },
    claim: hold.claim && { ...hold.claim, id },
  };
}

function sessionAt(ms: number): HoldRequest {
  const id = `vs_${suffixAt(ms)}`;
  return {
    ...heldAt(ms),
    holdId: siblingId(id, 'hold'),
    owner: { kind: 'voice_session', id, instanceId: 'i' },
    claim: { id, accountId, apiKeyId: null, model: 'svc-voice-1', voiceId: 'v' },
  };
}

function finishOf({ owner: { id, kind } }: HoldRequest) {
  const usage = {
    inputSpeechTokens: 7,
    inputTextTokens: 0,
    outputSpeechTokens: 0,
    outputTextTokens: 0,
    searchCalls: 0,
  };
  if (kind === 'voice_session') {
    return { kind, id, reason: 'client_end', source: 'reported' as const, usage };
  }
  return {
    kind,
    id,
    status: 'completed' as const,
    answerJson: null,
    usageJson: '{"input_tokens": 7}',
    problemJson: null,
  };
}

/** It was given up: its hold goes back, and it has failed. */
async function giveUp(walletId: string, hold: HoldRequest): Promise<void> {
  const { id, kind } = hold.owner;
  const finish =
    kind === 'voice_session'
      ? { kind, id, reason: 'recovered', source: 'none' as const, usage: null }
      : { ...finishOf(hold), status: 'failed' as const, usageJson: null };
  const { holdId } = hold;
  const reply = await branch.ask(walletId, 'release', { holdId, reason: 'recovered', finish });
  assert.equal(reply.status, 'released');
}

async function settleLate(walletId: string, hold: HoldRequest): Promise<void> {
  const reply = await branch.ask(walletId, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 40n,
    providerCostMicros: 30n,
    finish: finishOf(hold),
  });
  assert.equal(reply.status, 'settled');
}

const metrics = { repaired: (count: number) => assert.equal(count, 0, 'nothing to repair') };

async function marks(): Promise<number> {
  return (await bank.sql`SELECT FROM usage_late`).length;
}

const today = Math.floor(Date.now() / dayMs) * dayMs;
const moments = { 'of today': today, 'of a closed day': today - dayMs + 5_000 };

for (const [when, ms] of Object.entries(moments)) {
  for (const heldThen of [heldAt, sessionAt]) {
    const what = heldThen === heldAt ? 'a generation' : 'a voice session';
    test(`${what} ${when} that is charged late is counted once, and shown at once`, async () => {
      const walletId = await bank.newWallet();
      const owner = { accountId, walletId };
      await branch.ask(walletId, 'grant', purchase(100_000n));
      await beginAt(bank.sql, today - 2 * dayMs);
      const hold = heldThen(ms);
      assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
      await giveUp(walletId, hold);
      await countUsage(bank.sql, limits);
      await closeUsage(bank.sql, limits, metrics);
      const isClosed = (await stateOf(bank.sql)).closedUntilMs > ms;
      assert.equal(isClosed, ms < today);
      assert.deepEqual((await shown(bank.sql, owner)).models, []);

      await settleLate(walletId, hold);
      assert.equal(await marks(), 1);
      const look = async () =>
        (await figuresShown(bank.sql, owner)).map((row) => [
          row.requests,
          row.failed,
          row.settled,
          row.input_tokens,
          row.charge_micros,
        ]);
      const expected = [[1n, 0n, 1n, 7n, 40n]];
      assert.deepEqual(await look(), expected, 'before the next round');
      const broken = (await auditLedger(bank.sql)).filter((finding) => finding.broken > 0n);
      assert.deepEqual(broken, [], 'the books are right before the next round, too');
      await countUsage(bank.sql, limits);
      assert.equal(await marks(), 0);
      assert.deepEqual(await look(), expected, 'counted anew');
      await bank.sql`UPDATE usage_state SET repaired_until = ${new Date(today - 2 * dayMs)}`;
      await closeUsage(bank.sql, limits, metrics);
      await bank.assertBooks();
    });
  }
}

test('one that is charged late before it was passed is counted as any other', async () => {
  const walletId = await bank.newWallet();
  const owner = { accountId, walletId };
  await branch.ask(walletId, 'grant', purchase(100_000n));
  const hold = heldAt(Date.now());
  await branch.ask(walletId, 'hold', hold);
  await giveUp(walletId, hold);
  await settleLate(walletId, hold);
  const charges = async () =>
    (await figuresShown(bank.sql, owner)).map((row) => [row.requests, row.charge_micros]);
  assert.deepEqual(await charges(), [[1n, 40n]]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await countUsage(bank.sql, limits);
  assert.equal(await marks(), 0);
  assert.deepEqual(await charges(), [[1n, 40n]]);
});

test('the books tell of a closed day that is not what was charged', async () => {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(100_000n));
  await beginAt(bank.sql, today - 2 * dayMs);
  const hold = heldAt(today - dayMs + 9_000);
  await branch.ask(walletId, 'hold', hold);
  await settleLate(walletId, hold);
  await countUsage(bank.sql, limits);
  await closeUsage(bank.sql, limits, metrics);
  await bank.assertBooks();
  await bank.sql`UPDATE usage_days SET charge_micros = charge_micros + 1
    WHERE wallet_id = ${walletId}`;
  const broken = (await auditLedger(bank.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(
    broken.map(({ rule }) => rule),
    ['closed days of usage are what the journal charged'],
  );
  assert.match(broken[0]?.examples[0] ?? '', /counted 41, journal 40/);
});

test('what is counted in the same round is not taken for a difference', async () => {
  const walletId = await bank.newWallet();
  const owner = { accountId, walletId };
  await branch.ask(walletId, 'grant', purchase(100_000n));
  const ms = Date.now() - 50;
  await beginAt(bank.sql, ms - dayMs);
  const hold = heldAt(ms);
  await branch.ask(walletId, 'hold', hold);
  await giveUp(walletId, hold);
  await countUsage(bank.sql, { ...limits, behindMs: Date.now() - ms - 1 });
  // Both begin in one quarter, and one round counts them.
  await settleLate(walletId, hold);
  const other = heldAt(ms + 10);
  await branch.ask(walletId, 'hold', other);
  await branch.ask(walletId, 'settle', {
    holdId: other.holdId,
    chargeMicros: 5n,
    providerCostMicros: 0n,
    finish: finishOf(other),
  });
  await countUsage(bank.sql, limits);
  const [line] = await figuresShown(bank.sql, owner);
  assert.deepEqual([line?.requests, line?.failed, line?.charge_micros], [2n, 0n, 45n]);
});
