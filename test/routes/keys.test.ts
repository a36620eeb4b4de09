// API keys over their whole life: made, listed, used within scope, revoked on every shard.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { keyLimits } from '../../actors/credentials/limits.ts';
import { newKeyToken } from '../../actors/credentials/token.ts';
import type { TestAccount } from '../harness/account.ts';
import { chatBody } from '../harness/chat.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

const shards = 3;
let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ shards });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

interface KeyRecord {
  id: string;
  label: string;
  environment: string;
  scopes: string[];
  prefix: string;
  status: string;
  created_at: string;
  last_used_at: string | null;
  requests_per_minute: number;
  concurrency_max: number;
}

const path = '/api/me/api-keys';

function session(account: TestAccount): { headers: Record<string, string> } {
  return { headers: { 'x-svc-session': account.sessionToken } };
}

async function create(
  account: TestAccount,
  body: Record<string, unknown>,
): Promise<{ token: string; key: KeyRecord }> {
  const reply = await contract.call('POST', path, { ...session(account), body });
  assert.equal(reply.status, 201);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  return { token: reply.json.raw_token as string, key: reply.json.api_key as KeyRecord };
}

function codeOf(reply: Reply): unknown {
  return (reply.json.error as { code?: unknown } | undefined)?.code;
}

function models(token: string): Promise<Reply> {
  return contract.call('GET', '/v1/models', { headers: { authorization: `Bearer ${token}` } });
}

test('a new key is told once, has the default scopes, and works at once', async () => {
  const account = await bed.account();
  const { token, key } = await create(account, { label: 'first' });
  assert.match(token, /^svc_live_[0-9A-Za-z]+$/);
  assert.equal(key.environment, 'live');
  assert.deepEqual(key.scopes, ['models:read', 'models:generate', 'billing:read']);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await contract.call('GET', '/api/me/billing/summary', { headers })).status, 200);
  assert.equal(key.status, 'active');
  assert.ok(token.startsWith(key.prefix) && key.prefix.length < 24);
  assert.match(key.id, /^key_[a-f0-9]{24}$/);
  assert.equal((await models(token)).status, 200);
  const list = await contract.call('GET', path, session(account));
  assert.ok(!list.text.includes(token), 'a list never holds the token');
  const test = await create(account, { label: 'second', environment: 'test', scopes: ['kb:read'] });
  assert.match(test.token, /^svc_test_/);
  assert.deepEqual(test.key.scopes, ['kb:read']);
});

test('bad members of a new key are refused with their path', async () => {
  const account = await bed.account();
  const bodies: [Record<string, unknown>, string][] = [
    [{}, 'label'],
    [{ label: '' }, 'label'],
    [{ label: 'a', environment: 'staging' }, 'environment'],
    [{ label: 'a', scopes: [] }, 'scopes'],
    [{ label: 'a', scopes: ['everything'] }, 'scopes'],
    [{ label: 'a', admin: true }, 'admin'],
  ];
  for (const [body, field] of bodies) {
    const reply = await contract.call('POST', path, { ...session(account), body });
    assert.equal(reply.status, 400, JSON.stringify(body));
    const { details } = reply.json.error as { details?: { path?: string } };
    assert.ok(details?.path?.startsWith(field), `${details?.path} is not ${field}`);
  }
});

test('keys are listed newest first, a page at a time', async () => {
  const account = await bed.account();
  const made = [];
  for (let index = 0; index < 7; index += 1) {
    made.push((await create(account, { label: `key ${index}` })).key.id);
  }
  const wanted = [...made.reverse(), account.keyId];
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '?limit=3' : `?limit=3&cursor=${cursor}`;
    const page = await contract.call('GET', path + query, session(account));
    assert.equal(page.status, 200);
    const data = page.json.data as KeyRecord[];
    assert.ok(data.length <= 3 && data.length > 0);
    seen.push(...data.map(({ id }) => id));
    cursor = page.json.next_cursor as string | null;
  } while (cursor !== null);
  assert.deepEqual(seen, wanted);
  for (const query of ['?limit=0', '?limit=101', '?limit=x', '?cursor=nonsense']) {
    const reply = await contract.call('GET', path + query, session(account));
    assert.equal(reply.status, 400, query);
  }
  assert.equal((await contract.call('GET', `${path}?limit=100`, session(account))).status, 200);
});

test('keys show their limits, their owner and administrators alike', async () => {
  const account = await bed.account();
  const { key } = await create(account, { label: 'usual' });
  const { requestsPerMinute, concurrencyMax } = keyLimits;
  const limitsOf = (record?: KeyRecord) => [record?.requests_per_minute, record?.concurrency_max];
  assert.deepEqual(limitsOf(key), [requestsPerMinute, concurrencyMax]);
  const chief = session(await bed.account({ admin: true }));
  const adminPath = `/api/admin/users/${account.accountId}/keys`;
  const body = { label: 'wide', requests_per_minute: 7, concurrency_max: 3 };
  const given = await contract.call('POST', adminPath, { ...chief, body });
  const wide = given.json.api_key as KeyRecord;
  assert.deepEqual(wide.scopes, ['models:read', 'models:generate', 'billing:read']);
  for (const page of [
    await contract.call('GET', path, session(account)),
    await contract.call('GET', adminPath, chief),
  ]) {
    const [first, second] = page.json.data as KeyRecord[];
    assert.deepEqual([first, second], [wide, key]);
    assert.deepEqual(limitsOf(first), [7, 3]);
  }
});

