// Accounts under administration: found, promoted, demoted and disabled, on every shard at once,
// with an audit event for each change and never without an administrator.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeAccount } from '../../../db/accounts.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import type { TestAccount } from '../../harness/account.ts';
import { askChat } from '../../harness/chat.ts';
import { makeAccess } from '../../harness/sign-in.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, askEverywhere, everything, openAdminApi, refusal } from './admin-api.ts';

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ shards: 3 });
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

type Members = Record<string, unknown>;

async function read(account: TestAccount): Promise<Members> {
  const reply = await adminApi('GET', `/users/${account.accountId}`);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('etag'), `"${(reply.json.user as Members).revision}"`);
  return reply.json.user as Members;
}

/** What all shards say to the account's key and session. */
async function standing(account: TestAccount): Promise<{ key: number[]; session: number[] }> {
  const key = await askEverywhere(`${bed.url}/v1/models`, {
    authorization: `Bearer ${account.apiKey}`,
  });
  const session = await askEverywhere(`${bed.url}/api/me/api-keys`, {
    'x-svc-session': account.sessionToken,
  });
  const statuses = (replies: { status: number }[]) => [
    ...new Set(replies.map(({ status }) => status)),
  ];
  return { key: statuses(key), session: statuses(session) };
}

async function adminStatuses(account: TestAccount): Promise<number[]> {
  const replies = await askEverywhere(`${bed.url}/api/admin/status`, {
    'x-svc-session': account.sessionToken,
  });
  return [...new Set(replies.map(({ status }) => status))];
}

test('every route of the control plane refuses who is no administrator', async () => {
  const account = await bed.account();
  const paths: [string, string][] = [
    ['GET', '/users'],
    ['GET', `/users/${account.accountId}`],
    ['PATCH', `/users/${account.accountId}`],
    ['POST', `/users/${account.accountId}/disable`],
    ['POST', `/users/${account.accountId}/enable`],
    ['GET', `/users/${account.accountId}/keys`],
    ['POST', `/users/${account.accountId}/keys/${account.keyId}/revoke`],
    ['GET', '/wallets'],
    ['GET', `/wallets/${account.walletId}`],
    ['GET', `/wallets/${account.walletId}/ledger`],
    ['POST', `/wallets/${account.walletId}/grants`],
    ['POST', `/wallets/${account.walletId}/grants/grant_none/revoke`],
    ['POST', `/wallets/${account.walletId}/debits`],
    ['GET', '/audit'],
  ];
  for (const [method, path] of paths) {
    const body = method === 'GET' ? {} : { body: {} };
    const mine = await adminApi(method, path, { session: account.sessionToken, ...body });
    assert.equal(mine.status, 403, `${method} ${path}`);
    assert.equal(refusal(mine).code, 'forbidden');
    const nobody = await adminApi(method, path, { session: 'x'.repeat(43), ...body });
    assert.equal(nobody.status, 401, `${method} ${path}`);
  }
  assert.equal((await read(account)).status, 'active');
});

test('accounts are listed newest first and found by what is known of them', async () => {
  const made = [];
  for (let index = 0; index < 5; index += 1) made.push(await bed.account());
  const all = await everything(adminApi, '/users', 2);
  const ids = all.map(({ account_id }) => account_id as string);
  assert.deepEqual(ids, [...ids].sort().reverse());
  assert.ok(made.every(({ accountId }) => ids.includes(accountId)));
  const [wanted] = made;
  assert.ok(wanted !== undefined);
  for (const search of [wanted.accountId, wanted.walletId, wanted.keyId]) {
    const found = await everything(adminApi, `/users?search=${search}`);
    assert.deepEqual(found, [await read(wanted)], search);
  }
  assert.deepEqual(await everything(adminApi, '/users?search=%25'), [], 'no pattern');
  const admins = await everything(adminApi, '/users?role=admin');
  assert.ok(admins.length > 0 && admins.every(({ role }) => role === 'admin'));
  for (const query of ['role=chief', 'status=gone', 'limit=0', 'cursor=nonsense', 'search=']) {
    assert.equal((await adminApi('GET', `/users?${query}`)).status, 400, query);
  }
});

