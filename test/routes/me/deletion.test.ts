// Deleting an account: fresh, confirmed, everywhere at once; undone in time, and else erased to the
// last word, across kills of the process.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../../db/audit.ts';
import { rowsWith } from '../../actors/personal-data/stage.ts';
import type { Contract, Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makeVideo } from '../../harness/video-jobs.ts';
import { VoiceClient } from '../../harness/voice-client.ts';
import { askEverywhere } from '../admin/admin-api.ts';
import { IdentityBed } from '../identity/bed.ts';
import { liveOn } from './life.ts';
import { makePerson, newSession, type TestPerson } from './person.ts';

// slow: It lives a whole life of an account, and kills the gateway that erases it.

let bed: Testbed;
let contract: Contract;
let identity: IdentityBed;
before(async () => {
  bed = await openTestbed({ own: 'it is killed', env: { TOLLGATE_VIDEO_HASTE: '40' } });
  identity = await IdentityBed.over(bed);
  contract = identity.contract;
});
after(() => bed?.close());

type Members = Record<string, unknown>;

const remove = (person: TestPerson, confirm: unknown = person.email, session?: string) =>
  person.call('DELETE', '/api/me/account', { confirm }, session);

function detailsOf({ json }: Reply): unknown {
  return (json.error as Members).details;
}

async function statusesOf(path: string, headers: Record<string, string>): Promise<number[]> {
  const replies = await askEverywhere(bed.url + path, headers);
  return [...new Set(replies.map(({ status }) => status))];
}

async function moveBack(accountId: string, days: number): Promise<void> {
  await bed.sql`
    UPDATE accounts SET deleting_at = deleting_at - make_interval(days => ${days}::integer)
    WHERE id = ${accountId}`;
}

async function isErased(accountId: string): Promise<boolean> {
  const rows = await bed.sql`
    SELECT FROM accounts WHERE id = ${accountId} AND erased_at IS NOT NULL`;
  return rows.length > 0;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await sleep(20)) {
    assert.ok(Date.now() < deadline, `not within a minute: ${what}`);
  }
}

/** Keeps whoever erases the account from going past a row; returns what lets go of it. */
async function holdRow(table: string, accountId: string): Promise<() => Promise<void>> {
  const sql = bed.database.pool('general', 1);
  let letGo = () => {};
  const isOver = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    const text = `SELECT FROM ${table} WHERE account_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE`;
    ended = sql.begin(async (transaction) => {
      await transaction`SET LOCAL idle_in_transaction_session_timeout = 0`;
      const rows = await transaction.unsafe(text, [accountId]);
      assert.equal(rows.length, 1, table);
      resolve();
      await isOver;
    });
    ended.catch(reject);
  });
  return async () => {
    letGo();
    await ended;
  };
}

/** Somebody waits for the row that is held. */
async function untilBlocked(): Promise<void> {
  await until('the erasing is at the row', async () => {
    const rows = await bed.sql`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%blob_id%'`;
    return rows.length > 0;
  });
}

/** Rows of what is about to be approved, and of guesses. */
async function leaveTraces(accountId: string, email: string, mark: string): Promise<void> {
  await bed.sql`INSERT INTO code_guesses (address) SELECT ${email} FROM generate_series(1, 3)`;
  await bed.sql`
    INSERT INTO oauth_approvals (account_id, client, scopes) VALUES (${accountId}, ${mark}, '{}')`;
  await bed.sql`
    INSERT INTO oauth_codes (code_hash, account_id, client, scopes, method, authenticated_at,
      redirect_uri, challenge, expires_at)
    VALUES (sha256(${mark}::text::bytea), ${accountId}, ${mark}, '{}', 'otp', now(), ${mark},
      repeat('x', 43), now())`;
  await bed.sql`
    INSERT INTO oauth_devices (id, device_code_hash, user_code_digest, client, scopes, expires_at,
      decided_at, account_id, granted_scopes, method, authenticated_at)
    VALUES (${`dev_${mark}`}, sha256(${mark}::text::bytea), ${mark}, 'svc-cli', '{}', now(), now(),
      ${accountId}, '{}', 'otp', now())`;
}

