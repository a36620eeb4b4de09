// A request acts in the organization that header, query or default name. Its status and the role
// decide what passes, and what is made in one context is out of reach in another.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OrganizationRole } from '../../../db/organizations/role.ts';
import type { TestAccount } from '../../harness/account.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { addKey, addMember, makeOrganization } from '../../harness/organization.ts';
import { type CheckoutTold, payAt } from '../../harness/purchases.ts';
import { makeAccess } from '../../harness/sign-in.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Refused, VoiceClient } from '../../harness/voice-client.ts';

type Members = Record<string, unknown>;
const organizationHeader = 'x-svc-organization';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({});
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

interface Life {
  person: TestAccount;
  organization: { id: number; accountId: string; walletId: string };
  /** The membership's account. */
  accountId: string;
}

async function newLife(
  role: OrganizationRole = 'owner',
  settings: Members = {},
  micros = 1_000_000_000n,
): Promise<Life> {
  const person = await bed.account();
  const organization = await makeOrganization(bed.sql, person.accountId, settings);
  const accountId = await addMember(bed.sql, organization, person.accountId, role);
  await bed.wallet(organization.walletId, 'grant', {
    operationId: `test.${organization.walletId}`,
    kind: 'promotion',
    amountMicros: micros,
    expiresAtMs: null,
    note: 'test',
  });
  return { person, organization, accountId };
}

function call(
  { sessionToken }: TestAccount,
  method: string,
  path: string,
  named: string | number | null,
  body?: Members,
): Promise<Reply> {
  const headers: Record<string, string> = { 'x-svc-session': sessionToken };
  if (named !== null) headers[organizationHeader] = `${named}`;
  return contract.call(method, path, body === undefined ? { headers } : { headers, body });
}

async function newKey(person: TestAccount, named: string | number | null): Promise<Members> {
  const scopes = ['models:generate', 'models:read', 'billing:read', 'voice:session'];
  const body = { label: 'made', scopes };
  const reply = await call(person, 'POST', '/api/me/api-keys', named, body);
  assert.equal(reply.status, 201, reply.text);
  return reply.json;
}

function ask(apiKey: string, content: string, idempotencyKey?: string): Promise<Reply> {
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  const body = { model: 'svc-sim-chat', messages: [{ role: 'user', content }] };
  return contract.call('POST', '/v1/chat/completions', { headers, body });
}

const labelsOf = (reply: Reply) => (reply.json.data as { label: string }[]).map((key) => key.label);
const keysPath = '/api/me/api-keys';

test('header, query and default name the organization, and the header wins', async () => {
  const { person, organization } = await newLife();
  const { id } = organization;
  await newKey(person, id);
  const personal = ['test'];
  assert.deepEqual(labelsOf(await call(person, 'GET', keysPath, id)), ['made']);
  assert.deepEqual(labelsOf(await call(person, 'GET', keysPath, null)), personal);
  const query = `${keysPath}?organization=${id}`;
  assert.deepEqual(labelsOf(await call(person, 'GET', query, null)), ['made']);
  assert.deepEqual(labelsOf(await call(person, 'GET', query, 'personal')), personal);
  assert.deepEqual(labelsOf(await call(person, 'GET', `${keysPath}?organization=personal`, id)), [
    'made',
  ]);

  const other = await newLife();
  await bed.sql`UPDATE accounts SET default_organization_id = ${other.organization.id}
    WHERE id = ${other.person.accountId}`;
  await newKey(other.person, null);
  const listed = await call(other.person, 'GET', keysPath, null);
  assert.deepEqual(labelsOf(listed), ['made'], 'the default one');
  assert.deepEqual(labelsOf(await call(other.person, 'GET', keysPath, 'personal')), personal);
});

