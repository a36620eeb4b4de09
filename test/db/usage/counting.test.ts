// Rows become quarters and quarters become days, each charge once, whatever is late, killed, or
// done twice at once. What is shown is what the journal charged, at every moment between.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { closeUsage, countUsage } from '../../../actors/usage/rounds.ts';
import { type LinePlace, type LinesAsked, listLines } from '../../../db/billing/ledger.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { foldNext } from '../../../db/usage/folding.ts';
import { usageSources } from '../../../db/usage/sources.ts';
import { readUsageState, takeTurn } from '../../../db/usage/turn.ts';
import type { UsageOwner } from '../../../db/usage.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import {
  beginAt,
  dayMs,
  figuresShown,
  hourMs,
  journalCharge,
  limits,
  newOwner,
  request,
  settle,
  shown,
  shownCharge,
  stateOf,
} from './world.ts';

let database: TestDatabase;
let sql: Sql;
let owner: UsageOwner;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
});
beforeEach(async () => {
  await sql`DELETE FROM generations`;
  await sql`DELETE FROM holds`;
  owner = await newOwner(sql);
  await beginAt(sql, Date.now() - 3 * dayMs);
});
after(() => database.close());

let repairs = 0;
const metrics = {
  repaired: (count: number) => {
    repairs += count;
  },
};
const close = () => closeUsage(sql, limits, metrics);

async function assertShown(what: string): Promise<void> {
  assert.equal(await shownCharge(sql, owner), await journalCharge(sql, owner.walletId), what);
}

async function quarterSum(): Promise<bigint> {
  const [row] = await sql<{ sum: bigint }[]>`
    SELECT coalesce(sum(charge_micros), 0)::bigint AS sum FROM usage_quarters
    WHERE wallet_id = ${owner.walletId}`;
  return row?.sum ?? 0n;
}

async function daySums(): Promise<Record<string, bigint>> {
  const rows = await sql<{ day: string; sum: bigint }[]>`
    SELECT day::text AS day, sum(charge_micros)::bigint AS sum FROM usage_days
    WHERE wallet_id = ${owner.walletId} GROUP BY day ORDER BY day`;
  return Object.fromEntries(rows.map(({ day, sum }) => [day, sum]));
}

const today = () => Math.floor(Date.now() / dayMs) * dayMs;
const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

test('a charge is shown before it is counted, once it is, and when its day is closed', async () => {
  const yesterday = today() - dayMs;
  await request(sql, owner, yesterday, { charge: 1, keyId: 'key_a' });
  await request(sql, owner, yesterday + dayMs - 1, { charge: 10, keyId: 'key_b' });
  await request(sql, owner, today(), { charge: 100, model: 'n' });
  await assertShown('read live');
  assert.equal(await quarterSum(), 0n);
  assert.equal(await countUsage(sql, limits), true);
  assert.equal(await quarterSum(), 111n);
  await assertShown('from quarters');
  await close();
  assert.deepEqual(await daySums(), { [dayText(yesterday)]: 11n });
  await assertShown('from the day and quarters');
  const { models, days, keys } = await shown(sql, owner);
  assert.deepEqual(
    models.map(({ model, settled, input_tokens: input }) => [model, settled, input]),
    [
      ['m', 2n, 6n],
      ['n', 1n, 3n],
    ],
  );
  assert.deepEqual(
    days.map(({ day, charge_micros: charge }) => [day, charge]),
    [
      [dayText(yesterday), 11n],
      [dayText(today()), 100n],
    ],
  );
  assert.deepEqual(keys.map(({ apiKeyId }) => apiKeyId).sort(), ['key_a', 'key_b', null]);
});

test('a day is one of UTC, whatever zone the server and the session are in', async () => {
  const midnight = today() - 2 * dayMs;
  await request(sql, owner, midnight - 1, { charge: 1 });
  await request(sql, owner, midnight, { charge: 10 });
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu']) {
    await beginAt(sql, Date.now() - 3 * dayMs);
    const strange = database.pool('general', 1);
    await strange.unsafe(`SET TimeZone TO '${zone}'`);
    await countUsage(strange, limits);
    await closeUsage(strange, limits, metrics);
    assert.deepEqual(await daySums(), { [dayText(midnight - 1)]: 1n, [dayText(midnight)]: 10n });
    await strange.end({ timeout: 1 });
  }
});

test('nothing is counted behind the oldest that still runs', async () => {
  const base = Date.now() - hourMs;
  await request(sql, owner, base, { charge: 1 });
  const running = await request(sql, owner, base + 1_000, { status: 'running' });
  await request(sql, owner, base + 2_000, { charge: 100 });
  await countUsage(sql, limits);
  assert.equal(await quarterSum(), 1n);
  await assertShown('one runs');
  await settle(sql, owner, running, 10);
  await assertShown('it has ended');
  await countUsage(sql, limits);
  assert.equal(await quarterSum(), 111n);
  await assertShown('all are counted');
});

test('it stays behind the clock, and what is younger is read live', async () => {
  await request(sql, owner, Date.now() - 30_000, { charge: 1 });
  await request(sql, owner, Date.now() - 90_000, { charge: 10 });
  await countUsage(sql, { ...limits, behindMs: 60_000 });
  assert.equal(await quarterSum(), 10n);
  await assertShown('the younger one is live');
});

