// What apps told, in the database: groups stay within their bound, and what is old goes. What is
// sealed follows the key, and what is a person's is exported and erased.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { appLimits } from '../../../actors/app/limits.ts';
import { openFor, sealFor } from '../../../actors/app/seals.ts';
import { sealAppsAnew, sweepApps } from '../../../actors/app/upkeep.ts';
import { putMcpServer } from '../../../db/accounts/mcp-servers.ts';
import { putPreferences } from '../../../db/accounts/preferences.ts';
import { createAccount } from '../../../db/accounts.ts';
import { deleteErrors, putErrors, type ToldError } from '../../../db/app/errors.ts';
import { putFeedback, type ToldFeedback } from '../../../db/app/feedback.ts';
import { addActivity, putInstallation } from '../../../db/app/installations.ts';
import { markNoticesRead, notifyAccount } from '../../../db/app/notices.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { erasePage, personalData, readExportedPage } from '../../../db/personal-data.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
});
after(() => database?.close());

const nowMs = Date.now();

function toldError(fingerprint: string, change: Partial<ToldError> = {}): ToldError {
  return {
    fingerprint,
    platform: null,
    errorName: null,
    errorCode: null,
    message: 'it failed',
    frames: [],
    severity: 'error',
    accountId: null,
    installationId: null,
    appVersion: null,
    stackTrace: null,
    details: null,
    email: null,
    atMs: nowMs,
    ...change,
  };
}

function feedback(change: Partial<ToldFeedback> = {}): ToldFeedback {
  return {
    id: newId('fbk', 0),
    accountId: null,
    installationId: null,
    platform: null,
    appVersion: null,
    category: null,
    rating: null,
    message: 'words',
    digest: 'digest',
    email: null,
    ...change,
  };
}

async function groups(): Promise<{ known: number; counted: number; total: number; other: number }> {
  const [row] = await sql<{ known: number; counted: number; total: number; other: number }[]>`
    SELECT (SELECT count(*) FROM app_errors WHERE fingerprint <> 'other')::float8 AS known,
      (SELECT groups FROM app_error_count)::float8 AS counted,
      (SELECT sum(count) FROM app_errors)::float8 AS total,
      coalesce((SELECT count FROM app_errors WHERE fingerprint = 'other'), 0)::float8 AS other`;
  assert.ok(row !== undefined);
  return row;
}

test('groups stay within their bound, and no error is lost, whoever writes at once', async () => {
  const most = 20;
  const batches = Array.from({ length: 40 }, (_, batch) =>
    // In another order each time: writers that wait in a circle would be ended by the server.
    Array.from({ length: 12 }, (_each, at) => toldError(`f${(at * 7 + batch * 5) % 60}`)),
  );
  await Promise.all(batches.map((batch) => putErrors(sql, batch, most)));
  const all = await groups();
  assert.deepEqual([all.known, all.counted, all.total], [most, most, 480]);
  assert.ok(all.other > 0);
  const [some] = await sql<{ fingerprint: string }[]>`
    SELECT fingerprint FROM app_errors WHERE fingerprint <> 'other' LIMIT 1`;
  const deleting = sql.begin(async (transaction) => ({
    count: await deleteErrors(transaction, [some?.fingerprint ?? '', 'other', 'unknown']),
  }));
  assert.equal((await deleting).count, 2);
  assert.equal((await groups()).counted, most - 1);
  await putErrors(sql, [toldError('fresh'), toldError('beyond')], most);
  assert.deepEqual([(await groups()).counted, (await groups()).other], [most, 1]);
  await sql`DELETE FROM app_errors`;
  await sql`UPDATE app_error_count SET groups = 0`;
});

test('a group has its first and its last error', async () => {
  const said = (message: string) => toldError('samples', { message });
  await putErrors(sql, [said('one'), said('two'), said('three')], 10);
  await putErrors(sql, [said('four')], 10);
  const samples = await sql<{ place: string; message: string }[]>`
    SELECT place, message FROM app_error_samples ORDER BY place`;
  assert.deepEqual(
    samples.map(({ place, message }) => `${place} ${message}`),
    ['first one', 'last four'],
  );
});

