// Idempotency keys: one search, one charge, equal replies, whoever comes when.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sweepGenerations } from '../../../db/generations.ts';
import {
  credit,
  emptyResult,
  failedResult,
  missed,
  openQueryBed,
  priceMicros,
  type QueryBed,
  refusal,
  result,
  rowOf,
} from './bed.ts';

let bed: QueryBed;
before(async () => {
  bed = await openQueryBed();
});
after(() => bed?.close());
beforeEach(() => {
  bed.desk.next = missed(result());
});

const funds = 100n * credit;

test('fifty at once with one key are one search, one charge and equal replies', async () => {
  const account = await bed.account(funds);
  const asked = bed.desk.asked;
  bed.desk.next = null;
  const replies = Array.from({ length: 50 }, () => bed.ask(account, { key: 'fifty' }));
  await until(() => bed.desk.asked > asked);
  await new Promise((resolve) => setTimeout(resolve, 300));
  bed.desk.answer(missed(result()));
  const told = await Promise.all(replies);
  assert.equal(bed.desk.asked, asked + 1);
  assert.equal(told.filter(({ replayed }) => replayed === false).length, 1);
  const alike = new Set(told.map(({ replayed, ...rest }) => JSON.stringify(rest)));
  assert.equal(alike.size, 1);
  assert.deepEqual(await bed.chargesOf(account.walletId), [priceMicros]);
});

test('a finished one is told again, word for word but for `replayed`', async () => {
  const account = await bed.account(funds);
  const first = await bed.ask(account, { key: 'again' });
  await bed.ask(account);
  const asked = bed.desk.asked;
  const second = await bed.ask(account, { key: 'again' });
  assert.equal(bed.desk.asked, asked);
  assert.deepEqual(second, { ...first, replayed: true });
  assert.deepEqual(await bed.chargesOf(account.walletId), [priceMicros, priceMicros]);
});

test('an empty one is told again too', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(emptyResult());
  const first = await bed.ask(account, { key: 'nothing' });
  bed.desk.next = missed(result());
  assert.deepEqual(await bed.ask(account, { key: 'nothing' }), { ...first, replayed: true });
});

test('another body under the key is 422, while it runs and afterwards', async () => {
  const account = await bed.account(funds);
  bed.desk.next = null;
  const asked = bed.desk.asked;
  const first = bed.ask(account, { key: 'body' });
  await until(() => bed.desk.asked > asked);
  const other = { key: 'body', fingerprint: '0'.repeat(64) };
  assert.equal((await refusal(bed.ask(account, other))).status, 422);
  bed.desk.answer(missed(result()));
  await first;
  assert.equal((await refusal(bed.ask(account, other))).status, 422);
});

test('what would be refused by now is told again all the same', async () => {
  const account = await bed.account(funds);
  await bed.ask(account, { key: 'refused' });
  const refuse = () => assert.fail('nothing is planned for a replay');
  assert.equal((await bed.ask(account, { key: 'refused', refuse })).replayed, true);
});

test('a failed one frees its key', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(failedResult('failed'));
  assert.equal((await refusal(bed.ask(account, { key: 'free' }))).status, 502);
  bed.desk.next = missed(result());
  const reply = await bed.ask(account, { key: 'free' });
  assert.deepEqual([reply.replayed, reply.charge_microcredits], [false, Number(priceMicros)]);
});

test('those who wait with the key hear of the failure as well', async () => {
  const account = await bed.account(funds);
  bed.desk.next = null;
  const asked = bed.desk.asked;
  const first = refusal(bed.ask(account, { key: 'both' }));
  await until(() => bed.desk.asked > asked);
  const second = refusal(bed.ask(account, { key: 'both' }));
  await attached();
  bed.desk.answer(missed(failedResult('timeout')));
  assert.deepEqual([(await first).status, (await second).status], [504, 504]);
});

test('one that runs in another process is a conflict with Retry-After', async () => {
  const account = await bed.account(funds);
  bed.desk.next = null;
  const asked = bed.desk.asked;
  const first = bed.ask(account, { key: 'elsewhere' });
  await until(() => bed.desk.asked > asked);
  await bed.sql`UPDATE generations SET instance_id = 'ins_other'
    WHERE account_id = ${account.accountId}`;
  const problem = await refusal(bed.ask(account, { key: 'elsewhere' }));
  assert.deepEqual([problem.status, problem.headers['retry-after']], [409, '1']);
  bed.desk.answer(missed(result()));
  await first;
});

test('after a day the sealed reply is gone from its row', async () => {
  const account = await bed.account(funds);
  const { requestId } = await bed.ask(account, { key: 'day' });
  assert.notEqual((await rowOf(bed.sql, requestId))?.answer, null);
  await sweepGenerations(bed.sql, `req_${'f'.repeat(24)}`, 10_000);
  const row = await rowOf(bed.sql, requestId);
  assert.equal(row?.answer, null);
  assert.equal(row?.charge_micros, priceMicros);
});

test('the books are right after all of this', () => bed.assertBooks());

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isSo()) {
    assert.ok(performance.now() < deadline, 'it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Long enough for a look at the database and a message. */
function attached(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}
