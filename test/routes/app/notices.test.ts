// Notices over HTTP: who is told what, from every shard at once, with ETags and readings; and what
// other domains write to one account.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { notifyAccount } from '../../../db/app/notices.ts';
import { newId } from '../../../runtime/ids.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, freshGet, openAdminApi, refusal } from '../admin/admin-api.ts';

let bed: Testbed;
let contract: Contract;
let admin: AdminApi;
before(async () => {
  bed = await openTestbed({ shards: 2, own: 'it counts all notices that are told' });
  contract = await Contract.load(bed.url);
  admin = await openAdminApi(bed);
});
after(() => bed?.close());

type Members = Record<string, unknown>;
const path = '/api/app/notifications';

async function told(session?: string, query = ''): Promise<Members[]> {
  const headers: Record<string, string> = session === undefined ? {} : { 'x-svc-session': session };
  const reply = await contract.call('GET', `${path}${query}`, { headers });
  assert.equal(reply.status, 200, reply.text);
  return reply.json.data as Members[];
}

async function make(body: Members): Promise<Members> {
  const reply = await admin('POST', '/notifications', { body: { body: 'text', ...body } });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.notice as Members;
}

const titles = (notices: readonly Members[]) => notices.map(({ title }) => title);

test('every shard tells a notice when it is made, changed and deleted', async () => {
  const notice = await make({ title: 'Everywhere', level: 'warning', action_url: '/account' });
  const everywhere = async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => freshGet(bed.url + path)));
    return replies.map(({ text }) => titles(JSON.parse(text).data as Members[]).join());
  };
  assert.deepEqual([...new Set(await everywhere())], ['Everywhere']);
  const patch = { title: 'Changed', revision: notice.revision };
  assert.equal((await admin('PATCH', `/notifications/${notice.id}`, { body: patch })).status, 200);
  assert.deepEqual([...new Set(await everywhere())], ['Changed']);
  const stale = await admin('PATCH', `/notifications/${notice.id}`, { body: patch });
  assert.deepEqual([stale.status, refusal(stale).details.revision], [409, 2]);
  assert.equal((await admin('DELETE', `/notifications/${notice.id}`)).status, 200);
  assert.deepEqual([...new Set(await everywhere())], ['']);
  const trail = await bed.sql<{ action: string }[]>`
    SELECT action FROM audit_events WHERE subject = ${`notice:${notice.id}`} ORDER BY id`;
  assert.deepEqual(
    trail.map(({ action }) => action),
    ['notice.create', 'notice.update', 'notice.delete'],
  );
});

test('audiences, apps and times narrow who is told', async () => {
  const account = await bed.account();
  const other = await bed.account();
  const boss = await bed.account({ admin: true });
  await make({ title: 'all' });
  await make({ title: 'users', audience: 'authenticated' });
  await make({ title: 'bosses', audience: 'admin' });
  await make({ title: 'one', audience: 'accounts', account_ids: [account.accountId] });
  await make({ title: 'macs', platforms: ['macOS'], app_version_min: '1.2' });
  await make({ title: 'later', starts_at: new Date(Date.now() + 600_000).toISOString() });
  const sorted = async (session?: string, query?: string) =>
    titles(await told(session, query))
      .sort()
      .join();
  assert.equal(await sorted(), 'all');
  assert.equal(await sorted(account.sessionToken), 'all,one,users');
  assert.equal(await sorted(other.sessionToken), 'all,users');
  assert.equal(await sorted(boss.sessionToken), 'all,bosses,users');
  assert.equal(await sorted(undefined, '?platform=macos&app_version=1.10'), 'all,macs');
  assert.equal(await sorted(undefined, '?platform=macos&app_version=1.1'), 'all');
  const wrong = await contract.call('GET', path, { headers: { 'x-svc-session': 'svc_app_no' } });
  assert.equal(wrong.status, 401);
});