test('a malformed name is 400, and who is no member is 403', async () => {
  const { person } = await newLife();
  const { organization } = await newLife();
  for (const named of ['1', 'mine', '99999', '4294967296', '-100000', '0x186a0', '1e9']) {
    const reply = await call(person, 'GET', keysPath, named);
    assert.equal(reply.status, 400, `${named}: ${reply.text}`);
    assert.equal(
      (await call(person, 'GET', `${keysPath}?organization=${named}`, null)).status,
      400,
    );
  }
  for (const named of [organization.id, 2_147_483_647]) {
    const reply = await call(person, 'GET', keysPath, named);
    assert.equal(reply.status, 403);
  }
  const made = await call(person, 'POST', keysPath, organization.id, { label: 'no' });
  assert.equal(made.status, 403);
});

test('what is the person itself is so whatever is named', async () => {
  const { person, organization } = await newLife();
  const account = await call(person, 'GET', '/api/me/account', organization.id);
  assert.equal((account.json.user as Members).id, person.accountId);
  for (const path of ['/api/me/sessions', '/api/me/authorizations', '/api/me/rewards/tasks']) {
    assert.equal((await call(person, 'GET', path, 'nonsense')).status, 200, path);
  }
});

test('a key acts for what it was made for, and says whose wallet pays', async () => {
  const { person, organization, accountId } = await newLife();
  const made = await newKey(person, organization.id);
  const token = made.raw_token as string;
  const reply = await ask(token, 'whose wallet?');
  assert.equal(reply.status, 200, reply.text);
  assert.equal((reply.json.svc_usage as Members).wallet_type, 'organization');
  const id = (reply.json.svc_usage as Members).request_id as string;
  const [row] = await bed.sql<{ account_id: string; wallet_id: string }[]>`
    SELECT account_id, wallet_id FROM generations WHERE id = ${id}`;
  assert.deepEqual({ ...row }, { account_id: accountId, wallet_id: organization.walletId });
  const path = `/v1/generations/${id}`;
  const own = await contract.call('GET', path, { headers: { 'x-api-key': token } });
  assert.equal(own.status, 200);
  const personal = await contract.call('GET', path, { headers: { 'x-api-key': person.apiKey } });
  assert.equal(personal.status, 404, 'nothing of the context is read with the own key');
  const others = await ask(person.apiKey, 'and mine?');
  assert.equal((others.json.svc_usage as Members).wallet_type, 'personal');

  const alone = await newLife('member', { centralized_billing: false });
  const apart = await newKey(alone.person, alone.organization.id);
  const paid = await ask(apart.raw_token as string, 'the person pays');
  assert.equal((paid.json.svc_usage as Members).wallet_type, 'personal');
});

test('one idempotency key in two contexts is two generations', async () => {
  const { person, organization } = await newLife();
  const made = await newKey(person, organization.id);
  const tokens = [person.apiKey, made.raw_token as string];
  const replies = await Promise.all(tokens.map((token) => ask(token, 'once each', 'the-same')));
  const ids = replies.map((reply) => (reply.json.svc_usage as Members).request_id);
  assert.equal(new Set(ids).size, 2);
  const again = await ask(made.raw_token as string, 'once each', 'the-same');
  assert.equal((again.json.svc_usage as Members).request_id, ids[1], 'and each is its own replay');
});

test('a person who is disabled has no key in any context', async () => {
  const { person, organization } = await newLife();
  const made = await newKey(person, organization.id);
  const token = made.raw_token as string;
  assert.equal((await ask(token, 'before')).status, 200);
  const admin = await bed.account({ admin: true });
  const path = `/api/admin/users/${person.accountId}`;
  const [before] = await bed.sql<{ version: bigint }[]>`
    SELECT version FROM wallets WHERE id = ${organization.walletId}`;
  assert.equal((await call(admin, 'POST', `${path}/disable`, null, {})).status, 200);
  assert.equal((await ask(token, 'while')).status, 401);
  const [fenced] = await bed.sql<{ version: bigint }[]>`
    SELECT version FROM wallets WHERE id = ${organization.walletId}`;
  assert.notEqual(fenced?.version, before?.version, 'what was decided before is void');
  assert.equal((await call(admin, 'POST', `${path}/enable`, null, {})).status, 200);
  assert.equal((await ask(token, 'after')).status, 200);
});