test('the same words at the same moment are one row, and a day later another', async () => {
  const dayMs = appLimits.feedbackSameMs;
  await Promise.all(Array.from({ length: 8 }, () => putFeedback(sql, feedback(), dayMs)));
  const rows = () => sql<{ count: number }[]>`
    SELECT count FROM app_feedback WHERE digest = 'digest' ORDER BY created_at`;
  assert.deepEqual(
    (await rows()).map(({ count }) => count),
    [8],
  );
  await sql`UPDATE app_feedback SET created_at = now() - interval '25 hours'`;
  await putFeedback(sql, feedback(), dayMs);
  assert.deepEqual(
    (await rows()).map(({ count }) => count),
    [8, 1],
  );
});

const sealer = createSealer(Buffer.alloc(32, 1).toString('base64url'));
const later = createSealer(Buffer.alloc(32, 2).toString('base64url'));

test('what is old goes, an address before the words, and nothing that is younger', async () => {
  const digests = ['181 days', '399 days', '401 days', '1 day'];
  for (const digest of digests) {
    const email = sealFor(sealer, 'feedback', digest, 'a@b.example');
    await putFeedback(sql, feedback({ digest, email }), 0);
    await sql`
      UPDATE app_feedback SET created_at = now() - ${digest}::text::interval
      WHERE digest = ${digest}`;
    const told = { accountId: null, platform: null, appVersion: null, source: null };
    await putInstallation(sql, { ...told, id: `i ${digest}`, channel: null, details: {} });
    await sql`
      UPDATE app_installations SET last_at = now() - ${digest}::text::interval
      WHERE id = ${`i ${digest}`}`;
    const atMs = Date.now() - Number.parseInt(digest, 10) * 86_400_000;
    const day = new Date(atMs).toISOString().slice(0, 10);
    const count = { ...told, subject: 'old', count: 1, firstAtMs: atMs, lastAtMs: atMs, day };
    await addActivity(sql, [count]);
  }
  await putErrors(sql, [toldError('old'), toldError('young')], 100);
  await sql`UPDATE app_errors SET last_at = now() - interval '91 days' WHERE fingerprint = 'old'`;
  const before = (await groups()).counted;
  await sql`
    INSERT INTO app_notices (id, title, body, level, audience, starts_at, ends_at)
    SELECT name, 't', '', 'info', 'all', now() - interval '2 years', at FROM (VALUES
      ('ended long ago', now() - interval '91 days'), ('ended', now() - interval '89 days'),
      ('never ends', NULL)) AS n (name, at)`;
  const swept = await sweepApps(sql, appLimits.retention, new AbortController().signal);
  assert.deepEqual(swept, {
    errors: 1,
    notices: 1,
    emails: 3,
    feedback: 1,
    installations: 1,
    activity: 1,
  });
  assert.equal((await groups()).counted, before - 1);
  const addresses = await sql<{ digest: string }[]>`
    SELECT digest FROM app_feedback WHERE email IS NOT NULL`;
  assert.deepEqual(
    addresses.map(({ digest }) => digest),
    ['1 day'],
  );
  const again = await sweepApps(sql, appLimits.retention, new AbortController().signal);
  assert.ok(Object.values(again).every((count) => count === 0));
});

test('what an earlier key sealed is sealed anew, each for its own row', async () => {
  const server = {
    ...{ id: newId('mcp', 0), name: 'n', slug: 'n', url: 'https://h.example/', allowedTools: [] },
    ...{ enabled: true, trusted: true, allowAfterReading: false },
  };
  const authorization = sealFor(sealer, 'mcpServer', server.id, 'its secret');
  await sql.begin((writing) => putMcpServer(writing, 'acc_sealed', { ...server, authorization }));
  const email = sealFor(sealer, 'error', 'sealed', 'r@b.example');
  await putErrors(sql, [toldError('sealed', { email })], 100);
  const { retention } = appLimits;
  const { signal } = new AbortController();
  const sealers = { now: later, before: sealer };
  assert.ok((await sealAppsAnew(sql, sealers, retention, signal)) >= 3);
  assert.equal(await sealAppsAnew(sql, sealers, retention, signal), 0);
  const [row] = await sql<{ sealed: Buffer; email: Buffer; said: Buffer }[]>`
    SELECT m.authorization_sealed AS sealed, s.email, f.email AS said
    FROM mcp_servers m, app_error_samples s, app_feedback f
    WHERE m.id = ${server.id} AND s.fingerprint = 'sealed' AND f.digest = '1 day'`;
  assert.ok(row !== undefined);
  assert.equal(openFor([later], 'mcpServer', server.id, row.sealed), 'its secret');
  assert.equal(openFor([later], 'error', 'sealed', row.email), 'r@b.example');
  assert.equal(openFor([later], 'feedback', '1 day', row.said), 'a@b.example');
  assert.equal(openFor([later], 'mcpServer', 'mcp_other', row.sealed), null);
  assert.equal(openFor([sealer], 'mcpServer', server.id, row.sealed), null);
});