test('a role is given and taken on every shard at once', async () => {
  const account = await bed.account();
  assert.deepEqual(await adminStatuses(account), [403]);
  const path = `/users/${account.accountId}`;
  const raised = await adminApi('PATCH', path, { body: { role: 'admin' } });
  assert.equal(raised.status, 200);
  assert.deepEqual(await adminStatuses(account), [200]);
  const lowered = await adminApi('PATCH', path, { body: { role: 'user', revision: 2 } });
  assert.equal(lowered.status, 200);
  assert.deepEqual(await adminStatuses(account), [403]);
  const events = await everything(adminApi, `/audit?subject=account:${account.accountId}`);
  const roles = events.map(({ details }) => {
    const { before, after: now } = details as { before: Members; after: Members };
    return [before.role, now.role];
  });
  assert.deepEqual(roles, [
    ['admin', 'user'],
    ['user', 'admin'],
  ]);
});

test('a disabled account is refused on every shard within 100 ms, enabled it works', async () => {
  const account = await bed.account();
  assert.deepEqual(await standing(account), { key: [200], session: [200] });
  const path = `/users/${account.accountId}`;
  const disabled = await adminApi('POST', `${path}/disable`);
  const startedAt = performance.now();
  assert.equal((disabled.json.user as Members).status, 'disabled');
  assert.deepEqual(await standing(account), { key: [401], session: [401] });
  console.log(`refused everywhere ${Math.round(performance.now() - startedAt)} ms after the reply`);
  const twice = await adminApi('POST', `${path}/disable`, { body: {} });
  assert.deepEqual(twice.json, disabled.json, 'doing it twice changes nothing');
  assert.deepEqual(
    (await everything(adminApi, '/users?status=disabled')).map(({ account_id }) => account_id),
    [account.accountId],
  );
  assert.equal((await adminApi('POST', `${path}/enable`)).status, 200);
  assert.deepEqual(await standing(account), { key: [200], session: [200] });
  const events = await everything(adminApi, `/audit?account_id=${account.accountId}`);
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.enable', 'account.disable'],
  );
});

test('a change whose answer was lost is known on every shard once it is repeated', async () => {
  const account = await bed.account();
  assert.deepEqual(await standing(account), { key: [200], session: [200] });
  // Durable, and nobody was told: what a commit that outlasts its deadline leaves behind.
  const change = { accountId: account.accountId, revision: null, disabled: true };
  const changed = await changeAccount(bed.sql, change, () => ({
    id: newAuditId(0),
    accountId: account.accountId,
    actor: 'test',
    action: 'account.disable',
    subject: `account:${account.accountId}`,
    details: {},
  }));
  assert.equal(changed.status, 'changed');
  assert.equal((await adminApi('POST', `/users/${account.accountId}/disable`)).status, 200);
  assert.deepEqual(await standing(account), { key: [401], session: [401] });
});

test('a stale revision changes nothing and is told the current one', async () => {
  const account = await bed.account();
  const path = `/users/${account.accountId}`;
  const { revision } = await read(account);
  assert.equal(revision, 1);
  const fits = await adminApi('POST', `${path}/disable`, { ifMatch: '"1"' });
  assert.equal(fits.headers.get('etag'), '"2"');
  for (const members of [{ ifMatch: '"1"' }, { body: { revision: 1 } }, { ifMatch: 'W/"7"' }]) {
    const { status, code, details } = refusal(await adminApi('POST', `${path}/enable`, members));
    assert.deepEqual([status, code, details], [409, 'conflict', { revision: 2 }]);
  }
  const both = { ifMatch: '"2"', body: { revision: 1 } };
  for (const [members, field] of [
    [both, 'revision'],
    [{ ifMatch: '"a"' }, 'if-match'],
  ] as const) {
    const { status, details } = refusal(await adminApi('POST', `${path}/enable`, members));
    assert.deepEqual([status, details], [400, { path: field }]);
  }
  assert.equal((await read(account)).status, 'disabled');
  assert.equal((await adminApi('POST', `${path}/enable`, { ifMatch: '*' })).status, 200);
});

