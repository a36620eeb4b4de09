// kill -9 behind each row that a payment leaves, and at random moments under a crowd of buyers.
// What was paid is credited once, what was refunded is sent once, and the books are right.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../db/audit.ts';
import type { TestAccount } from '../harness/account.ts';
import { becomes, buy, callAs, payAt, tellPayments } from '../harness/purchases.ts';
import { sampledRuns } from '../harness/sample.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { openChance } from './seed.ts';

// slow: It kills and restarts a real process under payments.

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'it is killed', shards: 2 });
});
after(() => bed?.close());

const credits = 1_000_000_000n;
const empty = () => bed.account({ micros: 1n });

/** While its row is locked, nothing is posted to this wallet. */
async function locked(walletId: string, use: () => Promise<void>): Promise<void> {
  await bed.sql.begin(async (transaction) => {
    await transaction`SELECT FROM wallets WHERE id = ${walletId} FOR UPDATE`;
    await use();
  });
}

async function isTrue(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await look())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(50);
  }
}

async function statusOf(id: string): Promise<string> {
  const [row] = await bed.sql<{ status: string }[]>`SELECT status FROM purchases WHERE id = ${id}`;
  return row?.status ?? 'none';
}

/** Nobody has to wait for the times of real life: what is due later is due now. */
const hurry = () => bed.sql`
  UPDATE purchases SET next_look_at = now() WHERE status IN ('created', 'pending')`;

const killApartMs = 10_000;

async function assertBooks(): Promise<void> {
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
}

test('killed behind the row, before the provider has answered', async () => {
  const account = await empty();
  await tellPayments(bed.dev.simulator_url, { fault: 'cut_accepted', family: 'stripe' });
  await buy(account, {}, 'cut');
  await bed.gateway.killMain();
  const again = await buy(account, {}, 'cut');
  assert.equal(again.status, 200);
  await payAt(again.body.checkout);
  await becomes(account, again.body.purchase.id, 'completed');
  assert.equal((await account.balance()).availableMicros, credits + 1n);
});

test('killed between paid and its credits', async () => {
  const account = await empty();
  const { body } = await buy(account);
  await locked(account.walletId, async () => {
    await payAt(body.checkout);
    await isTrue('it is paid', async () => (await statusOf(body.purchase.id)) === 'paid');
    await bed.gateway.killMain();
  });
  await becomes(account, body.purchase.id, 'completed');
  assert.equal((await account.balance()).availableMicros, credits + 1n);
});

test('killed between the step of a refund and its money', async () => {
  const account = await empty();
  const { body } = await buy(account);
  await payAt(body.checkout);
  const { id } = await becomes(account, body.purchase.id, 'completed');
  const admin = { baseUrl: bed.url, sessionToken: bed.dev.admin_session_token };
  const wish = { operation_id: `kill-${id}`, amount_cents: 500, reason: 'killed' };
  await locked(account.walletId, async () => {
    const asked = callAs(admin, `/api/admin/purchases/${id}/refund`, wish).catch(() => null);
    await isTrue('it is asked for', async () => {
      const rows = await bed.sql`SELECT 1 FROM refunds WHERE purchase_id = ${id}`;
      return rows.length === 1;
    });
    await bed.gateway.killMain();
    await asked;
  });
  await bed.sql`UPDATE refunds SET next_try_at = now()`;
  await isTrue('it is sent', async () => {
    const rows = await bed.sql`
      SELECT 1 FROM refunds WHERE purchase_id = ${id} AND state = 'succeeded'`;
    return rows.length === 1;
  });
  const facts = await bed.sql`SELECT amount_cents FROM payment_facts WHERE purchase_id = ${id}`;
  assert.deepEqual(
    facts.map(({ amount_cents: cents }) => Number(cents)),
    [500],
  );
  assert.equal((await account.balance()).availableMicros, credits / 2n + 1n);
});

test('killed at random moments under a crowd, while callbacks are lost and repeated', async () => {
  const chance = openChance('payments');
  const { simulator_url: sim } = bed.dev;
  const accounts = await Promise.all([1, 2, 3, 4].map(empty));
  const rounds = sampledRuns(100, 2);
  let bought = 0;
  for (let round = 0; round < rounds; round += 1) {
    const begunMs = performance.now();
    await tellPayments(sim, { fault: 'lost', count: 4 });
    await tellPayments(sim, { fault: 'five_times', count: 2 });
    const killing = sleep(chance.integer(0, 1_500)).then(() => bed.gateway.killMain());
    const buying = accounts.map(async (account, at) => {
      for (let tries = 0; tries < 40; tries += 1) {
        const answer = await buy(account, {}, `${round}-${at}`).catch(() => null);
        if (answer !== null && answer.status <= 201 && answer.body.checkout !== null) {
          await payAt(answer.body.checkout);
          bought += 1;
          return answer.body.purchase.id;
        }
        await sleep(250);
      }
      throw new Error('it cannot be bought');
    });
    const ids = await Promise.all(buying);
    await killing;
    await hurry();
    await bed.sql`UPDATE purchases SET created_at = created_at - interval '30 minutes'`;
    await settled(accounts, ids);
    // A process that ends more often is given up.
    if (rounds > 4) await sleep(Math.max(0, begunMs + killApartMs - performance.now()));
  }
  assert.equal(bought, rounds * accounts.length);
  for (const account of accounts) {
    const { availableMicros } = await account.balance();
    assert.equal(availableMicros, credits * BigInt(rounds) + 1n);
  }
  await assertBooks();
});

/** The round of open purchases is each minute: clients that verify make it short. */
async function settled(accounts: readonly TestAccount[], ids: readonly string[]): Promise<void> {
  await Promise.all(
    ids.map(async (id, at) => {
      const account = accounts[at];
      assert.ok(account !== undefined);
      await isTrue(`${id} is credited`, async () => {
        const body = { purchase_id: id };
        const answer = await callAs(account, '/api/me/purchases/verify', body).catch(() => null);
        return answer?.body.purchase?.status === 'completed';
      });
    }),
  );
}
