// A gateway that starts while its database stalls: it waits for it, within its budget.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';

let database: TestDatabase;
let gateway: Gateway | null = null;

before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await gateway?.close();
  await database.close();
});

test('a statement that the server gives up does not end the start', async () => {
  const sql = database.pool('general', 1);
  let hasStarted = false;
  const starting = await sql.begin(async (locked) => {
    await locked`LOCK TABLE instances IN ACCESS EXCLUSIVE MODE`;
    // In an object: what this resolves with is awaited.
    const start = { ended: startGateway({ env: { DATABASE_URL: database.url }, shards: 1 }) };
    const over = () => {
      hasStarted = true;
    };
    start.ended.then(over, over);
    const waiting = async () => {
      const rows = await locked<{ name: string }[]>`
        SELECT virtualtransaction AS name FROM pg_locks
        WHERE NOT granted AND relation = 'instances'::regclass`;
      return rows.map(({ name }) => name);
    };
    // The announcement of the new process waits here, until its statement's time is over.
    let first: string | undefined;
    while (!hasStarted && first === undefined) {
      await sleep(20);
      first = (await waiting())[0];
    }
    while (!hasStarted && (await waiting()).includes(first ?? '')) await sleep(20);
    return start;
  });
  gateway = await starting.ended;
  const health = await fetch(`${gateway.url}/api/health`);
  assert.equal(health.status, 200);
});
