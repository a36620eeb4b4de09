// What each end of a search means for its caller: the status, the charge, the row, the books.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { companyKey, newCompany } from '../wallet/company.ts';
import {
  credit,
  emptyResult,
  failedResult,
  hit,
  missed,
  openQueryBed,
  priceMicros,
  type QueryBed,
  refusal,
  result,
  rowOf,
  unansweredMicros,
} from './bed.ts';

let bed: QueryBed;
before(async () => {
  bed = await openQueryBed();
});
after(() => bed?.close());
beforeEach(() => {
  bed.desk.next = missed(result());
  bed.desk.kept = null;
});

const funds = 10n * credit;

test('what was found costs the price, and is told with what is left', async () => {
  const account = await bed.account(funds);
  const reply = await bed.ask(account);
  assert.equal(reply.ok, true);
  assert.equal(reply.surface, 'web_search');
  assert.equal(reply.charge_microcredits, 1_500_000);
  assert.equal(reply.credits_charged, 2, 'rounded up');
  assert.equal(reply.remaining_microcredits, 8_500_000);
  assert.equal(reply.remaining_credits, 8, 'rounded down');
  assert.equal(reply.replayed, false);
  assert.equal(reply.simulated, true);
  assert.equal(reply.request_id, reply.requestId);
  assert.deepEqual(reply.data, { organic: [{ title: 'Paper boats' }] });
  assert.deepEqual(reply.normalized, {
    kind: 'web',
    items: [{ position: 1, title: 'Paper boats', url: 'https://boats.example/' }],
    related: ['origami'],
    empty: false,
    partial: false,
    truncated: false,
    engines: [{ name: 'r1', state: 'found', ms: 12 }],
    cache: { hit: false, age_seconds: 0, max_age_seconds: 300 },
    ignored: [],
    assumed: {},
  });
  assert.equal((await account.balance()).availableMicros, funds - priceMicros);
  await bed.assertBooks();
});

test('the row has figures and a digest, and neither question nor answer', async () => {
  const account = await bed.account(funds);
  const { requestId } = await bed.ask(account);
  const row = await rowOf(bed.sql, requestId);
  assert.equal(row?.status, 'completed');
  assert.equal(row?.route, '/api/v1/query');
  assert.equal(row?.model, 'web_search');
  assert.equal(row?.charge_micros, priceMicros);
  assert.equal(row?.answer, null, 'without a key nothing is kept');
  const { query, ...told } = row?.usage ?? {};
  const { milliseconds, sha256, ...counts } = query as Record<string, unknown>;
  assert.deepEqual(counts, {
    surface: 'web_search',
    state: 'found',
    items: 1,
    attempts: 1,
    target: 'one/web_search',
    hit: false,
  });
  assert.match(String(sha256), /^[a-f0-9]{64}$/);
  assert.ok(Number(milliseconds) >= 0);
  assert.equal(told.charge_microcredits, 1_500_000);
  assert.equal(told.search_calls, 1);
  assert.doesNotMatch(JSON.stringify(row?.usage), /boats/i);
});

test('the digest is that of the reply as it is sent', async () => {
  const account = await bed.account(funds);
  const key = 'digest';
  const reply = await bed.ask(account, { key });
  const row = await rowOf(bed.sql, reply.requestId);
  const text = bed.services.seals.open(reply.requestId, row?.answer ?? '') ?? '';
  const query = row?.usage?.query as Record<string, unknown> | undefined;
  assert.equal(createHash('sha256').update(text).digest('hex'), query?.sha256);
  assert.doesNotMatch(row?.answer ?? '', /boats/i, 'it is sealed');
});

test('the provider gets its part, and never more than the charge', async () => {
  for (const [costMicros, part] of [
    [200_000n, 200_000n],
    [9_000_000n, priceMicros],
  ] as const) {
    const account = await bed.account(funds);
    bed.desk.next = missed(result({ costMicros }));
    await bed.ask(account);
    const [row] = await bed.sql<{ part: bigint }[]>`
      SELECT provider_cost_micros AS part FROM ledger
      WHERE wallet_id = ${account.walletId} AND kind = 'settle'`;
    assert.equal(row?.part, part);
  }
});

test('an empty answer is an answer, and is free', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(emptyResult());
  const reply = await bed.ask(account);
  const { empty, items } = reply.normalized as { empty: boolean; items: unknown[] };
  assert.deepEqual([empty, items, reply.charge_microcredits], [true, [], 0]);
  assert.equal(reply.remaining_microcredits, Number(funds));
  assert.equal((await rowOf(bed.sql, reply.requestId))?.charge_micros, 0n);
  assert.equal((await account.quiet()).availableMicros, funds);
});

test('a partial answer costs the price', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(result({ state: 'partial' }));
  const reply = await bed.ask(account);
  assert.equal((reply.normalized as { partial: boolean }).partial, true);
  assert.equal(reply.charge_microcredits, 1_500_000);
});