test('what an account has read is told so, on every shard, under another ETag', async () => {
  const account = await bed.account();
  const notice = await make({ title: 'to read' });
  const headers = { 'x-svc-session': account.sessionToken };
  const get = (etag?: string): Promise<Reply> =>
    contract.call('GET', path, {
      headers: etag === undefined ? headers : { ...headers, 'if-none-match': etag },
    });
  const first = await get();
  const etag = first.headers.get('etag') ?? '';
  assert.equal((await get(etag)).status, 304);
  assert.equal((await get(`W/"other", ${etag}`)).status, 304);
  const body = { ids: [notice.id, 'ntc_000000000000000000000000'] };
  for (let times = 0; times < 2; times += 1) {
    const read = await contract.call('POST', `${path}/read`, { headers, body });
    assert.equal(read.status, 200, read.text);
  }
  assert.equal((await get(etag)).status, 200);
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => freshGet(bed.url + path, headers)),
  );
  for (const { text } of replies) {
    const shown = (JSON.parse(text).data as Members[]).find(({ id }) => id === notice.id);
    assert.equal(shown?.read, true);
  }
  const nobody = await contract.call('POST', `${path}/read`, { body });
  assert.equal(nobody.status, 401);
});

test('a domain tells one account, once for each operation, within ten seconds', async () => {
  const account = await bed.account();
  const other = await bed.account();
  await told(account.sessionToken);
  const operationId = `topup-paused ${account.accountId}`;
  for (let times = 0; times < 2; times += 1) {
    const written = await bed.sql.begin((transaction) =>
      notifyAccount(transaction, {
        id: newId('ntc', 0),
        accountId: account.accountId,
        title: 'Automatic top-up is paused',
        body: 'The card was declined.',
        level: 'warning',
        operationId,
      }),
    );
    assert.equal(written, times === 0);
  }
  const has = async () =>
    titles(await told(account.sessionToken)).includes('Automatic top-up is paused');
  for (let tries = 0; !(await has()) && tries < 120; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(await has());
  assert.ok(!titles(await told(other.sessionToken)).includes('Automatic top-up is paused'));
  const listed = await everything(admin, `/notifications?account_id=${account.accountId}`);
  assert.deepEqual(
    listed.map(({ origin }) => origin),
    ['billing'],
  );
});

test('a change that nobody published is told all the same', async () => {
  const id = newId('ntc', 0);
  await bed.sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO app_notices (id, title, body, level, audience, starts_at)
      VALUES (${id}, 'from another process', '', 'info', 'all', now())`;
    await transaction`UPDATE app_board SET revision = revision + 1`;
  });
  const has = async () => titles(await told()).includes('from another process');
  for (let tries = 0; !(await has()) && tries < 80; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(await has());
});

test('what is wrong with a notice has its path', async () => {
  const cases: readonly (readonly [Members, string])[] = [
    [{ title: '' }, 'title'],
    [{ title: 't', audience: 'accounts' }, 'account_ids'],
    [{ title: 't', account_ids: ['acc_x'] }, 'account_ids'],
    [{ title: 't', audience: 'accounts', account_ids: ['acc_nobody'] }, 'account_ids[0]'],
    [{ title: 't', action_url: '//evil.example' }, 'action_url'],
    [{ title: 't', action_url: 'javascript:alert(1)' }, 'action_url'],
    [{ title: 't', starts_at: '2026-02-31T00:00:00Z' }, 'starts_at'],
    [{ title: 't', starts_at: '2026-03-02T00:00Z', ends_at: '2026-03-01T00:00Z' }, 'ends_at'],
    [{ title: 't', app_version_min: 'new' }, 'app_version_min'],
    [{ title: 't', more: 1 }, 'more'],
  ];
  for (const [body, param] of cases) {
    const reply = await admin('POST', '/notifications', { body: { body: '', ...body } });
    assert.deepEqual([reply.status, refusal(reply).details.path], [400, param], reply.text);
  }
});