test('the last administrator stays one, also when two leave at once', async () => {
  const [first, second] = [await bed.account({ admin: true }), await bed.account({ admin: true })];
  const dev = (await everything(adminApi, '/users?role=admin')).find(
    ({ account_id }) => account_id !== first.accountId && account_id !== second.accountId,
  );
  const away = (id: unknown) => adminApi('PATCH', `/users/${id}`, { body: { role: 'user' } });
  const others = (await everything(adminApi, '/users?role=admin')).map(
    ({ account_id }) => account_id,
  );
  const { sessionToken: session } = first;
  for (const id of others) {
    if (id === first.accountId || id === second.accountId) continue;
    const gone = await adminApi('POST', `/users/${id}/disable`, { session });
    assert.equal(gone.status, 200);
  }
  const races = await Promise.all(
    [first, second].map((account) =>
      adminApi('PATCH', `/users/${account.accountId}`, {
        session: account.sessionToken,
        body: { role: 'user' },
      }),
    ),
  );
  assert.deepEqual(races.map(({ status }) => status).sort(), [200, 409]);
  const left = races[0]?.status === 409 ? first : second;
  const refused = await adminApi('POST', `/users/${left.accountId}/disable`, {
    session: left.sessionToken,
  });
  assert.equal(refusal(refused).code, 'invalid_state');
  const enabled = await adminApi('POST', `/users/${dev?.account_id}/enable`, {
    session: left.sessionToken,
  });
  assert.equal(enabled.status, 200);
  assert.equal((await away(left.accountId)).status, 200);
});

test("an account's keys are listed and revoked, once", async () => {
  const account = await bed.account();
  const path = `/users/${account.accountId}/keys`;
  const [key] = await everything(adminApi, path);
  assert.equal(key?.id, account.keyId);
  assert.ok(!JSON.stringify(key).includes(account.apiKey));
  for (let round = 0; round < 2; round += 1) {
    const revoked = await adminApi('POST', `${path}/${account.keyId}/revoke`);
    assert.equal((revoked.json.api_key as Members).status, 'revoked');
  }
  assert.deepEqual((await standing(account)).key, [401]);
  const events = await everything(adminApi, `/audit?subject=key:${account.keyId}`);
  assert.equal(events.length, 1);
  assert.equal((await adminApi('POST', `${path}/key_none/revoke`)).status, 404);
  const other = await bed.account();
  assert.equal((await adminApi('POST', `${path}/${other.keyId}/revoke`)).status, 404);
});

test('an account is made, gets a key and credits, and calls a model', async () => {
  const made = await adminApi('POST', '/users', { body: {} });
  assert.equal(made.status, 201, made.text);
  const { account_id, wallet_id, role } = made.json.user as Record<string, string>;
  assert.equal(role, 'user');
  const limits = { requests_per_minute: 3, concurrency_max: 2 };
  const body = { label: 'made', ...limits };
  const created = await adminApi('POST', `/users/${account_id}/keys`, { body });
  assert.equal(created.status, 201, created.text);
  const apiKey = created.json.raw_token as string;
  const gift = { operation_id: 'first', amount_microcredits: 50_000_000, note: 'hello' };
  assert.equal(
    (await adminApi('POST', `/wallets/${wallet_id}/grants`, { body: gift })).status,
    201,
  );
  const caller = { baseUrl: bed.url, apiKey };
  const answers = [];
  for (let index = 0; index < 4; index += 1) answers.push((await askChat(caller, 'hi')).status);
  assert.deepEqual(answers, [200, 200, 200, 429]);
  const events = await everything(adminApi, `/audit?account_id=${account_id}`);
  assert.deepEqual(
    events.map(({ action }) => action),
    ['wallet.grant', 'key.create', 'account.create'],
  );
  const { details } = events[1] as { details: Members };
  const { requests_per_minute, concurrency_max, environment } = details;
  const named = { requests_per_minute, concurrency_max, environment };
  assert.deepEqual(named, { ...limits, environment: 'live' }, 'named as in the request');
  assert.deepEqual(
    Object.keys(details).filter((name) => /[A-Z]/.test(name)),
    [],
  );
  assert.ok(!JSON.stringify(events).includes(apiKey));
  const nowhere = await adminApi('POST', '/users/acc_none/keys', { body: { label: 'x' } });
  assert.equal(nowhere.status, 404);
  for (const wrong of [{}, { label: 'x', concurrency_max: 0 }]) {
    const reply = await adminApi('POST', `/users/${account_id}/keys`, { body: wrong });
    assert.equal(reply.status, 400);
  }
});

