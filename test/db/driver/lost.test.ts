// What becomes of queries and transactions when a connection is cut, falls silent, or is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  classifyError,
  closePool,
  DeadlineError,
  openPool,
  type SqlFailure,
  withDeadline,
} from '../../../db/driver/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { openDatabaseProxy } from '../../harness/proxy.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database.close();
});

/** A pool through a proxy that the test controls. */
async function through(options: { connectionsMax: number; statementTimeoutMs: number }) {
  const proxy = await openDatabaseProxy(database.url);
  const sql = openPool({ url: proxy.url, purpose: 'general', ...options });
  return {
    proxy,
    sql,
    async close() {
      await closePool(sql, 1_000);
      proxy.close();
    },
  };
}

/** What a query ends with: rows, what its error means, or nothing in time. */
async function ends<T>(query: PromiseLike<T>): Promise<T | SqlFailure> {
  return withDeadline(query, 30_000).catch((error: unknown) => {
    assert.ok(!(error instanceof DeadlineError), 'every query ends');
    return classifyError(error);
  });
}

test('connections that are cut all the time hang no query and mix up no answers', async () => {
  const { proxy, sql, close } = await through({ connectionsMax: 1, statementTimeoutMs: 20_000 });
  try {
    let answered = 0;
    let refused = 0;
    const underWay = new Set<Promise<void>>();
    const ask = async (asked: string) => {
      const rows = await ends(sql<{ asked: string }[]>`SELECT ${asked}::text AS asked`);
      if (typeof rows === 'string') {
        assert.equal(rows, 'unavailable');
        refused += 1;
      } else {
        assert.equal(rows[0]?.asked, asked, 'the answer is that of its query');
        answered += 1;
      }
    };
    // A query a turn, so that some begin in the one in which their connection ends.
    let failure: unknown = null;
    for (let turn = 0, cuts = 0; cuts < 60 || answered < 60; turn += 1) {
      if (failure !== null) throw failure;
      if (underWay.size < 40) {
        const asking = ask(`number ${turn}`);
        underWay.add(asking);
        const fail = (error: unknown) => {
          failure ??= error;
        };
        asking.finally(() => underWay.delete(asking)).catch(fail);
      }
      if (cuts < 60 && answered > 5) {
        proxy.cut();
        answered = 0;
        cuts += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(underWay);
    assert.ok(refused > 0, 'some were cut');
  } finally {
    await close();
  }
});

test('a transaction whose connection is cut fails, and nothing escapes or stays', async () => {
  const { proxy, sql, close } = await through({ connectionsMax: 1, statementTimeoutMs: 20_000 });
  try {
    const other = database.pool('general', 1);
    await other`CREATE TABLE cut (value int)`;
    for (const isCaught of [false, true]) {
      const outcome = await ends(
        sql.begin(async (transaction) => {
          await transaction`INSERT INTO cut VALUES (1)`;
          const asleep = transaction`SELECT pg_sleep(10)`;
          setTimeout(() => proxy.cut(), 50);
          if (isCaught) await asleep.catch(() => undefined);
          else await asleep;
          await transaction`INSERT INTO cut VALUES (2)`;
        }),
      );
      assert.equal(outcome, 'unavailable');
      const [row] = await sql`SELECT count(*)::int AS rows FROM cut`;
      assert.deepEqual(row, { rows: 0 });
    }
  } finally {
    await close();
  }
});

test('a transaction commits nothing after a failure, caught or not', async () => {
  const sql = database.pool('general', 1);
  await sql`CREATE TABLE kept (value int PRIMARY KEY)`;
  const failed = sql.begin(async (transaction) => {
    await transaction`INSERT INTO kept VALUES (1)`;
    await transaction`INSERT INTO kept VALUES (1)`.catch(() => undefined);
  });
  assert.equal(await ends(failed), 'unique');
  await assert.rejects(
    sql.begin(async (transaction) => {
      await transaction`INSERT INTO kept VALUES (2)`;
      throw new Error('changed my mind');
    }),
    /changed my mind/,
  );
  const done = await sql.begin((transaction) => [
    transaction`INSERT INTO kept VALUES (3)`,
    transaction`INSERT INTO kept VALUES (4) RETURNING value`,
  ]);
  assert.deepEqual(done[1]?.[0], { value: 4 });
  assert.deepEqual(
    (await sql<{ value: number }[]>`SELECT value FROM kept ORDER BY 1`).map(({ value }) => value),
    [3, 4],
  );
});

test('transactions that have every connection let the queries wait', async () => {
  const sql = database.pool('general', 2);
  const order: string[] = [];
  const hold = () =>
    sql.begin(async (transaction) => {
      await transaction`SELECT pg_sleep(0.1)`;
      order.push('transaction');
    });
  const holding = [hold(), hold(), hold()];
  await Promise.all([...holding, sql`SELECT 1`.then(() => order.push('query'))]);
  assert.equal(order[0], 'transaction');
  assert.deepEqual(order.toSorted(), ['query', 'transaction', 'transaction', 'transaction']);
});

test('a network that falls silent is told in time, and found again when it is back', async () => {
  const { proxy, sql, close } = await through({ connectionsMax: 3, statementTimeoutMs: 500 });
  try {
    // Each waits for the others: one connection may be ready long before the next.
    let held = 0;
    const hold = () =>
      sql.begin(async (transaction) => {
        await transaction`SELECT 1`;
        held += 1;
        while (held < 3) await sleep(5);
      });
    await Promise.all([hold(), hold(), hold()]);
    assert.equal(proxy.taken, 3);
    proxy.setMode('silent');
    const begun = performance.now();
    assert.equal(await ends(sql`SELECT 1`), 'unavailable');
    const toldMs = performance.now() - begun;
    // Those that were idle are not asked one after the other.
    assert.equal(await ends(sql`SELECT 1`), 'unavailable');
    // The proxy may hear of it in a later turn.
    const heardBy = performance.now() + 5_000;
    while (proxy.taken < 4 && performance.now() < heardBy) await sleep(10);
    assert.equal(proxy.taken, 4, 'a new one was tried');
    proxy.setMode('pass');
    const again = await ends(sql<{ one: number }[]>`SELECT 1 AS one`);
    assert.deepEqual([...again], [{ one: 1 }]);
    console.log(`# told after ${Math.round(toldMs)} ms`);
  } finally {
    await close();
  }
});

test('a network that is slow is only slow', async () => {
  const { proxy, sql, close } = await through({ connectionsMax: 1, statementTimeoutMs: 4_000 });
  try {
    proxy.delayMs = 300;
    const all = [1, 2, 3].map((value) => sql<{ value: number }[]>`SELECT ${value}::int AS value`);
    const rows = (await Promise.all(all)).flat();
    assert.deepEqual(
      rows.map(({ value }) => value),
      [1, 2, 3],
    );
    assert.equal(proxy.taken, 1);
  } finally {
    await close();
  }
});

test('a process that stood still reads its answers before it calls the server silent', async () => {
  const { url } = database;
  const sql = openPool({ url, purpose: 'general', connectionsMax: 1, statementTimeoutMs: 500 });
  try {
    const [first] = await sql`SELECT pg_backend_pid() AS pid`;
    const asked = ends(sql`SELECT pg_backend_pid() AS pid FROM pg_sleep(0.2)`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Behind this the timers are what comes first.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    assert.deepEqual([...(await asked)], [first], 'answered, on the same connection');
  } finally {
    await closePool(sql, 1_000);
  }
});

test('a port that drops what it takes is told, and not asked all the time', async () => {
  const { proxy, sql, close } = await through({ connectionsMax: 4, statementTimeoutMs: 4_000 });
  try {
    proxy.setMode('drop');
    for (let tried = 0; tried < 3; tried += 1) {
      const all = Array.from({ length: 20 }, () => ends(sql`SELECT 1`));
      assert.deepEqual([...new Set(await Promise.all(all))], ['unavailable']);
    }
    assert.ok(proxy.taken <= 4 + 2, `${proxy.taken} connections for 60 queries`);
    proxy.setMode('pass');
    assert.equal((await sql`SELECT 1`).length, 1);
  } finally {
    await close();
  }
});

test('a server that became read-only is left: the one to write to may be another', async () => {
  const sql = database.pool('general', 1);
  const backend = async () =>
    (await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`)[0]?.pid;
  await sql`CREATE TABLE written (value int)`;
  await sql`SET default_transaction_read_only = on`;
  const before = await backend();
  assert.equal(await ends(sql`INSERT INTO written VALUES (1)`), 'unavailable');
  assert.notEqual(await backend(), before);
  assert.equal((await sql`INSERT INTO written VALUES (2) RETURNING 1`).length, 1);
});

test('a server with room for one connection more serves all through that one', async () => {
  const admin = database.pool('general', 1);
  const role = `narrow_${Date.now()}`;
  await admin.unsafe(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1`);
  const proxy = await openDatabaseProxy(database.url);
  const url = proxy.url.replace(/\/\/[^@]*@/, `//${role}@`);
  const sql = openPool({ url, purpose: 'general', connectionsMax: 3, statementTimeoutMs: 4_000 });
  try {
    // 53300 too_many_connections is what the other connections are told.
    const all = Array.from({ length: 12 }, () => ends(sql`SELECT pg_sleep(0.02)`));
    const told = await Promise.all(all);
    assert.deepEqual(
      told.filter((rows) => typeof rows === 'string'),
      [],
    );
  } finally {
    await closePool(sql, 1_000);
    proxy.close();
    await admin.unsafe(`DROP ROLE ${role}`);
  }
});

test('a server that is full for a moment is waited for, one that stays full is told', async () => {
  const admin = database.pool('general', 1);
  const role = `crowded_${Date.now()}`;
  await admin.unsafe(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1`);
  const proxy = await openDatabaseProxy(database.url);
  const url = proxy.url.replace(/\/\/[^@]*@/, `//${role}@`);
  const open = (connectionsMax: number) =>
    openPool({ url, purpose: 'general', connectionsMax, statementTimeoutMs: 4_000 });
  const first = open(1);
  const sql = open(3);
  try {
    await first`SELECT 1`;
    const ask = () => Promise.all([1, 2, 3].map(() => ends(sql`SELECT 1`)));
    const watch = startStopwatch();
    assert.deepEqual(await ask(), ['unavailable', 'unavailable', 'unavailable']);
    watch.assertWithin(2_000, 'told');
    await assert.rejects(async () => await sql`SELECT 1`, /too many connections for role/);
    const waiting = ask();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await closePool(first, 1_000);
    for (const rows of await waiting) assert.notEqual(rows, 'unavailable');
  } finally {
    await closePool(first, 1_000);
    await closePool(sql, 1_000);
    proxy.close();
    await admin.unsafe(`DROP ROLE ${role}`);
  }
});