test('requests that failed are counted beside those that were charged', async () => {
  await request(sql, owner, Date.now() - hourMs, { status: 'failed' });
  await request(sql, owner, Date.now() - hourMs, { model: 'n' });
  const expected = [
    ['m', 1n, 1n, 0n],
    ['n', 1n, 0n, 1n],
  ];
  const look = async () => {
    assert.deepEqual(
      (await shown(sql, owner)).models.map(({ model }) => model),
      ['n'],
    );
    return (await figuresShown(sql, owner)).map(({ model, requests, failed, settled }) => [
      model,
      requests,
      failed,
      settled,
    ]);
  };
  assert.deepEqual(await look(), expected, 'live');
  await countUsage(sql, limits);
  assert.deepEqual(await look(), expected, 'counted');
  const [row] = await sql`SELECT sum(requests)::integer AS requests, sum(failed)::integer AS failed
    FROM usage_quarters WHERE wallet_id = ${owner.walletId}`;
  assert.deepEqual({ ...row }, { requests: 2, failed: 1 });
});

test('rows from before it began are added backwards, the newest first', async () => {
  const first = today() - 5 * dayMs;
  for (let hour = 0; hour < 5 * 24; hour += 4) {
    await request(sql, owner, first + hour * hourMs, { charge: 1 });
  }
  await beginAt(sql, Date.now());
  let left = 0;
  for (const source of usageSources) {
    await takeTurn(sql, (turn, state) => foldNext(turn, state, source, limits));
  }
  const step = { ...limits, roundForMs: 0 };
  for (let done = false; !done; left += 1) {
    const sumBefore = await shownCharge(sql, owner);
    done = await countUsage(sql, step);
    await closeUsage(sql, limits, metrics);
    const sum = await shownCharge(sql, owner);
    assert.ok(sum >= sumBefore && sum - sumBefore <= limits.rowsMax, `${sum - sumBefore} at once`);
    const { days } = await shown(sql, owner);
    const oldest = days[0]?.day ?? dayText(Date.now());
    // All from the oldest day on are whole, but that one.
    for (const { day, charge_micros: charge } of days) if (day !== oldest) assert.equal(charge, 6n);
  }
  assert.ok(left >= 4, `${left} steps`);
  await assertShown('all days are made');
  assert.equal(Object.keys(await daySums()).length, 5);
  const state = await stateOf(sql);
  assert.equal(state.closedFromMs, 0);
  assert.ok([...state.counted.values()].every(({ sinceId }) => sinceId === ''));
});

test('the nightly comparison makes quarters and days right, and counts it', async () => {
  const yesterday = today() - dayMs;
  for (const charge of [1, 10, 100]) await request(sql, owner, yesterday + 5_000, { charge });
  await countUsage(sql, limits);
  await takeTurn(
    sql,
    (turn) => turn`
    UPDATE usage_quarters SET charge_micros = charge_micros + 7, requests = 2
    WHERE wallet_id = ${owner.walletId}`,
  );
  // With an id that was passed long before: a clock that is far behind.
  await request(sql, owner, yesterday + 3 * hourMs, { charge: 1_000, model: 'late' });
  repairs = 0;
  await sql`UPDATE usage_state SET repaired_until = ${new Date(yesterday)}`;
  await close();
  assert.equal(repairs, 2);
  await assertShown('repaired');
  assert.deepEqual(await daySums(), { [dayText(yesterday)]: 1_111n });
  const { models } = await shown(sql, owner);
  assert.deepEqual(
    models.map(({ settled }) => settled),
    [1n, 3n],
  );
  await sql`UPDATE usage_state SET repaired_until = ${new Date(yesterday)}`;
  await close();
  assert.equal(repairs, 2, 'there is nothing left to repair');
});

test('quarters are forgotten when they are old, and their days stay', async () => {
  const old = today() - 2 * dayMs;
  await request(sql, owner, old + hourMs, { charge: 1 });
  await request(sql, owner, today(), { charge: 10 });
  await countUsage(sql, limits);
  await closeUsage(sql, { ...limits, quartersKeptMs: dayMs }, metrics);
  assert.equal(await quarterSum(), 10n);
  await assertShown('the old day');
});

test('days that lie far apart have a line each in the ledger, on pages of any length', async () => {
  const ago = [0, 1, 40, 41, 399, 700];
  for (const days of ago) await request(sql, owner, today() - days * dayMs, { charge: 3 });
  await beginAt(sql, Date.now());
  const expected = ago.map((days) => ['usage', dayText(today() - days * dayMs), -3n]);
  const firstMs = today() - 800 * dayMs;
  const read = async (limit: number) => {
    const found = [];
    for (let after: LinePlace | null = null, isFirst = true; isFirst || after !== null; ) {
      isFirst = false;
      const page: LinesAsked = { limit, after, firstMs };
      const { lines, next } = await sql.begin('isolation level repeatable read', async (turn) =>
        listLines(turn, await readUsageState(turn), owner, page),
      );
      found.push(...lines.map((line) => [line.kind, line.reference, line.amountMicros]));
      after = next;
    }
    return found;
  };
  await countUsage(sql, limits);
  for (const limit of [1, 2, 100]) assert.deepEqual(await read(limit), expected, 'quarters');
  await close();
  assert.equal(Object.keys(await daySums()).length, ago.length - 1);
  for (const limit of [1, 2, 100]) assert.deepEqual(await read(limit), expected, 'days');
});

test('two rounds at once count each row once', async () => {
  for (let n = 0; n < 40; n += 1) await request(sql, owner, Date.now() - dayMs - n * 60_000);
  const others = [database.pool('general', 2), database.pool('general', 2)];
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(others.map((pool) => countUsage(pool, limits)));
    await Promise.all(others.map((pool) => closeUsage(pool, limits, metrics)));
  }
  await countUsage(sql, limits);
  assert.equal(await quarterSum(), 200n);
  await assertShown('counted by two');
});
