// Queries through a real gateway with the simulator's providers: every surface, its shape, its
// price, and who may ask.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { factsOf, surfaceNames } from '../../../media/search/surfaces.ts';
import { Contract } from '../../harness/contract.ts';
import { addKey, addMember, makeOrganization } from '../../harness/organization.ts';
import { makeSession } from '../../harness/sign-in.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { ask, bearer, freshQuery } from './asked.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const queries: Readonly<Record<string, string>> = {
  engine_flights: 'ZRH JFK',
  engine_routes: 'Zurich to Bern',
  engine_hotels: 'Lisbon',
};

test('each surface has items of its kind, and the charges are those of the ledger', async () => {
  const account = await bed.account();
  let told = 0;
  for (const surface of surfaceNames) {
    const query = queries[surface] ?? freshQuery();
    const reply = await ask(contract, bearer(account), { surface, query });
    const where = `${surface}: ${reply.status} ${reply.text.slice(0, 300)}`;
    assert.equal(reply.status, 200, where);
    const { normalized, charge_microcredits, request_id } = reply.json;
    assert.equal(normalized.kind, factsOf(surface).kind, where);
    assert.ok(normalized.items.length > 0, where);
    assert.equal(reply.headers.get('x-svc-request-id'), request_id);
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    told += charge_microcredits;
  }
  const [row] = await bed.sql<{ micros: bigint }[]>`
    SELECT coalesce(sum(revenue_micros + provider_cost_micros), 0)::bigint AS micros FROM ledger
    WHERE wallet_id = ${account.walletId} AND kind = 'settle'`;
  assert.equal(BigInt(told), row?.micros);
  assert.ok(told >= surfaceNames.length * 1_000_000);
});

test('the same again is a hit of the own cache: free, and of nobody else', async () => {
  const [account, other] = [await bed.account(), await bed.account()];
  const body = { surface: 'web_search', query: freshQuery() };
  const first = await ask(contract, bearer(account), body);
  const second = await ask(contract, bearer(account), body);
  const stranger = await ask(contract, bearer(other), body);
  const hits = [first, second, stranger].map(({ json }) => json.normalized.cache.hit);
  assert.deepEqual(hits, [false, true, false]);
  assert.equal(second.json.charge_microcredits, 0);
  assert.deepEqual(second.json.normalized.items, first.json.normalized.items);
  const anew = await ask(contract, bearer(account), { ...body, max_age_seconds: 0 });
  assert.equal(anew.json.normalized.cache.hit, false);
});

test('a key is replayed from its sealed reply, wherever the key stood', async () => {
  const account = await bed.account();
  const query = freshQuery('kept secret');
  const body = { surface: 'engine_news', query };
  const header = { ...bearer(account), 'idempotency-key': 'one' };
  const first = await ask(contract, header, body);
  const again = await ask(contract, bearer(account), { ...body, request_id: 'one' });
  assert.deepEqual(again.json, { ...first.json, replayed: true });
  const [row] = await bed.sql<{ text: string }[]>`
    SELECT row_to_json(g)::text AS text FROM generations g WHERE id = ${first.json.request_id}`;
  assert.doesNotMatch(row?.text ?? '', /secret/);
  const differ = await ask(contract, header, { ...body, request_id: 'two' });
  assert.deepEqual([differ.status, differ.json.error.code], [400, 'invalid_request']);
  const moved = { ...body, params: { limit: 3 } };
  assert.equal((await ask(contract, header, moved)).status, 422);
});

test('fifty with one key over all threads are one charge and equal replies', async () => {
  const account = await bed.account();
  const query = `[[search first_ms=300]] ${freshQuery()}`;
  const body = { surface: 'web_search', query, request_id: 'fifty', max_age_seconds: 0 };
  const asked = Array.from({ length: 50 }, () => ask(contract, bearer(account), body));
  const replies = await Promise.all(asked);
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  assert.equal(replies.filter(({ json }) => !json.replayed).length, 1);
  const alike = replies.map(({ json }) => JSON.stringify({ ...json, replayed: true }));
  assert.equal(new Set(alike).size, 1);
  assert.equal((await account.quiet()).availableMicros, 999_000_000n);
});

test('a parameter is the same at either place', async () => {
  const account = await bed.account();
  const query = freshQuery();
  const header = { ...bearer(account), 'idempotency-key': 'places' };
  const first = await ask(contract, header, { surface: 'web_search', query, params: { limit: 3 } });
  const second = await ask(contract, header, { surface: 'web_search', query, limit: 3 });
  assert.deepEqual(second.json, { ...first.json, replayed: true });
});