test('an account has a label: given, changed, taken, and found by a part of it', async () => {
  const made = await adminApi('POST', '/users', { body: { label: 'Acme GmbH, Köln' } });
  assert.equal(made.status, 201, made.text);
  const user = made.json.user as Members;
  assert.deepEqual([user.label, user.role], ['Acme GmbH, Köln', 'user']);
  const path = `/users/${user.account_id}`;
  assert.deepEqual((await adminApi('GET', path)).json.user, user);
  assert.deepEqual(await everything(adminApi, '/users?search=acme%20g'), [user]);
  assert.deepEqual(await everything(adminApi, '/users?search=acme_g'), [], 'no pattern');
  const renamed = await adminApi('PATCH', path, { body: { label: 'Acme', revision: 1 } });
  assert.deepEqual([renamed.status, (renamed.json.user as Members).label], [200, 'Acme']);
  const stale = await adminApi('PATCH', path, { body: { label: 'other', revision: 1 } });
  assert.equal(refusal(stale).code, 'conflict');
  const same = await adminApi('PATCH', path, { body: { label: 'Acme' } });
  assert.deepEqual(same.json, renamed.json, 'doing it twice changes nothing');
  const disabled = (await adminApi('POST', `${path}/disable`)).json.user as Members;
  assert.equal(disabled.label, 'Acme', 'nothing else touches it');
  const both = await adminApi('PATCH', path, { body: { role: 'admin', label: null } });
  const { role, label } = both.json.user as Members;
  assert.deepEqual([role, label], ['admin', null]);
  const events = await everything(adminApi, `/audit?subject=account:${user.account_id}`);
  const told = events.map(({ action, details }) => {
    const { before, after: now } = details as { before?: Members; after?: Members };
    return [action, before?.label, now?.label];
  });
  assert.deepEqual(told, [
    ['account.role', 'Acme', null],
    ['account.disable', 'Acme', 'Acme'],
    ['account.label', 'Acme GmbH, Köln', 'Acme'],
    ['account.create', undefined, undefined],
  ]);
  assert.equal((events.at(-1)?.details as Members | undefined)?.label, 'Acme GmbH, Köln');
  const bare = await adminApi('POST', '/users', { body: {} });
  assert.equal((bare.json.user as Members).label, null);
  for (const wrong of ['', 'x'.repeat(101), 'two\nlines', 7]) {
    for (const [method, where] of [
      ['POST', '/users'],
      ['PATCH', path],
    ] as const) {
      const reply = refusal(await adminApi(method, where, { body: { label: wrong } }));
      assert.deepEqual([reply.status, reply.details.path], [400, 'label']);
    }
  }
});

