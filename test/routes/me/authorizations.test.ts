// The apps that act for a person: told by app, and cut off with what they made, everywhere at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  displayPrefix,
  newKeyToken,
  newToken,
  tokenHash,
} from '../../../actors/credentials/token.ts';
import { arrayLiteral } from '../../../db/driver/array.ts';
import { createKey } from '../../../db/keys.ts';
import { newId } from '../../../runtime/ids.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { askEverywhere } from '../admin/admin-api.ts';
import { makePerson, type TestPerson } from './person.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

type Members = Record<string, unknown>;

interface Approval {
  id: string;
  accessToken: string;
}

/** What an approval leaves: the authorization with an access token. */
async function approve(
  { accountId }: TestPerson,
  client: string,
  scopes: string[],
): Promise<Approval> {
  const id = newId('auth', 0);
  const accessToken = newToken('access');
  await bed.sql`
    INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
      expires_at)
    VALUES (${id}, ${accountId}, ${client}, ${arrayLiteral(scopes)}::text[], 'otp', now(),
      now() + interval '1 year')`;
  await bed.sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    VALUES (${tokenHash(accessToken)}, ${id}, 'access', now() + interval '1 hour')`;
  return { id, accessToken };
}

async function makeKeyThrough(person: TestPerson, authorizationId: string): Promise<string> {
  const token = newKeyToken('test');
  const id = newId('key', 0);
  await createKey(bed.sql, {
    id,
    accountId: person.accountId,
    walletId: person.walletId,
    label: 'made by an app',
    environment: 'test',
    scopes: ['models:read'],
    tokenHash: tokenHash(token),
    prefix: displayPrefix(token),
    requestsPerMinute: 600,
    concurrencyMax: 64,
  });
  await bed.sql`UPDATE api_keys SET authorization_id = ${authorizationId} WHERE id = ${id}`;
  return token;
}

async function statusesOf(token: string, path: string): Promise<number[]> {
  const replies = await askEverywhere(bed.url + path, { authorization: `Bearer ${token}` });
  return [...new Set(replies.map(({ status }) => status))];
}

const list = async (person: TestPerson, query = '') => {
  const reply = await person.call('GET', `/api/me/authorizations${query}`);
  assert.equal(reply.status, 200, reply.text);
  return reply.json as { data: Members[]; next_cursor: string | null };
};
const revoke = (person: TestPerson, clientId: string) =>
  person.call('POST', '/api/me/authorizations/revoke', { client_id: clientId });

test('apps are listed once, with all that they may do and made', async () => {
  const person = await makePerson(bed, contract);
  const document = 'https://app.example.test/oauth/client.json';
  const [first] = [await approve(person, 'svc-cli', ['profile', 'app'])];
  await approve(person, document, ['email']);
  await approve(person, 'svc-cli', ['profile', 'email']);
  await makeKeyThrough(person, first.id);
  const { data } = await list(person);
  assert.deepEqual(
    data.map(({ client_id }) => client_id),
    ['svc-cli', document],
  );
  const [cli, other] = data;
  assert.deepEqual(cli?.scopes, ['app', 'email', 'profile']);
  assert.equal(cli?.display_name, 'Command line');
  assert.equal(other?.display_name, 'app.example.test');
  assert.deepEqual(
    ((cli?.api_keys ?? []) as Members[]).map(({ label }) => label),
    ['made by an app'],
  );
  const page = await list(person, '?limit=1');
  const next = await list(person, `?limit=1&cursor=${page.next_cursor}`);
  assert.deepEqual([page.data, next.data, next.next_cursor], [[cli], [other], null]);
});

test('an app without a good token or key is not listed', async () => {
  const person = await makePerson(bed, contract);
  const past = await approve(person, 'svc-cli', ['app']);
  const ended = await approve(person, 'svc-desktop', ['app']);
  await bed.sql`
    UPDATE oauth_tokens SET expires_at = now() - interval '1 second'
    WHERE authorization_id = ${past.id}`;
  await bed.sql`
    UPDATE oauth_authorizations SET revoked_at = now(), revoked_reason = 'client'
    WHERE id = ${ended.id}`;
  assert.deepEqual((await list(person)).data, []);
  const key = await makeKeyThrough(person, past.id);
  assert.equal((await list(person)).data.length, 1, 'what it made still works');
  assert.equal((await revoke(person, 'svc-cli')).json.api_keys, 1);
  assert.deepEqual(await statusesOf(key, '/v1/models'), [401]);
});

test('cutting an app off ends its tokens and keys on every shard, and no others', async () => {
  const [person, other] = [await makePerson(bed, contract), await makePerson(bed, contract)];
  const approvals = [
    await approve(person, 'svc-cli', ['app']),
    await approve(person, 'svc-cli', ['app']),
  ];
  const kept = await approve(person, 'svc-desktop', ['app']);
  const foreign = await approve(other, 'svc-cli', ['app']);
  const key = await makeKeyThrough(person, approvals[0]?.id ?? '');
  const tokens = approvals.map(({ accessToken }) => accessToken);
  for (const token of tokens) assert.deepEqual(await statusesOf(token, '/api/me/api-keys'), [200]);
  assert.deepEqual(await statusesOf(key, '/v1/models'), [200]);
  const reply = await revoke(person, 'svc-cli');
  assert.deepEqual(reply.json, { ok: true, authorizations: 2, api_keys: 1 });
  for (const token of tokens) assert.deepEqual(await statusesOf(token, '/api/me/api-keys'), [401]);
  assert.deepEqual(await statusesOf(key, '/v1/models'), [401]);
  for (const { accessToken } of [kept, foreign]) {
    assert.deepEqual(await statusesOf(accessToken, '/api/me/api-keys'), [200]);
  }
  assert.deepEqual(await statusesOf(person.apiKey, '/v1/models'), [200], 'its own key');
  assert.deepEqual((await revoke(person, 'svc-cli')).json, {
    ok: true,
    authorizations: 0,
    api_keys: 0,
  });
  assert.equal((await revoke(person, 'nobody')).status, 404);
  const events = await bed.sql`
    SELECT FROM audit_events
    WHERE account_id = ${person.accountId} AND action = 'authorization.revoke'`;
  assert.equal(events.length, 1);
});
