// What is stored while a request looks for its generation, more than once where its key is taken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MakeSink, Opened } from '../../../actors/generation/open.ts';
import { ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { openStored, type Storing } from '../../../routes/responses/storing.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
});
after(() => database.close());

/** Opens as a client does who makes a sink for each of these generations and hears of the last. */
async function open(...ids: [string, ...string[]]): Promise<void> {
  const storing = {
    services: { sql, limits: { generation: { storedMs: 60_000 } } },
    caller: { accountId: 'acc_000000000000000000000001' },
    body: { model: 'm', input: 'hello' },
    previousId: null,
    isLong: false,
  } as unknown as Storing;
  const opened = async (makeSink: MakeSink): Promise<Opened> => {
    let [last] = ids;
    for (const requestId of ids) {
      last = requestId;
      makeSink({ requestId, createdAtMs: 0 });
      await sleep(2);
    }
    const clientGone = () => {};
    const opening = { kind: 'stream' } as const;
    const sink = new ReplySink(null);
    return { requestId: last, createdAtMs: 0, opening, replayed: false, sink, clientGone };
  };
  await openStored(storing, opened)(() => new ReplySink(null));
}

async function stored(ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ generation_id: string }[]>`
    SELECT generation_id FROM responses WHERE generation_id = ANY(${[...ids]})`;
  return rows.map((row) => row.generation_id);
}

test('who looks twice at a generation that has just ended takes nothing of it back', async () => {
  const ids = Array.from({ length: 20 }, () => newId('req', 1));
  await Promise.all(ids.map((id) => open(id, id)));
  // What would be taken back is so behind the reply.
  await sleep(200);
  assert.deepEqual((await stored(ids)).sort(), ids.sort());
});

test('a duplicate that never came to be is taken back for the one that did', async () => {
  const pairs = Array.from({ length: 20 }, () => [newId('req', 1), newId('req', 1)] as const);
  await Promise.all(pairs.map(([duplicate, real]) => open(duplicate, real)));
  const deadline = performance.now() + 10_000;
  const all = pairs.flat();
  while ((await stored(all)).length > pairs.length && performance.now() < deadline) await sleep(20);
  assert.deepEqual((await stored(all)).sort(), pairs.map(([, real]) => real).sort());
});