test('what is not there is not found, what is not known is refused with its path', async () => {
  const { accountId } = await bed.account();
  const calls: [string, string, unknown][] = [
    ['GET', '/users/acc_none', undefined],
    ['PATCH', '/users/acc_none', { role: 'user' }],
    ['POST', '/users/acc_none/disable', undefined],
    ['POST', '/users/acc_none/enable', {}],
    ['GET', '/users/acc_none/keys', undefined],
    ['GET', '/users/acc_none/sessions', undefined],
    ['POST', '/users/acc_none/sign-out', undefined],
    ['GET', '/users/acc_none/authorizations', undefined],
    ['POST', '/users/acc_none/delete', undefined],
    ['POST', '/users/acc_none/restore', undefined],
  ];
  for (const [method, path, body] of calls) {
    assert.equal((await adminApi(method, path, { body })).status, 404, `${method} ${path}`);
  }
  const bodies: [Members, string][] = [
    [{}, 'role'],
    [{ role: 'chief' }, 'role'],
    [{ role: 'user', revision: 0 }, 'revision'],
    [{ role: 'user', status: 'disabled' }, 'status'],
  ];
  for (const [body, field] of bodies) {
    const reply = refusal(await adminApi('PATCH', `/users/${accountId}`, { body }));
    assert.deepEqual([reply.status, reply.details.path], [400, field]);
  }
});

test('an account with an address owns it, and nobody else gets it', async () => {
  const email = `Ada.${Date.now()}@Exämple.test`;
  const own = email.toLowerCase().replace('exämple', 'xn--exmple-cua');
  const body = { email, full_name: 'Ada Lovelace' };
  const made = await adminApi('POST', '/users', { body });
  assert.equal(made.status, 201, made.text);
  const user = made.json.user as Members;
  assert.deepEqual(
    [user.email, user.email_verified, user.full_name, user.status],
    [own, false, 'Ada Lovelace', 'active'],
  );
  const second = refusal(await adminApi('POST', '/users', { body: { email: own } }));
  assert.deepEqual([second.status, second.code, second.details.path], [409, 'conflict', 'email']);
  const other = (await adminApi('POST', '/users', { body: {} })).json.user as Members;
  const path = `/users/${other.account_id}`;
  const taken = refusal(await adminApi('PATCH', path, { body: { email: own } }));
  assert.deepEqual([taken.status, taken.code], [409, 'conflict']);
  const moved = `bob.${Date.now()}@example.test`;
  const renamed = await adminApi('PATCH', path, { body: { email: moved, full_name: 'Bob' } });
  const { email: given, full_name } = renamed.json.user as Members;
  assert.deepEqual([given, full_name], [moved, 'Bob']);
  const found = await everything(adminApi, `/users?search=${encodeURIComponent(moved)}`);
  assert.deepEqual(
    found.map(({ account_id }) => account_id),
    [other.account_id],
  );
  assert.equal((await everything(adminApi, `/users?search=${moved}&status=unverified`)).length, 0);
  for (const wrong of ['no address', 'a@b@c', '@x.test', 'a@x.test:25', 'ä@x.test']) {
    const refused = refusal(await adminApi('POST', '/users', { body: { email: wrong } }));
    assert.deepEqual([refused.status, refused.details.path], [400, 'email'], wrong);
  }
  const events = await everything(adminApi, `/audit?subject=account:${other.account_id}`);
  assert.ok(!JSON.stringify(events).includes(moved), 'the trail is kept, and tells no address');
});

test('who is signed out by an administrator is signed in nowhere; keys stay', async () => {
  const account = await bed.account();
  const path = `/users/${account.accountId}`;
  const sessions = await everything(adminApi, `${path}/sessions`);
  assert.deepEqual(
    sessions.map(({ kind, method }) => [kind, method]),
    [['app', 'command']],
  );
  assert.deepEqual(await standing(account), { key: [200], session: [200] });
  const out = await adminApi('POST', `${path}/sign-out`);
  const { ok: _, ...counts } = out.json;
  assert.deepEqual(counts, { sessions: 1, authorizations: 0, api_keys: 0 });
  assert.deepEqual(await standing(account), { key: [200], session: [401] });
  assert.equal((await everything(adminApi, `${path}/sessions`)).length, 0);
  const again = await adminApi('POST', `${path}/sign-out`);
  assert.equal(again.json.sessions, 0);
  const events = await everything(adminApi, `/audit?subject=account:${account.accountId}`);
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.sign_out'],
  );
});