test('a deletion wants a fresh sign-in and the address of the account', async () => {
  const person = await makePerson(bed, contract);
  const old = await newSession(bed, person.accountId, { ageMs: 10 * 60_000 + 1_000 });
  const stale = await remove(person, person.email, old.token);
  assert.deepEqual([stale.status, detailsOf(stale)], [403, { reason: 'reauthenticate' }]);
  for (const confirm of ['', person.accountId, `x${person.email}`, 7]) {
    const reply = await remove(person, confirm);
    assert.equal(reply.status, 400, reply.text);
    assert.deepEqual(detailsOf(reply), { path: 'confirm' });
  }
  assert.equal((await person.call('DELETE', '/api/me/account')).status, 400);
  assert.deepEqual(await statusesOf('/v1/models', { 'x-api-key': person.apiKey }), [200]);
});

test('all credentials end on every shard before the answer, and a mail says so', async () => {
  const person = await makePerson(bed, contract);
  const video = await makeVideo(person, { prompt: 'a boat', duration_seconds: 4 });
  const voice = await VoiceClient.connect(bed.url, { apiKey: person.apiKey });
  await voice.ready();
  const keyStatuses = () => statusesOf('/v1/models', { 'x-api-key': person.apiKey });
  const sessionStatuses = () =>
    statusesOf('/api/me/account', { 'x-svc-session': person.session.token });
  assert.deepEqual([await keyStatuses(), await sessionStatuses()], [[200], [200]]);
  const reply = await remove(person, person.email.toUpperCase());
  assert.equal(reply.status, 202, reply.text);
  assert.deepEqual([await keyStatuses(), await sessionStatuses()], [[401], [401]]);
  await voice.close();
  const until = Date.parse(String(reply.json.restorable_until));
  assert.ok(Math.abs(until - Date.now() - 14 * 86_400_000) < 60_000);
  const mail = await identity.nextMail(person.email);
  assert.equal(mail.subject, 'Your account will be deleted');
  assert.ok(mail.text.includes(String(new Date(until).getUTCFullYear())));
  const [event] = await bed.sql<{ details: Members; actor: string }[]>`
    SELECT details, actor FROM audit_events
    WHERE account_id = ${person.accountId} AND action = 'account.delete'`;
  assert.deepEqual(event, { details: { ended: 3 }, actor: person.accountId });
  await person.quiet();
  const [job] = await bed.sql<{ status: string }[]>`
    SELECT status FROM video_jobs WHERE id = ${video.id}`;
  assert.ok(['cancelled', 'succeeded'].includes(job?.status ?? ''), job?.status);
});

test('the last administrator is not deleted', async () => {
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  await bed.sql`UPDATE sessions SET authenticated_at = now()`;
  const me = await contract.call('GET', '/api/me/account', { headers });
  const { id, email } = me.json.user as { id: string; email: string | null };
  const body = { confirm: email ?? id };
  const reply = await contract.call('DELETE', '/api/me/account', { headers, body });
  assert.deepEqual([reply.status, detailsOf(reply)], [409, { reason: 'last_administrator' }]);
  assert.deepEqual(await statusesOf('/api/admin/status', headers), [200]);
});

/** Signs in by a code, as a browser does. */
async function signIn(email: string, members: Members = {}): Promise<Reply> {
  const browser = identity.browser();
  await browser.post('/api/auth/otp/request', { email, purpose: 'login' });
  // Mails of before are read already.
  for (;;) {
    const { text } = await identity.nextMail(email);
    const [code] = /\b[0-9]{6}\b/.exec(text) ?? [];
    if (code === undefined) continue;
    return await browser.post('/api/auth/otp/verify', {
      email,
      code,
      purpose: 'login',
      ...members,
    });
  }
}

