// A copy of a person's data: all that real calls have made is in it, nothing of others, no secret.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokenHash } from '../../../actors/credentials/token.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { readZip } from '../../harness/zip.ts';
import { type Life, liveOn } from './life.ts';
import { makePerson, newSession, type TestPerson } from './person.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VIDEO_HASTE: '40' } });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

type Members = Record<string, unknown>;
type Files = Record<string, Record<string, Members[]>>;

const ask = (person: TestPerson, session?: string) =>
  person.call('POST', '/api/me/account/export', undefined, session);

async function ready(person: TestPerson): Promise<Members> {
  const asked = await ask(person);
  assert.equal(asked.status, 202, asked.text);
  const { id } = asked.json.export as Members;
  for (const deadline = Date.now() + 30_000; ; await sleep(30)) {
    const reply = await person.call('GET', `/api/me/account/exports/${id}`);
    const found = reply.json.export as Members;
    if (found.status === 'ready') return found;
    assert.ok(found.status !== 'failed' && Date.now() < deadline, reply.text);
  }
}

function archive(person: TestPerson, id: unknown, headers: Record<string, string> = {}) {
  return fetch(`${bed.url}/api/me/account/exports/${id}/archive`, {
    headers: { 'x-svc-session': person.session.token, ...headers },
  });
}

async function unpacked(person: TestPerson, id: unknown): Promise<{ text: string; files: Files }> {
  const reply = await archive(person, id);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/zip');
  const zip = readZip(Buffer.from(await reply.arrayBuffer()));
  const entries = [...zip].map(([name, bytes]) => [name, JSON.parse(bytes.toString())]);
  const text = [...zip.values()].map(String).join('\n');
  return { text, files: Object.fromEntries(entries) as Files };
}

const only = (files: Files, file: string, list = file): Members[] => {
  const rows = files[`${file}.json`]?.[list];
  assert.ok(rows !== undefined, `${file}.json has no ${list}`);
  return rows;
};

function byId(rows: Members[], id: unknown, member = 'id'): Members {
  const found = rows.find((row) => row[member] === id);
  assert.ok(found !== undefined, `${id} is missing`);
  return found;
}

/** What the database alone knows of the account, and nobody may be told. */
async function secretsOf({ person, secrets }: Life): Promise<string[]> {
  const rows = await bed.sql<{ secret: string }[]>`
    SELECT encode(token_hash, 'hex') AS secret FROM sessions WHERE account_id = ${person.accountId}
    UNION ALL SELECT encode(token_hash, 'hex') FROM api_keys WHERE account_id = ${person.accountId}
    UNION ALL SELECT blob_id FROM generated_videos WHERE account_id = ${person.accountId}
    UNION ALL SELECT upstream_id FROM video_jobs WHERE account_id = ${person.accountId}
    UNION ALL SELECT hash FROM account_passwords WHERE account_id = ${person.accountId}`;
  const hashes = secrets.map((token) => tokenHash(token));
  return [
    ...secrets,
    ...rows.map(({ secret }) => secret),
    ...hashes.flatMap((hash) => [hash.toString('base64'), hash.toString('base64url')]),
  ];
}