const files = ['apps', 'preferences'];
const domains = personalData.filter(({ file }) => file !== null && files.includes(file));
const tables = domains.flatMap((domain) =>
  Object.entries(domain.tables).flatMap(([table, { fate }]) => (fate === 'erased' ? [table] : [])),
);

async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await sql.unsafe<{ count: number }[]>(
      `SELECT count(*)::float8 AS count FROM ${table} WHERE account_id = $1`,
      [accountId],
    );
    counts[table] = row?.count ?? 0;
  }
  return counts;
}

async function fill(accountId: string): Promise<void> {
  await createAccount(sql, { id: accountId, role: 'user' });
  const told = { accountId, platform: 'macos', appVersion: '1', source: null };
  for (let index = 0; index < 5; index += 1) {
    const id = `${accountId}-${index}`;
    await putInstallation(sql, { ...told, id, channel: null, details: {} });
    const day = `2026-01-0${index + 1}`;
    const times = { count: 1, firstAtMs: nowMs, lastAtMs: nowMs };
    await addActivity(sql, [{ ...told, ...times, day, subject: accountId }]);
    await putFeedback(sql, feedback({ accountId, digest: id }), 0);
    await putErrors(sql, [toldError(id, { accountId }), toldError(id, { accountId })], 10_000);
    const noticeId = newId('ntc', 0);
    const notice = { id: noticeId, accountId, title: 't', body: 'b', level: 'info' } as const;
    await sql.begin((writing) => notifyAccount(writing, notice));
    await markNoticesRead(sql, accountId, [noticeId], false);
    const server = {
      ...{ id: newId('mcp', 0), name: 'n', slug: id, url: 'https://h.example/', allowedTools: [] },
      ...{ enabled: true, trusted: true, allowAfterReading: false },
    };
    const authorization = sealFor(sealer, 'mcpServer', server.id, 'its secret');
    await sql.begin((writing) => putMcpServer(writing, accountId, { ...server, authorization }));
  }
  const models = { defaultModel: 'svc-sim-chat', modes: { chat: 'svc-sim-chat' } };
  await sql.begin((writing) => putPreferences(writing, accountId, models));
}

test("what is a person's is exported without secrets, and erased page by page", async () => {
  await fill('acc_gone');
  await fill('acc_stays');
  const bounds = { rowsMax: 2, bytesMax: 1_000_000 };
  for (const list of domains.flatMap(({ lists }) => lists)) {
    const items: string[] = [];
    for (let cursor = '', isMore = true; isMore; ) {
      const page = await readExportedPage(sql, list, 'acc_gone', cursor, bounds);
      items.push(...page.map(({ item }) => item));
      cursor = page.at(-1)?.cursor ?? '';
      isMore = page.length > 0;
    }
    assert.ok(items.length >= 1 && new Set(items).size >= 1, list.name);
    for (const item of items) assert.ok(!/sealed|digest|acc_stays/.test(item), item);
  }
  const kept = await rowsOf('acc_stays');
  assert.ok(
    Object.values(kept).every((count) => count > 0),
    JSON.stringify(kept),
  );
  for (const step of domains.flatMap(({ erasing }) => erasing)) {
    for (let from: string | null = ''; from !== null; ) {
      const at: string = from;
      const page = sql.begin((erasing) => erasePage(erasing, step, 'acc_gone', at, 2));
      from = ((await page) as { after: string | null }).after;
    }
  }
  assert.ok(Object.values(await rowsOf('acc_gone')).every((count) => count === 0));
  assert.deepEqual(await rowsOf('acc_stays'), kept);
});
