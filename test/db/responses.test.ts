// Stored responses: who may see which, how far back a conversation is read, and what the sweep
// removes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sql } from '../../db/driver/sql.ts';
import { sweepGenerations } from '../../db/generations.ts';
import {
  type Chain,
  deleteResponse,
  discardResponse,
  findResponse,
  findResponseInput,
  insertResponse,
  type NewResponse,
  readChain,
  sweepResponses,
} from '../../db/responses.ts';
import { firstIdAt, newId } from '../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const accountId = 'acc_000000000000000000000001';
const bounds = { turnsMax: 5, bytesMax: 10_000 };
let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
});
after(() => database.close());

/** A finished generation with this answer. */
async function generation(answer: string): Promise<string> {
  const id = newId('req', 1);
  await sql`
    INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model, instance_id,
      hold_id, status, finished_at, answer)
    VALUES (${id}, ${accountId}, 'wal', '/v1/responses', '', 'm', 'i', 'h', 'completed', now(),
      ${answer})`;
  return id;
}

function response(generationId: string, change: Partial<NewResponse> = {}): NewResponse {
  return {
    generationId,
    accountId,
    previousId: null,
    background: false,
    requestJson: '{"model":"m"}',
    inputJson: '[{"role":"user","content":"\\u0000 hello"}]',
    keptMs: 60_000,
    ...change,
  };
}

/** A conversation; the ids of its generations, the oldest first. */
async function conversation(turns: number, change: Partial<NewResponse> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const id = await generation(`{"turn":${turn}}`);
    await insertResponse(sql, response(id, { previousId: ids.at(-1) ?? null, ...change }));
    ids.push(id);
  }
  return ids;
}

async function chainOf(id: string | undefined): Promise<Chain> {
  return readChain(sql, accountId, id ?? '', bounds);
}

test('a response is its account’s until it is deleted; no late writer brings it back', async () => {
  const id = await generation('{}');
  await insertResponse(sql, response(id));
  await insertResponse(sql, response(id, { requestJson: '{"model":"other"}' }));
  const found = await findResponse(sql, accountId, id);
  assert.equal(found?.requestJson, '{"model":"m"}');
  assert.equal(await findResponseInput(sql, accountId, id), response(id).inputJson);
  assert.equal(await findResponse(sql, 'acc_of_another', id), null);
  assert.equal(await findResponseInput(sql, 'acc_of_another', id), null);
  assert.equal(await deleteResponse(sql, 'acc_of_another', id), false);
  assert.equal(await deleteResponse(sql, accountId, id), true);
  assert.equal(await deleteResponse(sql, accountId, id), false);
  await insertResponse(sql, response(id));
  assert.equal(await findResponse(sql, accountId, id), null);
  const [row] = await sql`SELECT request, input FROM responses WHERE generation_id = ${id}`;
  assert.deepEqual({ ...row }, { request: '{}', input: '[]' }, 'nothing of it is kept');
});

test('an expired response cannot be read; a discarded one never was', async () => {
  const id = await generation('{}');
  await insertResponse(sql, response(id, { keptMs: -1 }));
  assert.equal(await findResponse(sql, accountId, id), null);
  assert.equal((await chainOf(id)).status, 'not_found');
  await discardResponse(sql, id);
  await insertResponse(sql, response(id));
  assert.notEqual(await findResponse(sql, accountId, id), null);
});

test('a conversation is read from its first turn, also past expired ones', async () => {
  const ids = await conversation(3);
  await sql`UPDATE responses SET expires_at = now() WHERE generation_id = ${ids[0] ?? ''}`;
  const chain = await chainOf(ids[2]);
  assert.equal(chain.status, 'found');
  assert.deepEqual(
    chain.status === 'found' && chain.turns.map((turn) => [turn.generationId, turn.answerJson]),
    ids.map((id, turn) => [id, `{"turn":${turn}}`]),
  );
  assert.equal((await readChain(sql, 'acc_of_another', ids[2] ?? '', bounds)).status, 'not_found');
});

test('a deleted turn, or one that is gone, breaks the conversation', async () => {
  const ids = await conversation(3);
  await deleteResponse(sql, accountId, ids[1] ?? '');
  assert.deepEqual(await chainOf(ids[2]), { status: 'not_found', generationId: ids[1] });
  const others = await conversation(3);
  await discardResponse(sql, others[0] ?? '');
  assert.deepEqual(await chainOf(others[2]), { status: 'not_found', generationId: others[0] });
});

test('a refused generation has no response to continue', async () => {
  const id = newId('req', 1);
  await insertResponse(sql, response(id));
  assert.deepEqual(await chainOf(id), { status: 'not_found', generationId: id });
});

test('a conversation is too long beyond its bounds in turns or bytes', async () => {
  assert.equal((await chainOf((await conversation(5)).at(-1))).status, 'found');
  assert.equal((await chainOf((await conversation(6)).at(-1))).status, 'too_long');
  assert.equal((await chainOf((await conversation(9)).at(-1))).status, 'too_long');
  const turnBytes = bounds.bytesMax / 2 - '{"turn":0}'.length;
  const inputJson = `[${' '.repeat(turnBytes - 2)}]`;
  assert.equal((await chainOf((await conversation(2, { inputJson })).at(-1))).status, 'found');
  const more = `${inputJson} `;
  const ids = await conversation(2, { inputJson: more });
  assert.equal((await chainOf(ids.at(-1))).status, 'too_long');
});