async function setStatus(id: number, status: 'suspended' | 'closed'): Promise<void> {
  const isClosed = status === 'closed';
  await bed.sql`UPDATE organizations SET status = ${status},
      suspended_by = ${isClosed ? null : 'owner'}, closed_at = ${isClosed ? new Date() : null}
    WHERE id = ${id}`;
}

test('a suspended organization lets reading and removal pass', async () => {
  const { person, organization, accountId } = await newLife();
  const { walletId, id } = organization;
  const key = await addKey(bed.sql, { accountId, walletId });
  await setStatus(id, 'suspended');
  const blocked = await ask(key.token, 'no');
  assert.equal(blocked.status, 403);
  const error = blocked.json.error as Members;
  assert.equal(error.code, 'policy_blocked');
  assert.equal(error.message, 'The organization is suspended.');
  const begun = await call(person, 'POST', '/v1/voice/tickets', id);
  assert.equal(begun.status, 403, begun.text);
  const models = await contract.call('GET', '/v1/models', { headers: { 'x-api-key': key.token } });
  assert.equal(models.status, 200);
  assert.equal((await call(person, 'GET', keysPath, id)).status, 200);
  const written = await call(person, 'POST', keysPath, id, { label: 'no' });
  assert.equal(written.status, 409);
  const { details } = written.json.error as { details: Members };
  assert.equal(details.rule, 'organization_status');
  const revoked = { api_key_id: key.id };
  const versionOf = async () =>
    (await bed.sql<{ version: bigint }[]>`SELECT version FROM wallets WHERE id = ${walletId}`)[0]
      ?.version;
  const before = await versionOf();
  assert.equal((await call(person, 'POST', `${keysPath}/revoke`, id, revoked)).status, 200);
  assert.notEqual(await versionOf(), before, 'what the key was let hold before is void');
});

test('a closed organization has no keys, and its canonical owner reads', async () => {
  const { person, organization, accountId } = await newLife();
  const { walletId, id } = organization;
  const member = await bed.account();
  await addMember(bed.sql, organization, member.accountId, 'admin');
  const key = await addKey(bed.sql, { accountId, walletId });
  await setStatus(id, 'closed');
  assert.equal((await ask(key.token, 'no')).status, 401);
  assert.equal((await call(person, 'GET', keysPath, id)).status, 200);
  assert.equal((await call(person, 'POST', keysPath, id, { label: 'no' })).status, 409);
  assert.equal((await call(member, 'GET', keysPath, id)).status, 403);
});

test('money is seen by owners, administrators and billing; others see their own part', async () => {
  const { person, organization } = await newLife();
  const { id, walletId } = organization;
  const member = await bed.account();
  await addMember(bed.sql, organization, member.accountId, 'member');
  const made = await newKey(member, id);
  assert.equal((await ask(made.raw_token as string, 'charge it')).status, 200);
  const summaryPath = '/api/me/billing/summary';
  const seen = await call(person, 'GET', summaryPath, id);
  assert.equal((seen.json.wallet as Members).id, walletId);
  assert.equal((seen.json.wallet as Members).type, 'organization');
  assert.equal((seen.json.usage as Members[])[0]?.requests, 1, 'what members used is counted');
  const own = await call(member, 'GET', summaryPath, id);
  assert.equal(own.status, 200, own.text);
  assert.equal(own.json.wallet, null);
  assert.deepEqual(own.json.grants, []);
  assert.deepEqual(own.json.usage_by_day, []);
  assert.equal((own.json.usage as Members[])[0]?.requests, 1);
  assert.ok((own.json.packages as unknown[]).length >= 0);
  const another = await bed.account();
  await addMember(bed.sql, organization, another.accountId, 'manager');
  assert.deepEqual((await call(another, 'GET', summaryPath, id)).json.usage, []);

  const dashboard = await call(member, 'GET', '/api/me/dashboard', id);
  assert.equal(dashboard.json.wallet, null);
  assert.deepEqual(dashboard.json.ledger, []);
  assert.equal((dashboard.json.user as Members).id, member.accountId);
  assert.equal((dashboard.json.api_keys as unknown[]).length, 1);
  const owners = await call(person, 'GET', '/api/me/dashboard', id);
  assert.equal((owners.json.wallet as Members).id, walletId);
  assert.ok((owners.json.ledger as unknown[]).length > 0);

  const paths = [
    '/api/me/billing/ledger',
    '/api/me/billing/settings',
    '/api/me/billing/export.csv?what=usage',
    '/api/me/purchases',
  ];
  for (const path of paths) {
    assert.equal((await call(member, 'GET', path, id)).status, 403, path);
    const headers = { 'x-svc-session': person.sessionToken, [organizationHeader]: `${id}` };
    const reply = await fetch(bed.url + path, { headers });
    assert.equal(reply.status, 200, path);
    const text = await reply.text();
    if (path.includes('.csv')) assert.equal(text.trim().split('\r\n').length, 2, text);
  }
  const profile = { profile: { name: 'The House' } };
  assert.equal((await call(member, 'POST', paths[1] ?? '', id, profile)).status, 403);
  assert.equal((await call(person, 'POST', paths[1] ?? '', id, profile)).status, 200);
  const stored = await bed.sql`
    SELECT 1 FROM billing_settings WHERE account_id = ${organization.accountId}`;
  assert.equal(stored.length, 1, 'they are of the organization');
});