test('what the state of a query is, GET /v1/generations tells without its provider', async () => {
  const account = await bed.account();
  const body = { surface: 'web_search', query: freshQuery() };
  const { json } = await ask(contract, bearer(account), body);
  const path = `/v1/generations/${json.request_id}`;
  const told = await contract.call('GET', path, { headers: bearer(account) });
  assert.equal(told.status, 200);
  assert.equal(told.json.model, 'web_search');
  assert.equal(told.json.status, 'completed');
  assert.doesNotMatch(told.text, /simulator|sha256|target/);
});

test('bodies that cannot be are 400 at their member, before anything is held', async () => {
  const account = await bed.account();
  const bad: [Record<string, unknown>, string][] = [
    [{ surface: 'engine_books', query: 'x' }, 'surface'],
    [{ surface: 'web_search', query: '   ' }, 'query'],
    [{ surface: 'web_search', query: 'x'.repeat(2_001) }, 'query'],
    [{ surface: 'engine_autocomplete', query: 'x'.repeat(201) }, 'query'],
    [{ surface: 'web_search', query: 'x', params: [] }, 'params'],
    [{ surface: 'web_search', query: 'x', max_age_seconds: 86_401 }, 'max_age_seconds'],
  ];
  for (const [body, path] of bad) {
    const { status, json, text } = await ask(contract, bearer(account), body);
    assert.equal(status, 400, text);
    assert.deepEqual(json.error.details, { path }, text);
  }
  assert.equal((await account.balance()).availableMicros, 1_000_000_000n);
  const long = { surface: 'web_search', query: 'x', filler: 'y'.repeat(70_000) };
  assert.equal((await ask(contract, bearer(account), long)).status, 413);
});

test('a key needs the scope, and people need none', async () => {
  const scopeless = await bed.account({ scopes: ['models:generate'] });
  const body = { surface: 'web_search', query: freshQuery() };
  const refused = await ask(contract, bearer(scopeless), body);
  assert.deepEqual([refused.status, refused.json.error.code], [403, 'insufficient_scope']);
  const cookie = {
    cookie: `svc_session=${await makeSession(bed.sql, scopeless.accountId, 'browser')}`,
  };
  const own = await ask(contract, { ...cookie, origin: bed.url }, body);
  assert.equal(own.status, 200, own.text);
  assert.equal(
    (await ask(contract, { ...cookie, origin: 'https://evil.example' }, body)).status,
    403,
  );
  assert.equal((await ask(contract, {}, body)).status, 401);
});

test('an organization that allows no provider of the surface is 403 with the rule', async () => {
  const person = await bed.account();
  const settings = { data_residency_region: 'eu' };
  const company = await makeOrganization(bed.sql, person.accountId, settings);
  const accountId = await addMember(bed.sql, company, person.accountId, 'owner');
  const key = await addKey(bed.sql, { accountId, walletId: company.walletId });
  const header = { authorization: `Bearer ${key.token}` };
  const body = { surface: 'web_search', query: freshQuery() };
  const { status, json } = await ask(contract, header, body);
  assert.deepEqual([status, json.error.code], [403, 'policy_blocked']);
  assert.equal(json.error.details?.rule, 'data_residency_region');
});

test('empty wallets are 402 with the price', async () => {
  const account = await bed.account({ micros: 999_999n });
  const body = { surface: 'web_search', query: freshQuery() };
  const { status, json, headers } = await ask(contract, bearer(account), body);
  assert.deepEqual([status, json.error.code], [402, 'insufficient_credits']);
  assert.equal(headers.get('x-svc-required-microcredits'), '1000000');
});

test('an empty answer is 200 and free, and 101 of them are 429 on that surface alone', async () => {
  const account = await bed.account();
  const empty = () =>
    ask(contract, bearer(account), {
      surface: 'engine_autocomplete',
      query: `[[search empty=1]] ${freshQuery('nothing')}`,
    });
  const first = await empty();
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([first.json.normalized.empty, first.json.charge_microcredits], [true, 0]);
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 10 }, empty));
  }
  const refused = await empty();
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limited']);
  assert.ok(Number(refused.headers.get('retry-after')) > 1_000);
  const other = { surface: 'web_search', query: freshQuery() };
  assert.equal((await ask(contract, bearer(account), other)).status, 200);
  assert.equal((await account.quiet()).availableMicros, 999_000_000n);
});

test('the books are right after all of this', async () => {
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
