// What apps tell, over HTTP: who may, how much, how often, and what stands in the tables then.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, openAdminApi, refusal } from '../admin/admin-api.ts';

let bed: Testbed;
let contract: Contract;
let admin: AdminApi;
before(async () => {
  // Each test comes from networks of its own.
  bed = await openTestbed({ shards: 2, env: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } });
  contract = await Contract.load(bed.url);
  admin = await openAdminApi(bed);
});
after(() => bed?.close());

type Members = Record<string, unknown>;
let networks = 0;
const network = () => {
  networks += 1;
  return `10.9.${networks >> 8}.${networks & 255}`;
};

function tell(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return contract.call('POST', `/api/app/${path}`, {
    headers: { 'x-forwarded-for': network(), ...headers },
    body,
  });
}

const id = (name: string) => `installation-${name}`;

test('an installation is made, brought up to date, and shown to administrators alone', async () => {
  const account = await bed.account();
  const first = { installation_id: id('one'), platform: 'macos', app_version: '1.0', locale: 'en' };
  assert.equal((await tell('installations', first)).status, 202);
  const again = { installation_id: id('one'), app_version: '1.1', channel: null, cores: 8 };
  const signedIn = { 'x-svc-session': account.sessionToken };
  const reply = await tell('installations', again, signedIn);
  assert.deepEqual([reply.status, reply.json], [202, { ok: true }]);
  const listed = await everything(admin, `/installations?account_id=${account.accountId}`);
  const [shown] = listed;
  assert.equal(listed.length, 1);
  assert.deepEqual(
    [shown?.id, shown?.platform, shown?.app_version, shown?.details],
    [id('one'), 'macos', '1.1', { cores: 8 }],
  );
  assert.equal((await admin('DELETE', `/installations/${id('one')}`)).status, 200);
  assert.equal((await admin('DELETE', `/installations/${id('one')}`)).status, 404);
});

test('bodies are bounded, and each fault has its path', async () => {
  const scalars = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, index]));
  const installation = { installation_id: id('bounds') };
  const cases: readonly (readonly [string, unknown, number, string?])[] = [
    ['installations', {}, 400, 'installation_id'],
    ['installations', { installation_id: 'short' }, 400, 'installation_id'],
    ['installations', { installation_id: 'with blanks in it' }, 400, 'installation_id'],
    ['installations', { installation_id: '4242424242424242' }, 400, 'installation_id'],
    ['installations', { ...installation, platform: 'p'.repeat(41) }, 400, 'platform'],
    ['installations', { ...installation, nested: {} }, 400, 'nested'],
    ['installations', { ...installation, ...scalars(20) }, 202],
    ['installations', { ...installation, ...scalars(21) }, 400, 'm20'],
    ['installations', { ...installation, long: 'x'.repeat(4_096) }, 413],
    ['activity', { platform: 'macos' }, 400, 'installation_id'],
    ['activity', { ...installation, source: 's'.repeat(41) }, 400, 'source'],
    ['errors', {}, 400, 'message'],
    ['errors', { message: 'm'.repeat(2_001) }, 400, 'message'],
    ['errors', { message: 'm', more: 1 }, 400, 'more'],
    ['errors', { message: 'm', severity: 'bad' }, 400, 'severity'],
    ['errors', { message: 'm', stack_trace: 's'.repeat(16_385) }, 400, 'stack_trace'],
    ['errors', { message: 'm', details: { a: 'd'.repeat(8_192) } }, 400, 'details'],
    ['errors', { message: 'm', error_name: 'n'.repeat(201) }, 400, 'error_name'],
    ['errors', { message: 'm', email: 'none' }, 400, 'email'],
    ['errors', { message: 'm', stack_trace: 's'.repeat(300_000) }, 413],
    ['errors', { message: 'm\u0000', details: ['\u0000', { '\u0000': 1 }] }, 202],
    ['feedback', { rating: 5 }, 400, 'message'],
    ['feedback', { message: 'm'.repeat(5_001) }, 400, 'message'],
    ['feedback', { message: 'm', rating: 6 }, 400, 'rating'],
    ['feedback', { message: 'm', rating: 1.5 }, 400, 'rating'],
    ['feedback', { message: 'm', category: 'c'.repeat(41) }, 400, 'category'],
  ];
  for (const [path, body, status, param] of cases) {
    const reply = await tell(path, body);
    const told = `${path} ${JSON.stringify(body).slice(0, 80)}: ${reply.text.slice(0, 200)}`;
    assert.equal(reply.status, status, told);
    if (param !== undefined) assert.equal(refusal(reply).details.path, param, told);
  }
});

test('a credential that is wrong is told so, and none is needed', async () => {
  const installation_id = id('credentials');
  for (const path of ['installations', 'activity']) {
    const wrong = await tell(path, { installation_id }, { 'x-svc-session': 'svc_app_nobody' });
    assert.equal(wrong.status, 401, wrong.text);
  }
  const account = await bed.account();
  const signedIn = { 'x-svc-session': account.sessionToken };
  assert.equal((await tell('activity', { platform: 'web' }, signedIn)).status, 202);
});