test('the wallet and the infrastructure are read by role, and by nobody else', async () => {
  const { person, organization } = await newLife('owner', { monthly_spend_limit_micros: 7_000 });
  const base = `/api/enterprise/organizations/${organization.id}`;
  const wallet = await call(person, 'GET', `${base}/wallet`, null);
  assert.equal(wallet.status, 200, wallet.text);
  assert.equal((wallet.json.wallet as Members).id, organization.walletId);
  assert.equal((wallet.json.month as Members).cap_exact, '7000');
  const infrastructure = await call(person, 'GET', `${base}/infrastructure`, null);
  assert.equal(infrastructure.status, 200, infrastructure.text);
  assert.equal(infrastructure.json.store, 'disk');
  const stranger = await bed.account();
  const expected: [OrganizationRole, number, number][] = [
    ['admin', 200, 200],
    ['billing', 200, 403],
    ['manager', 403, 200],
    ['member', 403, 403],
  ];
  for (const [role, ofWallet, ofHouse] of expected) {
    const other = await bed.account();
    await addMember(bed.sql, organization, other.accountId, role);
    assert.equal((await call(other, 'GET', `${base}/wallet`, null)).status, ofWallet, role);
    assert.equal((await call(other, 'GET', `${base}/infrastructure`, null)).status, ofHouse, role);
  }
  assert.equal((await call(stranger, 'GET', `${base}/wallet`, null)).status, 404);
});

test('a ticket acts for the context that made it', async () => {
  const { person, organization, accountId } = await newLife();
  const ticketOf = async (named: number | null) => {
    const reply = await call(person, 'POST', '/v1/voice/tickets', named);
    assert.equal(reply.status, 200, reply.text);
    return reply.json.ticket as string;
  };
  const enter = (ticket: string) =>
    VoiceClient.connect(bed.url, { query: `ticket=${ticket}` }).catch((error: unknown) => error);
  const [good, unused, personal] = [
    await ticketOf(organization.id),
    await ticketOf(organization.id),
    await ticketOf(null),
  ];
  const opened = await enter(good);
  assert.ok(opened instanceof VoiceClient, String(opened));
  opened.socket.terminate();
  await bed.sql`UPDATE organization_members SET status = 'removed', ended_at = now()
    WHERE account_id = ${accountId}`;
  const refused = await enter(unused);
  assert.ok(refused instanceof Refused);
  assert.equal(refused.status, 401);
  const own = await enter(personal);
  assert.ok(own instanceof VoiceClient, 'what the person made alone is still good');
  own.socket.terminate();
});