test('the sweep removes what has expired, but nothing that a living one continues', async () => {
  await sql`DELETE FROM responses`;
  const ids = await conversation(3);
  const [alone] = await conversation(1);
  assert.equal(await sweepResponses(sql, 100), 0);
  const due = [...ids.slice(0, 2), alone ?? ''];
  await sql`UPDATE responses SET expires_at = now(), kept_until = now()
    WHERE generation_id IN ${sql(due)}`;
  assert.equal(await sweepResponses(sql, 100), 3);
  const kept = () => sql`SELECT generation_id FROM responses ORDER BY generation_id`;
  assert.deepEqual(
    (await kept()).map((row) => String(row.generation_id)),
    ids.toSorted(),
  );
  assert.equal((await chainOf(ids[2])).status, 'found');
  assert.equal(await sweepResponses(sql, 100), 0, 'it is not looked at again at once');
  // The last turn expires: nobody needs any of them.
  await sql`UPDATE responses SET expires_at = now(), kept_until = now()
    WHERE generation_id = ${ids[2] ?? ''}`;
  assert.equal(await sweepResponses(sql, 100), 1);
  assert.deepEqual([...(await kept())], []);
});

test('a turn stays for each that continues it, and goes with the last of them', async () => {
  await sql`DELETE FROM responses`;
  const [root = '', one = ''] = await conversation(2);
  const other = await generation('{}');
  await insertResponse(sql, response(other, { previousId: root }));
  const left = async () => {
    const rows = await sql`SELECT generation_id FROM responses ORDER BY generation_id`;
    return rows.map((row) => String(row.generation_id));
  };
  const expire = (ids: string[]) => sql`UPDATE responses SET expires_at = now(), kept_until = now()
    WHERE generation_id IN ${sql(ids)}`;
  await expire([root, one]);
  assert.equal(await sweepResponses(sql, 100), 2);
  assert.deepEqual(await left(), [root, other].sort());
  await expire([other]);
  assert.equal(await sweepResponses(sql, 100), 1);
  assert.deepEqual(await left(), []);
});

test('a long conversation goes in few looks, not one for each pair of its turns', async () => {
  await sql`DELETE FROM responses`;
  const ids = await conversation(60);
  await sql`UPDATE responses SET expires_at = now(), kept_until = now()`;
  // The first page has its oldest turns, whose last one is not due before.
  await sql`UPDATE responses SET kept_until = now() + interval '1 minute'
    WHERE generation_id = ${ids.at(-1) ?? ''}`;
  assert.equal(await sweepResponses(sql, 100), 59);
  await sql`UPDATE responses SET kept_until = now() WHERE generation_id = ${ids.at(-1) ?? ''}`;
  assert.equal(await sweepResponses(sql, 100), 1);
  assert.equal((await sql`SELECT 1 FROM responses`).length, 0);
});

/** The generations of these ids that still have a key or an answer. */
async function kept(ids: readonly string[]): Promise<unknown[]> {
  const rows = await sql<{ id: string; key: string | null; answer: string | null }[]>`
    SELECT id, idempotency_key AS key, answer FROM generations WHERE id = ANY(${[...ids]})`;
  const found = new Map(rows.map(({ id, key, answer }) => [id, [key, answer]]));
  return ids.map((id) => found.get(id));
}

async function keyed(key: string): Promise<string> {
  const id = await generation('{}');
  await sql`UPDATE generations SET idempotency_key = ${key} WHERE id = ${id}`;
  return id;
}

test('an answer goes with its key, or with the response that shows it, and no sooner', async () => {
  const plain = await generation('{}');
  const underKey = await keyed('swept-1');
  const shown = await keyed('swept-2');
  const deleted = await keyed('swept-3');
  const running = await generation('{}');
  await sql`UPDATE generations SET status = 'running', finished_at = NULL WHERE id = ${running}`;
  await insertResponse(sql, response(shown));
  await insertResponse(sql, response(deleted));
  assert.equal(await deleteResponse(sql, accountId, deleted), true);
  const all = [plain, underKey, shown, deleted, running];
  const stays = [null, '{}'];
  const before = [stays, ['swept-1', '{}'], ['swept-2', '{}'], ['swept-3', '{}'], stays];
  assert.deepEqual(await kept(all), before, 'a key may still ask');
  const sweepUntil = async (id: string) => {
    while ((await sweepGenerations(sql, id, 2)) === 2);
  };
  await sweepUntil(firstIdAt('req', 0));
  assert.deepEqual(await kept(all), before, 'they are not old enough');
  await sweepUntil(firstIdAt('req', Date.now() + 1));
  const gone = [null, null];
  assert.deepEqual(await kept(all), [gone, gone, stays, gone, stays]);
  await sql`UPDATE responses SET expires_at = now(), kept_until = now()
    WHERE generation_id = ${shown}`;
  while ((await sweepResponses(sql, 100)) === 100);
  assert.deepEqual(await kept([shown]), [gone], 'its response has expired');
});

test('a deleted response takes its answer with it when no key may ask for it', async () => {
  const id = await generation('{}');
  await insertResponse(sql, response(id));
  assert.equal(await deleteResponse(sql, accountId, id), true);
  assert.deepEqual(await kept([id]), [[null, null]]);
});
