// What anybody may ask without a key, the account's own money, and the administrator's view; and
// what every route has in common: request ids, CORS, unknown paths.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askChat, openChat, streamChat } from '../harness/chat.ts';
import { Contract } from '../harness/contract.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
let startedAt = 0;
before(async () => {
  bed = await openTestbed({ own: 'it asks for the status of every model' });
  startedAt = performance.now();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

test('there is no model status before the first snapshot', async (t) => {
  const early = await contract.call('GET', '/api/public/model-status');
  if (performance.now() - startedAt > 7_000) return t.skip('the machine was slower than that');
  assert.equal(early.status, 503);
  assert.ok(Number(early.headers.get('retry-after')) >= 1);
});

test('health names database and shards', async () => {
  const watch = startStopwatch();
  const { status, json, headers } = await contract.call('GET', '/api/health');
  assert.equal(status, 200);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(json.ok, true);
  assert.equal(json.status, 'ok');
  const { latency_ms: latencyMs } = json.database as { latency_ms: number };
  assert.ok(latencyMs >= 0 && latencyMs < 1_000 * watch.busyFactor(), `${latencyMs} ms`);
  const shards = json.shards as { id: number; status: string; actors: number }[];
  assert.deepEqual(new Set(shards.map((shard) => shard.id)).size, 2);
  const head = await fetch(`${bed.url}/api/health`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
});

test('the public catalog has a version, and is not sent twice', async () => {
  const first = await contract.call('GET', '/api/public/models');
  assert.equal(first.status, 200);
  const version = first.json.content_version as string;
  assert.equal(first.headers.get('x-svc-catalog-version'), version);
  assert.equal(first.headers.get('etag'), `"${version}"`);
  assert.equal(
    first.headers.get('cache-control'),
    'public, max-age=60, stale-while-revalidate=300',
  );
  for (const tag of [`"${version}"`, `W/"${version}"`, `"other", "${version}"`, '*']) {
    const again = await contract.call('GET', '/api/public/models', {
      headers: { 'if-none-match': tag },
    });
    assert.equal(again.status, 304, tag);
    assert.equal(again.headers.get('etag'), `"${version}"`);
  }
  for (const tag of ['"other"', version.slice(1)]) {
    const other = await contract.call('GET', '/api/public/models', {
      headers: { 'if-none-match': tag },
    });
    assert.equal(other.status, 200, tag);
  }
  assert.doesNotMatch(first.text, /simulator|127\.0\.0\.1|simulated-chat/);
});

test('the public catalog says what its rates contain, and what a credit is worth', async () => {
  const { json } = await contract.call('GET', '/api/public/models');
  assert.deepEqual([json.markup_percent, json.credits_per_usd], [5, 100]);
});

test('catalog entries have public rates with the markup, tiers included', async () => {
  const { json } = await contract.call('GET', '/api/public/models');
  const models = json.models as Record<string, unknown>[];
  const chat = models.find(({ alias }) => alias === 'svc-sim-chat');
  assert.equal(chat?.credits_per_million_input, 262.5);
  assert.equal(chat?.credits_per_million_cached_input, 26.25);
  assert.equal(chat?.credits_per_million_output, 1_050);
  assert.equal(chat?.provider, 'svc');
  assert.equal(chat?.context_window, 128_000);
  const tiered = models.find(({ alias }) => alias === 'svc-sim-tiered');
  assert.deepEqual(tiered?.pricing_tiers, [
    {
      min_input_tokens: 1_001,
      credits_per_million_input: 525,
      credits_per_million_cached_input: 52.5,
      credits_per_million_output: 2_100,
    },
  ]);
  const account = await bed.account();
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const llm = await contract.call('GET', '/api/v1/llm/models', { headers });
  assert.deepEqual(llm.json.models, models);
});

test('managed routes are listed, with no rate that their models do not share', async () => {
  const { json } = await contract.call('GET', '/api/public/models');
  const models = json.models as Record<string, unknown>[];
  const { apiKey } = await bed.account();
  const list = await contract.call('GET', '/v1/models', {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const ids = (list.json.data as { id: string }[]).map(({ id }) => id);
  for (const alias of ['svc-intelligent', 'svc-coder']) {
    for (const name of [alias, `${alias}-direct`]) {
      assert.ok(ids.includes(name), name);
      const entry = models.find((model) => model.alias === name);
      assert.equal(entry?.credits_per_million_input, 262.5, 'all of the pool cost the same');
      const [tier] = (entry?.pricing_tiers ?? []) as Record<string, unknown>[];
      assert.equal(tier?.credits_per_million_input, null, 'one has a tier, one has none');
    }
  }
});

test('a tier applies to every token from its first input token on', async () => {
  const account = await bed.account();
  const charges = [];
  for (const words of [1_000, 1_001]) {
    const text = `${'word '.repeat(words - 2)}[[sim tokens=2]]`;
    const { body } = await askChat(account, text, { model: 'svc-sim-tiered' });
    assert.equal(body.svc_usage.input_tokens, words);
    assert.equal(body.model, 'svc-sim-tiered');
    charges.push(body.svc_usage.charge_microcredits);
  }
  assert.deepEqual(charges, [1_000 * 262.5 + 2_100, Math.ceil(1_001 * 525 + 4_200)]);
});

test('the catalog names packages, clients and documents that are there', async () => {
  const { json } = await contract.call('GET', '/api/catalog');
  const docs = json.docs as Record<string, string>;
  for (const url of Object.values(docs)) assert.equal((await fetch(url)).status, 200, url);
});

test('the billing summary is exact, held amounts included', async () => {
  const account = await bed.account({ micros: 123_456_789n });
  const session = { headers: { 'x-svc-session': account.sessionToken } };
  const read = async () => {
    const { status, json } = await contract.call('GET', '/api/me/billing/summary', session);
    assert.equal(status, 200);
    const wallet = json.wallet as Record<string, string | number>;
    for (const name of ['balance', 'available', 'held']) {
      assert.equal(String(wallet[`${name}_microcredits`]), wallet[`${name}_exact`]);
    }
    const [balance, available, held] = ['balance', 'available', 'held'].map((name) =>
      Number(wallet[`${name}_microcredits`]),
    );
    assert.equal(balance, (available ?? 0) + (held ?? 0));
    return { json, wallet };
  };
  const empty = await read();
  assert.equal(empty.wallet.balance_exact, '123456789');
  assert.equal(empty.wallet.balance_credits, 123.456789);
  const stream = await openChat(account, '[[sim tokens=30 gap_ms=100]]');
  await stream.read(2);
  const during = await read();
  assert.ok(Number(during.wallet.held_microcredits) > 0);
  const { active } = during.json.reservations as { active: Record<string, unknown>[] };
  assert.equal(active.length, 1);
  assert.equal(active[0]?.request_id, stream.headers.get('x-svc-request-id'));
  assert.equal(active[0]?.amount_exact, during.wallet.held_exact);
  await stream.read();
  await askChat(account, '[[sim status=500]]');
  await account.quiet();
  const after = await read();
  const charge = stream.svcUsage?.charge_microcredits ?? 0;
  assert.equal(after.wallet.balance_exact, String(123_456_789 - charge));
  const [usage] = after.json.usage as Record<string, unknown>[];
  assert.equal(usage?.requests, 1);
  assert.equal(usage?.charge_exact, String(charge));
  assert.equal(usage?.output_tokens, 30);
  const { released } = after.json.reservations as { released: Record<string, unknown>[] };
  assert.equal(released.length, 1);
  const key = { headers: { authorization: `Bearer ${account.apiKey}` } };
  const byKey = await contract.call('GET', '/api/me/billing/summary', key);
  assert.equal((byKey.json.wallet as { id: string }).id, account.walletId);
});

test('the live view is for administrators, and counts what lives', async () => {
  const account = await bed.account();
  const plain = { headers: { 'x-svc-session': account.sessionToken } };
  assert.equal((await contract.call('GET', '/api/admin/status', plain)).status, 403);
  const chief = await bed.account({ admin: true });
  for (const token of [bed.dev.admin_session_token, chief.sessionToken]) {
    const headers = { 'x-svc-session': token };
    const { status, json } = await contract.call('GET', '/api/admin/status', { headers });
    assert.equal(status, 200);
    const tree = json.tree as { kind: string }[];
    const kinds = new Set(tree.map(({ kind }) => kind));
    for (const kind of ['wallet', 'generation', 'subscriber', 'monitor']) {
      assert.ok(kinds.has(kind), kind);
    }
  }
});

test('generations and their subscribers leave nothing alive', async () => {
  const account = await bed.account();
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await streamChat(account, '[[sim tokens=5]]', {}, { key: `leak ${index}`.replace(' ', '-') });
      const controller = new AbortController();
      const options = { signal: controller.signal };
      const left = await openChat(account, '[[sim tokens=10 gap_ms=10]]', {}, options);
      await left.read(2);
      controller.abort();
    }),
  );
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  const deadline = performance.now() + 45_000;
  for (;;) {
    const { json } = await contract.call('GET', '/api/admin/status', { headers });
    const actors = json.actors as { kind: string; alive: number; crashes: number }[];
    const alive = actors
      .filter(({ kind }) => kind === 'generation' || kind === 'subscriber')
      .reduce((sum, row) => sum + row.alive, 0);
    assert.equal(
      actors.reduce((sum, { crashes }) => sum + crashes, 0),
      0,
    );
    if (alive === 0 && json.detached_generations === 0) break;
    assert.ok(performance.now() < deadline, `${alive} are still alive`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
});

test("the caller's request id is kept when it is one, else replaced", async () => {
  const paths = ['/api/health', '/v1/models', '/api/me/api-keys', '/nothing/here'];
  for (const path of paths) {
    const kept = await fetch(bed.url + path, { headers: { 'x-request-id': 'abc.DEF:1-2_3' } });
    assert.equal(kept.headers.get('x-request-id'), 'abc.DEF:1-2_3', path);
    for (const bad of ['a b', 'x'.repeat(129), '<script>']) {
      const made = await fetch(bed.url + path, { headers: { 'x-request-id': bad } });
      const id = made.headers.get('x-request-id') ?? '';
      assert.ok(id !== bad && /^[A-Za-z0-9._:-]{1,128}$/.test(id), `${path} ${id}`);
    }
  }
  const refused = await contract.call('GET', '/api/me/api-keys', {
    headers: { 'x-request-id': 'same-in-body' },
  });
  assert.equal((refused.json.error as { request_id: string }).request_id, 'same-in-body');
});

function preflight(path: string, origin: string, method: string): Promise<Response> {
  return fetch(bed.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, content-type, x-stainless-lang',
    },
  });
}

/** Headers that this contract gives a meaning, as pages of any origin find them. */
const readByPages = [
  'x-request-id',
  'request-id',
  'x-svc-request-id',
  'x-svc-routing-receipt-id',
  'x-svc-required-microcredits',
  'x-svc-available-microcredits',
  'x-svc-catalog-version',
  'x-should-retry',
  'retry-after',
  'www-authenticate',
  'etag',
  ...['limit', 'remaining', 'reset'].flatMap((name) => [
    `x-ratelimit-${name}-requests`,
    `x-ratelimit-${name}-concurrency`,
  ]),
];

test('any origin may call the model routes, and reads our headers', async () => {
  for (const path of ['/v1/chat/completions', '/api/v1/chat/completions']) {
    const answer = await preflight(path, 'https://app.example', 'POST');
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.match(answer.headers.get('access-control-allow-methods') ?? '', /POST/);
    assert.match(answer.headers.get('access-control-allow-headers') ?? '', /x-stainless-lang/);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
  }
  const refused = await fetch(`${bed.url}/v1/models`, { headers: { origin: 'https://a.example' } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  const exposed = refused.headers.get('access-control-expose-headers')?.split(', ') ?? [];
  for (const name of readByPages) assert.ok(exposed.includes(name), name);
});

test('only the web origin may call the cookie routes', async () => {
  const foreign = await preflight('/api/me/api-keys', 'https://evil.example', 'POST');
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  const own = await preflight('/api/me/api-keys', bed.url, 'POST');
  assert.equal(own.headers.get('access-control-allow-origin'), bed.url);
  assert.equal(own.headers.get('access-control-allow-credentials'), 'true');
});

test('unknown paths and methods are refused in the envelope of their place', async () => {
  const unknown = await fetch(`${bed.url}/v1/nothing`);
  assert.equal(unknown.status, 404);
  const { error } = (await unknown.json()) as { error: Record<string, unknown> };
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  const plain = await fetch(`${bed.url}/api/nothing`);
  assert.equal(plain.status, 404);
  assert.equal(((await plain.json()) as { ok: boolean }).ok, false);
  const put = await fetch(`${bed.url}/v1/models`, { method: 'PUT' });
  assert.equal(put.status, 405);
  assert.match(put.headers.get('allow') ?? '', /GET/);
  await put.arrayBuffer();
});

test('after ten seconds the model status is there, and names no provider', async () => {
  const deadline = startedAt + 90_000;
  for (;;) {
    const reply = await contract.call('GET', '/api/public/model-status');
    if (reply.status === 200) {
      assert.ok(performance.now() - startedAt > 7_000, 'not long before');
      assert.equal(reply.headers.get('cache-control'), 'public, max-age=300');
      const models = reply.json.models as Record<string, unknown>[];
      const chat = models.find(({ alias }) => alias === 'svc-sim-chat');
      assert.equal(chat?.status, 'operational');
      assert.equal(chat?.routes_total, 1);
      assert.equal(chat?.routes_operational, 1);
      const ill = models.filter(({ status }) => status !== 'operational');
      assert.deepEqual(ill, [], 'the simulator runs them all');
      assert.doesNotMatch(reply.text, /simulat(or|ed)|127\.0\.0\.1/);
      return;
    }
    assert.ok(performance.now() < deadline, 'no snapshot');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
});