test('an app acts in the organization that it names, and its keys end with it', async () => {
  const { person, organization, accountId } = await newLife();
  const { token } = await makeAccess(bed.sql, person.accountId, ['app']);
  const headers = {
    authorization: `Bearer ${token}`,
    [organizationHeader]: `${organization.id}`,
  };
  const body = { label: 'of the app', scopes: ['models:generate'] };
  const made = await contract.call('POST', keysPath, { headers, body });
  assert.equal(made.status, 201, made.text);
  const { id: keyId } = made.json.api_key as { id: string };
  const [row] = await bed.sql<{ account_id: string; wallet_id: string }[]>`
    SELECT account_id, wallet_id FROM api_keys WHERE id = ${keyId}`;
  assert.deepEqual({ ...row }, { account_id: accountId, wallet_id: organization.walletId });
  const key = made.json.raw_token as string;
  assert.equal((await ask(key, 'by the app')).status, 200);
  const apps = await call(person, 'GET', '/api/me/authorizations', null);
  assert.ok(apps.text.includes('of the app'), 'the person sees it beside the app');
  const [app] = apps.json.data as { client_id: string }[];
  const revoked = { client_id: app?.client_id };
  const ended = await call(person, 'POST', '/api/me/authorizations/revoke', null, revoked);
  assert.equal(ended.status, 200, ended.text);
  assert.equal((await ask(key, 'no more')).status, 401);
});

test('what somebody says in a context ends when the person is disabled', async () => {
  const { person, organization, accountId } = await newLife();
  const key = await addKey(bed.sql, { accountId, walletId: organization.walletId });
  const admin = await bed.account({ admin: true });
  const client = await VoiceClient.connect(bed.url, { headers: { 'x-api-key': key.token } });
  await client.ready();
  const path = `/api/admin/users/${person.accountId}/disable`;
  assert.equal((await call(admin, 'POST', path, null, {})).status, 200);
  assert.deepEqual(await client.close(), { code: 1011, reason: 'error' });
});

test('owners buy for the organization, members do not', async () => {
  const { person, organization } = await newLife();
  const member = await bed.account();
  await addMember(bed.sql, organization, member.accountId, 'manager');
  const { id } = organization;
  const body = { package_slug: 'starter', provider: 'stripe' };
  const refused = await call(member, 'POST', '/api/me/purchases', id, body);
  assert.equal(refused.status, 403, refused.text);
  const made = await call(person, 'POST', '/api/me/purchases', id, body);
  assert.equal(made.status, 201, made.text);
  const purchase = (made.json.purchase as Members).id as string;
  const [row] = await bed.sql<{ account_id: string; wallet_id: string }[]>`
    SELECT account_id, wallet_id FROM purchases WHERE id = ${purchase}`;
  const { accountId, walletId } = organization;
  assert.deepEqual({ ...row }, { account_id: accountId, wallet_id: walletId });
  const path = `/api/me/purchases/${purchase}`;
  assert.equal((await call(person, 'GET', path, id)).status, 200);
  await payAt(made.json.checkout as CheckoutTold);
  const proof = { purchase_id: purchase };
  const paid = await call(person, 'POST', '/api/me/purchases/verify', id, proof);
  assert.equal((paid.json.purchase as Members).status, 'completed', paid.text);
  assert.equal((paid.json.wallet as Members).id, walletId);
  assert.equal((await call(person, 'GET', path, null)).status, 404, "it is not the person's");
});

test('administrators list persons, and wallets of organizations too', async () => {
  const { person, organization, accountId } = await newLife();
  const admin = await bed.account({ admin: true });
  for (const id of [accountId, organization.accountId]) {
    assert.equal((await call(admin, 'GET', `/api/admin/users/${id}`, null)).status, 404);
    const found = await call(admin, 'GET', `/api/admin/users?search=${id}`, null);
    assert.deepEqual(found.json.data, []);
  }
  const found = await call(admin, 'GET', `/api/admin/users?search=${person.accountId}`, null);
  assert.equal((found.json.data as unknown[]).length, 1);
  const path = `/api/admin/wallets/${organization.walletId}`;
  assert.equal((await call(admin, 'GET', path, null)).status, 200);
});