test('an account has a bounded number of active keys, whoever asks at once', async () => {
  const account = await bed.account();
  const { activeMax } = keyLimits;
  const ask = () => contract.call('POST', path, { ...session(account), body: { label: 'one' } });
  // Beside the key that every account of the tests has.
  const before = activeMax - 6;
  await bed.sql`INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes,
      token_hash, prefix, requests_per_minute, concurrency_max)
    SELECT left(k.id, 16) || lpad(n::text, 12, '0'), k.account_id, k.wallet_id, 'many',
      k.environment, k.scopes, sha256((k.id || n)::bytea), k.prefix, 1, 1
    FROM api_keys k, generate_series(1, ${before}) n WHERE k.id = ${account.keyId}`;
  const replies: Reply[] = await Promise.all(Array.from({ length: 20 }, ask));
  const made = replies.filter(({ status }) => status === 201);
  assert.equal(made.length, activeMax - 1 - before);
  for (const reply of replies) if (reply.status !== 201) assert.equal(codeOf(reply), 'conflict');
  const body = { api_key_id: account.keyId };
  const revoked = await contract.call('POST', `${path}/revoke`, { ...session(account), body });
  assert.equal(revoked.status, 200);
  assert.equal((await ask()).status, 201);
  assert.equal((await ask()).status, 409);
  const sink = session(await bed.account({ admin: true }));
  const wanted = { ...sink, body: { label: 'one' } };
  const given = await contract.call('POST', `/api/admin/users/${account.accountId}/keys`, wanted);
  assert.deepEqual([given.status, codeOf(given)], [409, 'conflict'], 'administrators too');
});

test("another account's keys can be neither seen nor revoked", async () => {
  const [mine, theirs] = [await bed.account(), await bed.account()];
  const { token, key } = await create(mine, { label: 'mine' });
  const list = await contract.call('GET', path, session(theirs));
  assert.ok(!list.text.includes(key.id));
  for (const id of [key.id, 'key_000000000000000000000000', 'nonsense']) {
    const body = { api_key_id: id };
    const reply = await contract.call('POST', `${path}/revoke`, { ...session(theirs), body });
    assert.equal(reply.status, 404);
    assert.equal(codeOf(reply), 'not_found');
  }
  assert.equal((await models(token)).status, 200);
});

