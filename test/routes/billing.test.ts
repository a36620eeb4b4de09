// The billing summary and the dashboard. Every kind of request is in it as soon as it is settled,
// and still is when it is counted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countUsage } from '../../actors/usage/rounds.ts';
import { usageKinds } from '../../db/usage/sources.ts';
import { newId } from '../../runtime/ids.ts';
import { journalCharge, limits } from '../db/usage/world.ts';
import { Contract } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

import { liveOn } from './me/life.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({
    own: 'it counts usage up to now',
    env: { TOLLGATE_VIDEO_HASTE: '40' },
  });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const path = '/api/me/billing/summary';

interface Used {
  requests: number;
  charge_microcredits: number;
  charge_exact: string;
}

interface Summary {
  wallet: { id: string };
  usage: (Used & { model: string })[];
  usage_by_day: (Used & { day: string })[];
  usage_by_key: (Used & { api_key_id: string | null })[];
  usage_since: string;
  debt_microcredits: number;
  debt_exact: string;
}

async function summaryOf(sessionToken: string): Promise<Summary> {
  const headers = { 'x-svc-session': sessionToken };
  const reply = await contract.call('GET', path, { headers });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as unknown as Summary;
}

const sumOf = (rows: Used[]) => rows.reduce((sum, row) => sum + BigInt(row.charge_exact), 0n);

test('every kind that charges is in the usage, before it is counted and after', async () => {
  const { person } = await liveOn(bed, contract);
  const total = await journalCharge(bed.sql, person.walletId);
  assert.ok(total > 0n);
  const before = await summaryOf(person.sessionToken);
  for (const rows of [before.usage, before.usage_by_day, before.usage_by_key]) {
    assert.equal(sumOf(rows), total);
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  await countUsage(bed.sql, limits);
  const counted = await bed.sql<{ kind: string; charge: bigint; units: bigint }[]>`
    SELECT kind, sum(charge_micros)::bigint AS charge,
      sum(milliseconds + characters)::bigint AS units
    FROM usage_quarters WHERE wallet_id = ${person.walletId} GROUP BY kind`;
  const kinds = counted.map(({ kind }) => kind);
  // Nobody has spoken to it yet.
  const missing = usageKinds.filter((kind) => !kinds.includes(kind));
  assert.deepEqual(
    missing.filter((kind) => !['voice', 'transcription'].includes(kind)),
    [],
  );
  for (const { kind, units } of counted) {
    const isByUnit = kind === 'speech' || kind === 'video';
    if (isByUnit) assert.ok(units > 0n, `${kind} is charged by ${units} units`);
  }
  const after = await summaryOf(person.sessionToken);
  assert.deepEqual(after.usage, before.usage);
  assert.deepEqual(after.usage_by_key, before.usage_by_key);
  assert.deepEqual(after.usage_by_day, before.usage_by_day);
});

test('a summary tells of debt, and from when on all usage is counted', async () => {
  const { sessionToken, accountId, walletId } = await bed.account();
  const fresh = await summaryOf(sessionToken);
  assert.equal(fresh.debt_microcredits, 0);
  assert.deepEqual(fresh.usage, []);
  assert.ok(Date.parse(fresh.usage_since) <= Date.now());
  for (const debt of [7, 35]) {
    await bed.sql`
      INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
        price_cents, currency, debt_micros)
      VALUES (${newId('pur', 0)}, ${accountId}, ${walletId}, 'small', 'completed', 1000, 100,
        'usd', ${debt})`;
  }
  const owing = await summaryOf(sessionToken);
  assert.equal(owing.debt_microcredits, 42);
  assert.equal(owing.debt_exact, '42');
});

test('four summaries at once are four answers', async () => {
  const { sessionToken, walletId } = await bed.account();
  const read = () => summaryOf(sessionToken);
  for (const { wallet } of await Promise.all([read(), read(), read(), read()])) {
    assert.equal(wallet.id, walletId);
  }
});

test('the dashboard has the newest of each', async () => {
  const { sessionToken, accountId, walletId, keyId } = await bed.account();
  for (let n = 0; n < 22; n += 1) {
    await bed.sql`
      INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
        price_cents, currency)
      VALUES (${newId('pur', n)}, ${accountId}, ${walletId}, 'small', 'completed', 1000, 100,
        'usd')`;
  }
  const headers = { 'x-svc-session': sessionToken };
  const reply = await contract.call('GET', '/api/me/dashboard', { headers });
  assert.equal(reply.status, 200, reply.text);
  const { user, wallet, api_keys, purchases, ledger, packages, surfaces } = reply.json as Record<
    string,
    { id: string }[] & { id: string }
  >;
  assert.equal(user?.id, accountId);
  assert.equal(wallet?.id, walletId);
  assert.deepEqual(
    api_keys?.map(({ id }) => id),
    [keyId],
  );
  assert.equal(purchases?.length, 20);
  assert.equal(ledger?.length, 1);
  assert.ok((packages?.length ?? 0) > 0 && surfaces !== undefined);
});