test('items without the answer that was wanted cost the price of the search', async () => {
  const account = await bed.account(funds);
  bed.desk.next = missed(result({ answer: null }));
  const surface = { name: 'web_answer', kind: 'answer' as const, maxAgeSeconds: 0 };
  const reply = await bed.ask(account, { surface });
  const { partial, answer } = reply.normalized as { partial: boolean; answer: unknown };
  assert.deepEqual([partial, answer], [true, null]);
  assert.equal(reply.charge_microcredits, Number(unansweredMicros));
  assert.equal(reply.remaining_microcredits, Number(funds - unansweredMicros));
  assert.equal((await account.quiet()).availableMicros, funds - unansweredMicros);
});

const failures = [
  ['refused', 400, 'invalid_request'],
  ['busy', 503, 'upstream_busy'],
  ['timeout', 504, 'upstream_timeout'],
  ['failed', 502, 'upstream_error'],
  ['no_route', 503, 'no_route_available'],
] as const;

for (const [kind, status, code] of failures) {
  test(`a search that is ${kind} is ${status} and free`, async () => {
    const account = await bed.account(funds);
    bed.desk.next = missed(failedResult(kind));
    const problem = await refusal(bed.ask(account));
    assert.deepEqual([problem.status, problem.code], [status, code]);
    if (kind === 'busy') assert.equal(problem.headers['retry-after'], '7');
    const id = problem.headers['x-svc-request-id'] ?? '';
    assert.equal((await account.quiet()).availableMicros, funds);
    const row = await rowOf(bed.sql, id);
    assert.deepEqual([row?.status, row?.usage], ['failed', null]);
    assert.doesNotMatch(row?.problem ?? '', /boats|one\//);
  });
}

test('a reply that is not as documented is 502 and free', async () => {
  const account = await bed.account(funds);
  const items = [{ position: 1, title: 'x', url: 'javascript:alert(1)' }];
  bed.desk.next = missed(result({ items }));
  const problem = await refusal(bed.ask(account));
  assert.equal(problem.status, 502);
  assert.equal((await account.quiet()).availableMicros, funds);
});

test('what is kept for the account is told without a hold, a row or a charge', async () => {
  const account = await bed.account(funds);
  bed.desk.kept = hit(result());
  const asked = bed.desk.asked;
  const reply = await bed.ask(account);
  assert.equal(bed.desk.asked, asked);
  assert.equal(reply.charge_microcredits, 0);
  assert.equal(reply.remaining_microcredits, Number(funds));
  const { cache } = reply.normalized as { cache: unknown };
  assert.deepEqual(cache, { hit: true, age_seconds: 3, max_age_seconds: 300 });
  assert.equal(await rowOf(bed.sql, reply.requestId), null);
});

test('a hit of a request with a key is written with its row, and free', async () => {
  const account = await bed.account(funds);
  bed.desk.next = hit(result());
  const reply = await bed.ask(account, { key: 'kept' });
  assert.equal(reply.charge_microcredits, 0);
  assert.equal((await rowOf(bed.sql, reply.requestId))?.charge_micros, 0n);
  assert.equal((await account.quiet()).availableMicros, funds);
});

test('what is kept for all accounts costs its price, and no provider has a part', async () => {
  const account = await bed.account(funds);
  bed.desk.kept = hit(result());
  bed.desk.next = hit(result());
  const reply = await bed.ask(account, { surface: { isShared: true } });
  assert.equal(reply.charge_microcredits, 1_500_000);
  const [row] = await bed.sql<{ part: bigint }[]>`
    SELECT provider_cost_micros AS part FROM ledger
    WHERE wallet_id = ${account.walletId} AND kind = 'settle'`;
  assert.equal(row?.part, 0n);
});

test('who cannot pay is 402 before anybody is asked', async () => {
  const account = await bed.account(priceMicros - 1n);
  const asked = bed.desk.asked;
  const problem = await refusal(bed.ask(account));
  assert.equal(problem.code, 'insufficient_credits');
  assert.equal(bed.desk.asked, asked);
});

test('the wallet that pays in the place of an organization is the one that is told', async () => {
  const company = await newCompany({ sql: bed.sql }, { funds: 1n, members: [{}] });
  const [accountId = ''] = company.members;
  const keyId = await companyKey({ sql: bed.sql }, company, accountId, null);
  const person = await bed.account(funds);
  const payer = { accountId, keyId, walletId: company.walletId };
  const reply = await bed.ask({ ...payer, fallbackWalletId: person.walletId });
  assert.equal(reply.remaining_microcredits, Number(funds - priceMicros));
  const row = await rowOf(bed.sql, reply.requestId);
  assert.equal(row?.usage?.wallet_type, 'personal');
  assert.deepEqual(await bed.chargesOf(person.walletId), [priceMicros]);
  assert.deepEqual(await bed.chargesOf(company.walletId), []);
});

test('of an organization the least of funds and caps is told', async () => {
  const capped = { funds: 100n * credit, members: [{ cap: Number(4n * credit) }] };
  const company = await newCompany({ sql: bed.sql }, capped);
  const [accountId = ''] = company.members;
  const keyId = await companyKey({ sql: bed.sql }, company, accountId, null);
  const reply = await bed.ask({ accountId, keyId, walletId: company.walletId });
  assert.equal(reply.remaining_microcredits, 2_500_000);
});

test('the books are right after all of this', () => bed.assertBooks());