test('within 14 days a code brings all back but the credentials', async () => {
  const person = await makePerson(bed, contract);
  const reply = await remove(person);
  assert.equal(reply.status, 202);
  assert.match(String(reply.headers.get('set-cookie')), /^svc_session=;.*Max-Age=0/);
  await moveBack(person.accountId, 13);
  const refused = await signIn(person.email);
  assert.deepEqual([refused.status, detailsOf(refused)], [403, { reason: 'deleting' }]);
  const entered = await signIn(person.email, { restore: true });
  assert.equal(entered.status, 200, entered.text);
  const user = entered.json.user as Members;
  assert.deepEqual([user.id, user.status], [person.accountId, 'active']);
  assert.equal(user.full_name, person.fullName);
  assert.deepEqual(await statusesOf('/v1/models', { 'x-api-key': person.apiKey }), [401]);
  const dead = { 'x-svc-session': person.session.token };
  assert.deepEqual(await statusesOf('/api/me/account', dead), [401]);
});

test('after 14 days nothing personal is left, across kills, and the books are right', async () => {
  const { person, mark } = await liveOn(bed, contract);
  const { accountId } = person;
  await bed.sql`
    INSERT INTO account_passwords (account_id, hash)
    VALUES (${accountId}, ${`hash of ${mark}`})`;
  await bed.sql`
    INSERT INTO generations (id, account_id, wallet_id, route, fingerprint, model, instance_id,
      hold_id, status, finished_at, answer)
    SELECT 'req_old' || i, ${accountId}, ${person.walletId}, '/v1/chat/completions', ${mark}, 'm',
      'i', 'old', 'completed', now(), json_build_object('text', ${mark}::text)
    FROM generate_series(1, 2000) AS s (i)`;
  assert.equal((await signIn(person.email)).status, 200);
  await leaveTraces(accountId, person.email, mark);
  const booksBefore = await bed.sql`
    SELECT count(*)::integer AS entries FROM ledger WHERE wallet_id = ${person.walletId}`;
  const before = await person.balance();
  const blobs = await bed.sql<{ id: string }[]>`
    SELECT blob_id AS id FROM generated_videos WHERE account_id = ${accountId}
    UNION ALL SELECT answer::json ->> 'file' FROM generations
      WHERE account_id = ${accountId} AND route = '/v1/audio/speech'`;
  assert.equal(blobs.length, 2);
  assert.equal((await remove(person)).status, 202);
  await moveBack(accountId, 14);
  const holds: (() => Promise<void>)[] = [];
  for (const table of ['generations', 'generated_videos']) {
    const release = await holdRow(table, accountId);
    // Who was in the middle of it is dead, and the start of another takes over at once.
    await bed.gateway.killMain();
    for (const held of holds.splice(0)) await held();
    await untilBlocked();
    holds.push(release);
  }
  await bed.gateway.killMain();
  assert.equal(await isErased(accountId), false);
  for (const held of holds) await held();
  await until('it is erased', () => isErased(accountId));
  const files = await readdir(join(bed.gateway.dataDir, 'blobs'));
  for (const { id } of blobs) assert.ok(!files.includes(id), id);
  for (const words of [person.email, person.fullName]) {
    assert.deepEqual(await rowsWith(bed.sql, words), {}, words);
  }
  // The trail keeps the label of the key that was made.
  assert.deepEqual(await rowsWith(bed.sql, mark), { audit_events: 1 });
  // Entries of the queue are named by what they are about.
  const queues = new Set(['job', 'event']);
  const found = Object.keys(await rowsWith(bed.sql, accountId)).sort();
  const left = found.filter((table) => !queues.has(table));
  const kept = ['accounts', 'audit_events', 'generations', 'purchases', 'video_jobs'];
  assert.deepEqual(left, [...kept, 'voice_sessions', 'wallets']);
  assert.deepEqual(await person.balance(), before);
  const booksAfter = await bed.sql`
    SELECT count(*)::integer AS entries FROM ledger WHERE wallet_id = ${person.walletId}`;
  assert.deepEqual(booksAfter, booksBefore);
  await bed.sql`DELETE FROM generations WHERE hold_id = 'old'`;
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
