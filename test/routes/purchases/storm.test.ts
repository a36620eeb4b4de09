// Many purchases at once over four shards. Callbacks are lost, repeated, shuffled and late, and
// clients verify three times at once. What was paid is what there is, to the microcredit.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  type Answered,
  becomes,
  buy,
  payAt,
  tellPayments,
  verify,
} from '../../harness/purchases.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

// slow: It buys on a gateway of its own with four shards.

const all = 1_000;
const purchases = sampledRuns(all, 40);
const isWhole = purchases === all;
const perAccount = 10;
const credits = 1_000_000_000n;
const random = createRandom(testSeed);

let bed: Testbed;
before(async () => {
  console.log(`# purchases: seed ${testSeed}`);
  bed = await openTestbed({ own: 'it tells the simulated providers what goes wrong', shards: 4 });
});
after(() => bed?.close());

interface Bought {
  account: TestAccount;
  id: string;
  checkout: Answered['body']['checkout'];
}

async function buyAll(): Promise<Bought[]> {
  const made: Bought[] = [];
  while (made.length < purchases) {
    const account = await bed.account({ micros: 1n });
    const answers = await Promise.all(Array.from({ length: perAccount }, () => buy(account)));
    for (const { status, body } of answers) {
      assert.equal(status, 201);
      made.push({ account, id: body.purchase.id, checkout: body.checkout });
    }
  }
  return made;
}

/** As many of the webhooks as that share of the payments has: each payment has three. */
async function armFaults(): Promise<void> {
  const of = (share: number) => Math.ceil(share * purchases * 3);
  const { simulator_url: sim } = bed.dev;
  await tellPayments(sim, { fault: 'lost', count: of(0.3) });
  await tellPayments(sim, { fault: 'reversed', count: of(0.2) });
  await tellPayments(sim, { fault: 'five_times', count: of(0.3) });
  await tellPayments(sim, { fault: 'late', count: of(0.1), delay_ms: 3_000 });
}

/** The whole run waits for the round that asks about open purchases; its minute is long. */
async function comeBack(bought: readonly Bought[]): Promise<void> {
  if (isWhole) {
    await bed.sql`UPDATE purchases SET next_look_at = now() WHERE status IN ('created', 'pending')`;
    return;
  }
  await Promise.all(bought.map(({ account, id }) => verify(account, { purchase_id: id })));
}

test('every purchase is credited once, whatever becomes of its callbacks', async () => {
  const bought = await buyAll();
  await armFaults();
  await Promise.all(
    bought.map(async ({ account, id, checkout }) => {
      await payAt(checkout);
      if (random() < 0.5) return;
      await Promise.all([1, 2, 3].map(() => verify(account, { purchase_id: id })));
    }),
  );
  await comeBack(bought);
  for (const { account, id } of bought) await becomes(account, id, 'completed', 90_000);
  for (const account of new Set(bought.map((each) => each.account))) {
    const mine = bought.filter((each) => each.account === account).length;
    assert.equal((await account.balance()).availableMicros, credits * BigInt(mine) + 1n);
  }
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
});
