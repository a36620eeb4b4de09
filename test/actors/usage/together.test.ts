// Requests are held, settled, given up and charged late, while two processes count them and are cut
// off in the middle of a round. At the end each charge is counted once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countUsage } from '../../../actors/usage/rounds.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { siblingId, timeOfId } from '../../../runtime/ids.ts';
import { figuresShown, journalCharge, limits, shownCharge } from '../../db/usage/world.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { accountId, type Bank, claimingHold, openBank, purchase } from '../wallet/bank.ts';

// slow: It lives through a few seconds of requests, some of which are given up.

/** Holds that are on their way: as the round stays behind the clock, it stays behind these. */
const asked = new Map<string, number>();

function behindMs(): number {
  const nowMs = Date.now();
  return nowMs - Math.min(nowMs - 200, ...asked.values()) + 5;
}

const callers = 24;
const requestsEach = 12;

let bank: Bank;
before(async () => {
  bank = await openBank();
});
after(() => bank.close());

const random = createRandom(testSeed);
const chance = (share: number) => random() < share;

function finishOf(hold: HoldRequest, status: 'completed' | 'failed') {
  return {
    kind: 'generation',
    id: hold.owner.id,
    status,
    answerJson: null,
    usageJson: status === 'completed' ? '{"input_tokens": 1}' : null,
    problemJson: null,
  };
}

async function live(walletId: string): Promise<void> {
  const branch = bank.branch();
  const one = async () => {
    const made = claimingHold(100n, null);
    const hold = { ...made, holdId: siblingId(made.owner.id, 'hold') };
    const { holdId } = hold;
    asked.set(holdId, timeOfId(holdId));
    assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
    asked.delete(holdId);
    await new Promise((resolve) => setTimeout(resolve, random() * (chance(0.1) ? 1_500 : 60)));
    const isGivenUp = chance(0.2);
    if (isGivenUp) {
      const finish = finishOf(hold, 'failed');
      await branch.ask(walletId, 'release', { holdId, reason: 'recovered', finish });
      await new Promise((resolve) => setTimeout(resolve, random() * 1_500));
      if (chance(0.5)) return;
    }
    const chargeMicros = BigInt(1 + Math.floor(random() * 50));
    const finish = finishOf(hold, 'completed');
    const settled = { holdId, chargeMicros, providerCostMicros: 0n, finish };
    assert.equal((await branch.ask(walletId, 'settle', settled)).status, 'settled');
  };
  const caller = async () => {
    for (let n = 0; n < requestsEach; n += 1) await one();
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

type Phase = 'breaking' | 'counting' | 'over';

/** Rounds on connections that somebody else ends now and then. Returns how many broke off. */
async function countAndBreak(pool: Sql, phase: () => Phase): Promise<number> {
  let broken = 0;
  while (phase() !== 'over') {
    const round = countUsage(pool, { ...limits, behindMs: behindMs(), rowsMax: 20 }).catch(() => {
      broken += 1;
    });
    if (phase() === 'breaking' && chance(0.3)) {
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
      await bank.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tollgate-general'
          AND query LIKE '%usage_%' AND query NOT LIKE '%pg_stat_activity%' AND state <> 'idle'`;
    }
    await round;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return broken;
}

test(`charges are counted once, whatever happens to who counts (seed ${testSeed})`, async () => {
  const walletId = await bank.newWallet();
  const owner = { accountId, walletId };
  await bank.branch().ask(walletId, 'grant', purchase(10_000_000n));
  let phase: Phase = 'breaking';
  const pools = [bank.database.pool('general', 1), bank.database.pool('general', 1)];
  const counting = pools.map((pool) => countAndBreak(pool, () => phase));
  try {
    await live(walletId);
    phase = 'counting';
    // Who looks may not be cut off.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const total = await journalCharge(bank.sql, walletId);
    assert.equal(await shownCharge(bank.sql, owner), total, 'shown as soon as it is settled');
  } finally {
    phase = 'over';
  }
  const broken = (await Promise.all(counting)).reduce((sum, count) => sum + count, 0);
  const total = await journalCharge(bank.sql, walletId);
  console.log(`# seed ${testSeed}: ${broken} rounds broke off, ${total} microcredits`);
  assert.ok(broken > 0, 'rounds were cut off');
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (let done = false; !done; ) done = await countUsage(bank.sql, { ...limits, behindMs: 0 });
  const [row] = await bank.sql<{ sum: bigint }[]>`
    SELECT sum(charge_micros)::bigint AS sum FROM usage_quarters WHERE wallet_id = ${walletId}`;
  assert.equal(row?.sum, total, 'the quarters have all of it');
  const lines = await figuresShown(bank.sql, owner);
  const sumOf = (name: 'requests' | 'failed') => lines.reduce((sum, line) => sum + line[name], 0n);
  const [ended] = await bank.sql<{ count: bigint; failed: bigint }[]>`
    SELECT count(*) AS count, count(*) FILTER (WHERE status = 'failed') AS failed
    FROM generations WHERE wallet_id = ${walletId}`;
  assert.equal(sumOf('requests'), ended?.count);
  assert.equal(sumOf('failed'), ended?.failed);
  await bank.assertBooks();
});
