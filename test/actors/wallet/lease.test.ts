// The lease of a process: renewed, announced anew, and no judge of others after an outage.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLease } from '../../../actors/wallet/lease.ts';
import { endInstance, listDeadInstances } from '../../../db/instances.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('a lease is settled once it was held without a gap for as long as it lasts', async () => {
  let nowMs = 0;
  const warnings: unknown[] = [];
  const sql = database.pool('general', 1);
  const lease = createLease({
    sql,
    instanceId: 'i-own',
    leaseMs: 15_000,
    clock: () => nowMs,
    log: { warn: (_fields: object, message?: string) => warnings.push(message) },
  });
  const renewAt = async (atMs: number) => {
    nowMs = atMs;
    await lease.renew();
    return lease.isSettled();
  };
  assert.equal(lease.isSettled(), false, 'never registered');
  await lease.register();
  assert.deepEqual(
    [await renewAt(5_000), await renewAt(15_000), await renewAt(20_000)],
    [false, false, true],
  );
  nowMs = 36_000;
  assert.equal(lease.isSettled(), false, 'the database is away');
  // It is back: others that live have not renewed theirs yet.
  assert.deepEqual(
    [await renewAt(40_000), await renewAt(50_000), await renewAt(60_000)],
    [false, false, true],
  );
  await endInstance(sql, 'i-own');
  await lease.renew();
  assert.deepEqual(warnings, ['other processes took this one for dead']);
  assert.deepEqual(await listDeadInstances(sql, 'i-other', true), ['i-own'], 'announced anew');
});
