// What is stored while a request looks for its generation, more than once where its key is taken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MakeSink, Opened } from '../../../actors/generation/open.ts';
import { type Opening, ReplySink } from '../../../actors/subscriber/reply-sink.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { emptyAnswer } from '../../../media/model/answer.ts';
import { openStored, type StoreRequest, type Storing } from '../../../routes/responses/storing.ts';
import { newId } from '../../../runtime/ids.ts';
import { plainProblem } from '../../../runtime/problem.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { neutralRequest } from '../../harness/request.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
});
after(() => database.close());

interface Given {
  /** A hold was asked for each, or it ran already; the client hears of the last. */
  ids: [string, ...string[]];
  /** These were granted one, or their wallet is rich. */
  stores?: readonly string[];
  /** The last one never came to be. */
  isRefused?: boolean;
}

/** Opens as a client does who makes a sink for each of the generations. */
async function open({ ids, stores = ids, isRefused = false }: Given): Promise<void> {
  const storing = {
    services: { sql, limits: { generation: { storedMs: 60_000 } } },
    caller: { accountId: 'acc_000000000000000000000001' },
    body: { model: 'm', input: 'hello' },
    previousId: null,
    request: neutralRequest(),
  } as unknown as Storing;
  const opened = async (makeSink: MakeSink, store: StoreRequest): Promise<Opened> => {
    let [last] = ids;
    for (const requestId of ids) {
      last = requestId;
      makeSink({ requestId, createdAtMs: 0 });
      if (stores.includes(requestId)) store(requestId);
      await sleep(2);
    }
    const clientGone = () => {};
    const problem = plainProblem('insufficient_credits');
    const answer = emptyAnswer();
    const end = { status: 'failed', problem, answer, svcUsage: null, svcRouting: null } as const;
    const opening: Opening = isRefused ? { kind: 'end', end } : { kind: 'stream' };
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
  await Promise.all(ids.map((id) => open({ ids: [id, id] })));
  // What would be taken back is so behind the reply.
  await sleep(200);
  assert.deepEqual((await stored(ids)).sort(), ids.sort());
});

test('a duplicate that never came to be is taken back for the one that did', async () => {
  const pairs = Array.from({ length: 20 }, () => [newId('req', 1), newId('req', 1)] as const);
  await Promise.all(pairs.map(([duplicate, real]) => open({ ids: [duplicate, real] })));
  const deadline = performance.now() + 10_000;
  const all = pairs.flat();
  while ((await stored(all)).length > pairs.length && performance.now() < deadline) await sleep(20);
  assert.deepEqual((await stored(all)).sort(), pairs.map(([, real]) => real).sort());
});

test('one that ran before the client came has its row, whoever wrote it', async () => {
  const id = newId('req', 1);
  await open({ ids: [id], stores: [] });
  assert.deepEqual(await stored([id]), [id]);
});

test('what no hold was granted for is never written, and taken back where it was', async () => {
  await sql`CREATE TABLE seen (generation_id text)`;
  await sql.unsafe(`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO seen VALUES (NEW.generation_id); RETURN NEW; END $$`);
  await sql`CREATE TRIGGER see AFTER INSERT ON responses FOR EACH ROW EXECUTE FUNCTION see()`;
  const poor = newId('req', 1);
  const rich = newId('req', 1);
  await open({ ids: [poor], stores: [], isRefused: true });
  await open({ ids: [rich], isRefused: true });
  const deadline = performance.now() + 10_000;
  const written = () => sql<{ generation_id: string }[]>`SELECT generation_id FROM seen`;
  while ((await written()).length === 0 && performance.now() < deadline) await sleep(20);
  while ((await stored([poor, rich])).length > 0 && performance.now() < deadline) await sleep(20);
  assert.deepEqual(
    (await written()).map((row) => row.generation_id),
    [rich],
  );
  assert.deepEqual(await stored([poor, rich]), []);
});
