// Who leaves, cancels, or is stopped pays nothing; a thousand at once pay what there is money for.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { cancelQuery } from '../../../actors/query/open.ts';
import { tallyName } from '../../../actors/query/plan.ts';
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
  bed.desk.next = null;
});

const funds = 10n * credit;

/** A client that can leave. */
function client(): { onAbort: (listener: () => void) => void; leave(): void } {
  const listeners: (() => void)[] = [];
  return {
    onAbort: (listener) => void listeners.push(listener),
    leave: () => {
      for (const listener of listeners) listener();
    },
  };
}

async function searching(count = 1): Promise<void> {
  const deadline = performance.now() + 5_000;
  const wanted = bed.desk.asked + count;
  while (bed.desk.asked < wanted) {
    assert.ok(performance.now() < deadline, 'nobody was asked');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a client that leaves ends its search, and pays nothing', async () => {
  const account = await bed.account(funds);
  const { onAbort, leave } = client();
  const aborted = bed.desk.aborted;
  const asked = refusal(bed.ask(account, { onAbort }));
  await searching();
  leave();
  await asked;
  assert.equal(bed.desk.aborted, aborted + 1);
  assert.equal((await account.quiet()).availableMicros, funds);
  assert.equal(bed.outcomes.at(-1), 'web_search left');
});

test('one that leaves before its hold is there is asked of nobody', async () => {
  const account = await bed.account(funds);
  const { onAbort, leave } = client();
  const asked = bed.desk.asked;
  const told = refusal(
    bed.ask(account, {
      onAbort: (listener) => {
        onAbort(listener);
        leave();
      },
    }),
  );
  await told;
  assert.equal(bed.desk.asked, asked);
  assert.equal((await account.quiet()).availableMicros, funds);
});