/** One connection is one shard: the kernel decides which. */
function statusOver(token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    const asked = request(`${bed.url}/v1/models`, { agent: false, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('a revoked key is refused on every shard within 100 ms', async () => {
  const account = await bed.account();
  const { token, key } = await create(account, { label: 'short' });
  const many = () => Promise.all(Array.from({ length: 40 }, () => statusOver(token)));
  assert.deepEqual([...new Set(await many())], [200]);
  const body = { api_key_id: key.id };
  const reply = await contract.call('POST', `${path}/revoke`, { ...session(account), body });
  assert.equal(reply.status, 200);
  assert.equal((reply.json.api_key as KeyRecord).status, 'revoked');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual([...new Set(await many())], [401]);
  const again = await contract.call('POST', `${path}/revoke`, { ...session(account), body });
  assert.equal(again.status, 200);
});

test('a mistyped, foreign or missing key is refused with a challenge', async () => {
  const account = await bed.account();
  const letter = account.apiKey.at(-1) === 'a' ? 'b' : 'a';
  const mistyped = account.apiKey.slice(0, -1) + letter;
  for (const token of [mistyped, newKeyToken('live'), 'sk-1234567890', `${account.apiKey}0`]) {
    const reply = await models(token);
    assert.equal(reply.status, 401);
    assert.equal(codeOf(reply), 'invalid_api_key');
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/);
  }
  const missing = await contract.call('GET', '/v1/models');
  assert.equal(missing.status, 401);
  assert.equal(codeOf(missing), 'unauthenticated');
});

test('a key is taken from either header, the scheme in any case', async () => {
  const { apiKey } = await bed.account();
  for (const headers of [
    { 'x-api-key': apiKey },
    { authorization: `bearer ${apiKey}` },
    { authorization: `BEARER  ${apiKey}` },
  ]) {
    const reply = await contract.call('GET', '/v1/models', { headers });
    assert.equal(reply.status, 200);
  }
});

test('each scope opens its own routes and no others', async () => {
  const headersOf = async (scope: string) => {
    const { apiKey } = await bed.account({ scopes: [scope] });
    return { authorization: `Bearer ${apiKey}` };
  };
  const routes: [string, string, string, Record<string, unknown> | undefined][] = [
    ['models:read', 'GET', '/v1/models', undefined],
    ['models:read', 'GET', '/api/v1/llm/models', undefined],
    ['models:generate', 'POST', '/v1/chat/completions', chatBody('hi')],
    ['models:generate', 'GET', '/v1/generations/none', undefined],
    ['models:generate', 'POST', '/v1/generations/none/cancel', undefined],
    ['billing:read', 'GET', '/api/me/billing/summary', undefined],
  ];
  for (const owned of ['models:read', 'models:generate', 'billing:read', 'kb:write']) {
    const headers = await headersOf(owned);
    for (const [scope, method, route, body] of routes) {
      const options = body === undefined ? { headers } : { headers, body };
      const reply = await contract.call(method, route, options);
      if (scope === owned) assert.notEqual(reply.status, 403, `${owned} on ${route}`);
      else {
        assert.equal(reply.status, 403, `${owned} on ${route}`);
        assert.equal(codeOf(reply), 'insufficient_scope');
        assert.ok(reply.text.includes(scope), 'the missing scope is named');
      }
    }
  }
});

test('keys open no account route, and sessions call no model', async () => {
  const account = await bed.account();
  const key = { headers: { authorization: `Bearer ${account.apiKey}` } };
  const withKey = await contract.call('GET', path, key);
  assert.equal(withKey.status, 401);
  assert.match(withKey.text, /A signed-in user is needed/);
  const withSession = await contract.call('GET', '/v1/models', session(account));
  assert.equal(withSession.status, 401);
  assert.match(withSession.text, /An API key is needed/);
});

test('a cookie changes something only from the web origin', async () => {
  const account = await bed.account();
  const cookie = `other=1; svc_session=${account.sessionToken}`;
  const body = { label: 'by cookie' };
  const read = await contract.call('GET', path, { headers: { cookie } });
  assert.equal(read.status, 200);
  const bare = await contract.call('POST', path, { headers: { cookie }, body });
  assert.equal(bare.status, 403);
  const foreign = { cookie, origin: 'https://evil.example' };
  const refused = await contract.call('POST', path, { headers: foreign, body });
  assert.equal(refused.status, 403);
  const own = { cookie, origin: bed.url };
  const made = await contract.call('POST', path, { headers: own, body });
  assert.equal(made.status, 201);
});

test('a key that is sent counts, whatever cookie travels beside it', async () => {
  const account = await bed.account();
  const summary = '/api/me/billing/summary';
  const cookie = 'svc_session=of-a-session-that-is-long-over-and-forgotten';
  const bearer = { authorization: `Bearer ${account.apiKey}` };
  for (const key of [bearer, { 'x-api-key': account.apiKey }]) {
    const reply = await contract.call('GET', summary, { headers: { ...key, cookie } });
    assert.equal(reply.status, 200, reply.text);
  }
  const alone = await contract.call('GET', summary, { headers: { cookie } });
  assert.equal(codeOf(alone), 'session_expired');
  const own = { authorization: 'Basic eDp5', cookie: `svc_session=${account.sessionToken}` };
  assert.equal((await contract.call('GET', summary, { headers: own })).status, 200);
});

test('a 400 names the field: of a page, and of an id that no database holds', async () => {
  const account = await bed.account();
  const pathOf = ({ json, status }: Reply) => {
    assert.equal(status, 400);
    return (json.error as { details?: { path?: string } }).details?.path;
  };
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=abc', 'limit'],
    ['cursor=zz', 'cursor'],
  ]) {
    assert.equal(pathOf(await contract.call('GET', `${path}?${query}`, session(account))), field);
  }
  const body = { api_key_id: 'x\u0000' };
  const revoked = await contract.call('POST', `${path}/revoke`, { ...session(account), body });
  assert.equal(pathOf(revoked), 'api_key_id');
});

test('an expired session is told so', async () => {
  const account = await bed.account();
  await bed.sql`UPDATE sessions SET expires_at = now() - interval '1 second'
    WHERE account_id = ${account.accountId}`;
  const reply = await contract.call('GET', path, session(account));
  assert.equal(reply.status, 401);
  assert.equal(codeOf(reply), 'session_expired');
});

test('a session that a shard remembers ends when its time is over', async () => {
  const account = await bed.account();
  await bed.sql`UPDATE sessions SET expires_at = now() + interval '2 seconds'
    WHERE account_id = ${account.accountId}`;
  const deadline = performance.now() + 10_000;
  // One after the other on one connection: the shard that answers is the one that remembers.
  let reply = await contract.call('GET', path, session(account));
  assert.equal(reply.status, 200);
  while (reply.status === 200 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    reply = await contract.call('GET', path, session(account));
  }
  assert.equal(codeOf(reply), 'session_expired');
  const challenge = reply.headers.get('www-authenticate') ?? '';
  assert.match(challenge, /^Bearer resource_metadata="/);
});