test('an export has all that real calls made, no secret, and nothing of others', async () => {
  const [life, other] = [await liveOn(bed, contract), await makePerson(bed, contract)];
  const { person, mark, made } = life;
  await bed.sql`
    INSERT INTO account_passwords (account_id, hash)
    VALUES (${person.accountId}, '$argon2id$canary-of-a-password')`;
  const found = await ready(person);
  const { text, files } = await unpacked(person, found.id);

  const [account] = only(files, 'account', 'accounts');
  assert.deepEqual([account?.email, account?.full_name], [person.email, person.fullName]);
  assert.ok(account?.password_changed_at !== null);
  assert.equal(byId(only(files, 'sessions'), person.session.id).user_agent, 'test');
  const labels = only(files, 'api_keys').map(({ label }) => label);
  assert.deepEqual(labels.sort(), [made.keyLabel, 'test'].sort());
  const chat = byId(only(files, 'generations'), made.chatId);
  assert.ok(JSON.stringify(chat.answer).includes(`answer ${mark}`), 'its answer');
  assert.equal(chat.idempotency_key, `chat-${mark}`);
  assert.ok(Number(chat.charge_micros) > 0);
  byId(only(files, 'generations'), made.speechId);
  const generationId = made.responseId.replace(/^resp/, 'req');
  const response = byId(only(files, 'responses'), generationId, 'generation_id');
  assert.equal(response.instructions, mark);
  assert.ok(JSON.stringify(response.input).includes(mark));
  byId(only(files, 'conversations'), `talk-${mark}`, 'conversation_id');
  assert.equal(only(files, 'voice_sessions').length, 1);
  assert.equal(byId(only(files, 'video_jobs'), made.videoJobId).prompt, `a boat ${mark}`);
  assert.equal(byId(only(files, 'generated_videos'), made.videoId).sha256, made.videoSha256);
  const analysed = byId(only(files, 'video_analyses'), made.analysisId);
  assert.equal(analysed.prompt, `what is ${mark}`);
  assert.ok(analysed.result !== null);
  byId(only(files, 'wallets'), person.walletId);
  assert.equal(only(files, 'wallets', 'grants').length, 1);
  assert.equal(
    byId(only(files, 'wallets', 'purchases'), `pur-${person.accountId}`).price_cents,
    100,
  );
  const actions = only(files, 'audit', 'events').map(({ action, by }) => `${action} ${by}`);
  assert.ok(actions.includes('key.create you') && actions.includes('account.export you'));

  for (const secret of await secretsOf(life)) assert.ok(!text.includes(secret), secret);
  assert.ok(!text.includes(other.accountId) && !text.includes(other.email));
  assert.doesNotMatch(text, /token_hash|sealed|fingerprint|provider|upstream|instance_id/);
});

test('an archive is served whole and in part, to its owner alone', async () => {
  const [person, other] = [await makePerson(bed, contract), await makePerson(bed, contract)];
  const found = await ready(person);
  const whole = Buffer.from(await (await archive(person, found.id)).arrayBuffer());
  assert.equal(whole.length, found.size_bytes);
  const part = await archive(person, found.id, { range: 'bytes=10-19' });
  assert.equal(part.status, 206);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), whole.subarray(10, 20));
  assert.equal((await archive(other, found.id)).status, 404);
  assert.equal((await other.call('GET', `/api/me/account/exports/${found.id}`)).status, 404);
  const lifetime = Date.parse(String(found.expires_at)) - Date.parse(String(found.ready_at));
  assert.equal(lifetime, 7 * 86_400_000);
  await bed.sql`
    UPDATE account_exports SET expires_at = now() - interval '1 s' WHERE id = ${String(found.id)}`;
  assert.equal((await archive(person, found.id)).status, 404);
  assert.equal((await person.call('GET', `/api/me/account/exports/${found.id}`)).status, 404);
});

test('an export wants a fresh sign-in, and there is one a day', async () => {
  const person = await makePerson(bed, contract);
  const old = await newSession(bed, person.accountId, { ageMs: 10 * 60_000 + 1_000 });
  const stale = await ask(person, old.token);
  assert.equal(stale.status, 403);
  assert.deepEqual((stale.json.error as Members).details, { reason: 'reauthenticate' });
  const replies = await Promise.all([ask(person), ask(person), ask(person)]);
  assert.deepEqual(replies.map(({ status }) => status).sort(), [202, 429, 429]);
  const late = await ask(person);
  const seconds = Number(late.headers.get('retry-after'));
  assert.ok(seconds > 86_000 && seconds <= 86_400, `${seconds}`);
  await bed.sql`
    UPDATE account_exports SET created_at = created_at - interval '1 day'
    WHERE account_id = ${person.accountId}`;
  assert.equal((await ask(person)).status, 202);
});

test('one that failed may be asked for again, and one that waits has no archive', async () => {
  const person = await makePerson(bed, contract);
  const id = 'exp_00000000000000000000aaaa';
  await bed.sql`
    INSERT INTO account_exports (id, account_id, expires_at, lease_until)
    VALUES (${id}, ${person.accountId}, now() + interval '1 day', now() + interval '1 day')`;
  const refused = await person.call('GET', `/api/me/account/exports/${id}/archive`);
  assert.equal(refused.status, 409);
  assert.equal((refused.json.error as Members).code, 'invalid_state');
  await bed.sql`UPDATE account_exports SET status = 'failed' WHERE id = ${id}`;
  assert.equal((await ask(person)).status, 202);
});