test('an account is deleted and restored, and its credentials stay ended', async () => {
  const account = await bed.account();
  const path = `/users/${account.accountId}`;
  const { token } = await makeAccess(bed.sql, account.accountId, ['app']);
  const [app] = await everything(adminApi, `${path}/authorizations`);
  assert.deepEqual(
    [app?.client_id, app?.display_name, app?.scopes],
    ['svc-cli', 'Command line', ['app']],
  );
  assert.deepEqual(await standing(account), { key: [200], session: [200] });
  for (let times = 0; times < 2; times += 1) {
    const deleted = await adminApi('POST', `${path}/delete`);
    assert.equal((deleted.json.user as Members).status, 'deleting');
  }
  assert.deepEqual(await standing(account), { key: [401], session: [401] });
  const refused = await fetch(`${bed.url}/api/me/api-keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(refused.status, 401);
  assert.equal((await everything(adminApi, '/users?status=deleting')).length > 0, true);
  for (let times = 0; times < 2; times += 1) {
    const restored = await adminApi('POST', `${path}/restore`);
    assert.equal((restored.json.user as Members).status, 'active');
  }
  assert.deepEqual(await standing(account), { key: [401], session: [401] });
  const events = await everything(adminApi, `/audit?subject=account:${account.accountId}`);
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.restore', 'account.delete'],
  );
  await adminApi('POST', `${path}/delete`);
  await bed.sql`UPDATE accounts SET erasing_at = now() WHERE id = ${account.accountId}`;
  assert.equal((await adminApi('POST', `${path}/restore`)).status, 409);
});

test('audit events are filtered, paged and unchangeable', async () => {
  const from = new Date().toISOString();
  const account = await bed.account();
  for (const verb of ['disable', 'enable', 'disable', 'enable']) {
    await adminApi('POST', `/users/${account.accountId}/${verb}`);
    await sleep(2);
  }
  const subject = `subject=account:${account.accountId}`;
  const all = await everything(adminApi, `/audit?${subject}`, 2);
  assert.equal(all.length, 4);
  const ats = all.map(({ at }) => at as string);
  assert.deepEqual(ats, [...ats].sort().reverse());
  assert.equal((await everything(adminApi, `/audit?${subject}&action=account.enable`)).length, 2);
  assert.equal((await everything(adminApi, `/audit?${subject}&from=${from}`)).length, 4);
  assert.equal((await everything(adminApi, `/audit?${subject}&to=${from}`)).length, 0);
  assert.equal((await everything(adminApi, `/audit?${subject}&to=${ats[1]}`)).length, 2);
  const [first] = all;
  const mine = await everything(adminApi, `/audit?${subject}&actor=${first?.actor}`);
  assert.equal(mine.length, 4);
  assert.equal((await everything(adminApi, `/audit?${subject}&actor=nobody`)).length, 0);
  // A time without a zone would be another one in each place.
  const noDays = ['2026-13-01', '2026-02-30', '2026-02-30T00:00:00Z'];
  for (const wrong of ['yesterday-or-so', '1 January 2026', from.slice(0, -1), ...noDays]) {
    for (const name of ['from', 'to']) {
      const refused = await adminApi('GET', `/audit?${name}=${encodeURIComponent(wrong)}`);
      assert.equal(refused.status, 400, wrong);
    }
  }
  const ahead = new Date(Date.parse(from) + 7_200_000).toISOString().replace('Z', '+02:00');
  for (const same of [encodeURIComponent(ahead), from.slice(0, 10)]) {
    assert.equal((await everything(adminApi, `/audit?${subject}&from=${same}`)).length, 4, same);
  }
  await assert.rejects(bed.sql`UPDATE audit_events SET actor = 'somebody'`, /do not change/);
});