test('it goes on while another with its key waits, and ends with the last of them', async () => {
  const account = await bed.account(funds);
  const [first, second] = [client(), client()];
  const gone = bed.ask(account, { key: 'two', onAbort: first.onAbort });
  await searching();
  const stays = bed.ask(account, { key: 'two', onAbort: second.onAbort });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const aborted = bed.desk.aborted;
  first.leave();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(bed.desk.aborted, aborted);
  bed.desk.answer(missed(result()));
  assert.equal((await stays).ok, true);
  assert.deepEqual(await bed.chargesOf(account.walletId), [priceMicros]);
  await gone;

  const [third, fourth] = [client(), client()];
  const one = refusal(bed.ask(account, { key: 'last', onAbort: third.onAbort }));
  await searching();
  const other = refusal(bed.ask(account, { key: 'last', onAbort: fourth.onAbort }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  third.leave();
  fourth.leave();
  await Promise.all([one, other]);
  assert.equal(bed.desk.aborted, aborted + 1);
});

test('who comes with the key of one that is just left runs it anew', async () => {
  const account = await bed.account(funds);
  const { onAbort, leave } = client();
  const gone = refusal(bed.ask(account, { key: 'retry', onAbort }));
  await searching();
  const [query] = [...bed.running.values()];
  assert.ok(query !== undefined);
  // On the way of the retry: its row was seen while the first client was there.
  leave();
  const late = query.ask('attach', { listener: 'late' }, 5_000);
  const left = query.ask('attach', { listener: 'left' }, 5_000);
  query.tell('leave', { listener: 'left' });
  assert.equal((await gone).code, 'upstream_error');
  assert.deepEqual(await late, { ok: true, value: { kind: 'duplicate' } });
  assert.equal((await left).ok, true);
  assert.equal(bed.outcomes.at(-1), 'web_search left');
  bed.desk.next = missed(result());
  const again = await bed.ask(account, { key: 'retry' });
  assert.deepEqual([again.replayed, again.charge_microcredits], [false, Number(priceMicros)]);
});

test('retries that race with a client that leaves are answered, and paid once', async () => {
  const account = await bed.account(100n * credit);
  for (let round = 0; round < 20; round += 1) {
    const key = `race ${round}`;
    const { onAbort, leave } = client();
    bed.desk.next = null;
    const gone = bed.ask(account, { key, onAbort }).catch(() => null);
    await searching();
    const retry = bed.ask(account, { key });
    await new Promise((resolve) => setTimeout(resolve, round / 4));
    bed.desk.next = missed(result());
    leave();
    // Where the retry has attached, the search goes on for it.
    bed.desk.answer(missed(result()));
    assert.equal((await retry).ok, true, key);
    await gone;
  }
  assert.equal((await bed.chargesOf(account.walletId)).length, 20);
  await bed.assertBooks();
});

test('a cancelled one costs nothing, and its row says so', async () => {
  const account = await bed.account(funds);
  const told = refusal(bed.ask(account, { key: 'cancelled' }));
  await searching();
  const [requestId = ''] = [...bed.running.values()].map(({ id }) => id);
  await cancelQuery(bed.services, requestId);
  assert.equal((await told).code, 'conflict');
  assert.equal((await account.quiet()).availableMicros, funds);
  assert.equal((await rowOf(bed.sql, requestId))?.status, 'cancelled');
});

test('a stop ends what runs with 503, and gives its hold back', async () => {
  const account = await bed.account(funds);
  const told = refusal(bed.ask(account));
  await searching();
  for (const query of bed.running.values()) query.tell('interrupt', null);
  assert.equal((await told).code, 'overloaded');
  assert.equal((await account.quiet()).availableMicros, funds);
  assert.equal(bed.running.size, 0);
});

test('who is left when the stop waits no longer is told so', async () => {
  const account = await bed.account(funds);
  const told = refusal(bed.ask(account));
  await searching();
  for (const query of bed.running.values()) query.tell('giveUp', null);
  assert.equal((await told).code, 'dependency_unavailable');
});

test('a search that never ends is 504 in the end', async () => {
  const own = await openQueryBed({ lateMs: 50 });
  own.desk.next = null;
  const account = await own.account(funds);
  assert.equal((await refusal(own.ask(account))).status, 504);
  assert.equal((await account.quiet()).availableMicros, funds);
  await own.close();
});

test('over 100 unpaid answers that are most of an hour are counted, left ones too', async () => {
  const account = await bed.account(funds);
  const name = tallyName(account.accountId, 'web_search');
  bed.desk.next = missed(emptyResult());
  for (let count = 0; count < 100; count += 1) await bed.ask(account);
  assert.equal(bed.tally.retryAfterSeconds(name, Date.now()), null);
  bed.desk.next = null;
  const { onAbort, leave } = client();
  const asked = refusal(bed.ask(account, { onAbort }));
  await searching();
  leave();
  await asked;
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok((bed.tally.retryAfterSeconds(name, Date.now()) ?? 0) > 3_000);
  const other = tallyName(account.accountId, 'engine_news');
  assert.equal(bed.tally.retryAfterSeconds(other, Date.now()), null);
});

test('a failure is on neither side of the tally', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(failedResult('failed'));
  for (let count = 0; count < 101; count += 1) await refusal(bed.ask(account));
  const name = tallyName(account.accountId, 'web_search');
  assert.equal(bed.tally.retryAfterSeconds(name, Date.now()), null);
});

test('a thousand at once on money for a hundred are a hundred', async () => {
  const account = await bed.account(100n * priceMicros);
  bed.desk.next = missed(result());
  const ends = await Promise.allSettled(Array.from({ length: 1_000 }, () => bed.ask(account)));
  const paid = ends.filter(({ status }) => status === 'fulfilled');
  assert.equal(paid.length, 100);
  const refused = ends.filter((end) => end.status === 'rejected').map((end) => end.reason.code);
  assert.deepEqual([...new Set(refused)], ['insufficient_credits']);
  assert.equal((await account.quiet()).availableMicros, 0n);
  await bed.assertBooks();
});