test('a network tells 60 things a minute, an installation 20, and feedback 5 an hour', async () => {
  const from = { 'x-forwarded-for': network() };
  const statuses: number[] = [];
  for (let count = 0; count < 62; count += 1) {
    const body = { installation_id: id(`many-${count}`) };
    statuses.push((await tell('activity', body, from)).status);
  }
  assert.deepEqual(statuses.slice(0, 60), Array(60).fill(202));
  assert.ok(statuses.slice(60).includes(429));
  const one = { installation_id: id('eager') };
  const told: Reply[] = [];
  for (let count = 0; count < 22; count += 1) told.push(await tell('activity', one));
  assert.deepEqual(told.map(({ status }) => status).slice(0, 20), Array(20).fill(202));
  const last = told.at(-1);
  assert.equal(last?.status, 429);
  assert.ok(Number(last?.headers.get('retry-after')) > 0);
  const mine = { 'x-forwarded-for': network() };
  const said: number[] = [];
  for (let count = 0; count < 6; count += 1) {
    const body = { message: `words ${count}`, installation_id: id(`voice-${count}`) };
    said.push((await tell('feedback', body, mine)).status);
  }
  assert.deepEqual(said, [202, 202, 202, 202, 202, 429]);
});

test('activity is counted by installation or account and day, within ten seconds', async () => {
  const account = await bed.account();
  const signedIn = { 'x-svc-session': account.sessionToken };
  const body = { installation_id: id('active'), platform: 'linux' };
  for (let count = 0; count < 3; count += 1) await tell('activity', body);
  for (let count = 0; count < 2; count += 1) await tell('activity', body, signedIn);
  const counted = async () =>
    bed.sql<{ subject: string; count: number }[]>`
      SELECT subject, sum(count)::float8 AS count FROM app_activity
      WHERE subject IN (${id('active')}, ${account.accountId}) GROUP BY subject ORDER BY subject`;
  const told = async () => (await counted()).reduce((sum, row) => sum + row.count, 0);
  for (let tries = 0; (await told()) < 5 && tries < 150; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.deepEqual(
    (await counted()).map(({ subject, count }) => [subject, count]),
    [
      [account.accountId, 2],
      [id('active'), 3],
    ],
  );
  const days = (await admin('GET', '/installations/activity')).json.data as Members[];
  assert.equal(days[0]?.day, new Date().toISOString().slice(0, 10));
});

test('errors that are alike are a group with two samples, until they come again', async () => {
  const stack_trace = 'Error\n    at load (https://app.example/main.js?v=1:1:2)';
  const told = (ms: number, more: Members = {}) =>
    tell('errors', { message: `Alike after ${ms} ms`, platform: 'alike', stack_trace, ...more });
  const replies = await Promise.all([1, 2, 3, 4, 5].map((ms) => told(ms)));
  for (const reply of replies) assert.equal(reply.status, 202, reply.text);
  await told(6, { email: 'reporter@example.test', details: { page: 'https://h.example/?q=1' } });
  await told(7, { error_code: 'other' });
  const groups = await everything(admin, '/errors?platform=alike');
  assert.deepEqual(groups.map(({ count }) => count).sort(), [1, 6]);
  const group = groups.find(({ count }) => count === 6);
  const path = `/errors/${group?.fingerprint}`;
  const shown = (await admin('GET', path)).json.samples as Members[];
  assert.deepEqual(
    shown.map(({ place }) => place),
    ['first', 'last'],
  );
  const sample = shown[1];
  assert.equal(sample?.email, 'reporter@example.test');
  assert.deepEqual(sample?.details, { page: 'https://h.example/?[query]' });
  assert.ok(!String(sample?.stack_trace).includes('v=1'));
  const resolved = await admin('PATCH', path, { body: { resolved: true } });
  assert.notEqual((resolved.json.error as Members).resolved_at, null);
  await told(8);
  assert.equal(((await admin('GET', path)).json.error as Members).resolved_at, null);
  assert.equal((await admin('DELETE', path)).status, 200);
  assert.equal((await admin('GET', path)).status, 404);
});

test('the same words of the same person are one row, with the address for an answer', async () => {
  const from = { 'x-forwarded-for': network() };
  const body = {
    message: 'It forgets my window.',
    installation_id: id('words'),
    category: 'words',
  };
  await tell('feedback', body, from);
  await tell('feedback', { ...body, email: 'me@example.test', rating: 2 }, from);
  await tell('feedback', { ...body, installation_id: id('others') });
  const rows = await everything(admin, '/feedback?category=words');
  assert.deepEqual(rows.map(({ count }) => count).sort(), [1, 2]);
  const twice = rows.find(({ count }) => count === 2);
  assert.deepEqual([twice?.email, twice?.rating], ['me@example.test', 2]);
  const path = `/feedback/${twice?.id}`;
  const handled = await admin('PATCH', path, { body: { handled: true } });
  assert.notEqual((handled.json.feedback as Members).handled_at, null);
  assert.equal((await everything(admin, '/feedback?category=words&handled=false')).length, 1);
  assert.equal((await admin('DELETE', path)).status, 200);
  assert.equal((await admin('DELETE', path)).status, 404);
  const trail = await bed.sql<{ action: string }[]>`
    SELECT action FROM audit_events WHERE subject = ${`feedback:${twice?.id}`} ORDER BY id`;
  assert.deepEqual(
    trail.map(({ action }) => action),
    ['feedback.update', 'feedback.delete'],
  );
});
