// Voice sessions whose key is revoked, or whose account is disabled, while they run: on any shard.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTicket } from '../../../actors/voice/sealed.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { makeAccess, makeSession } from '../../harness/sign-in.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Refused, VoiceClient } from '../../harness/voice-client.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

async function post(path: string, sessionToken: string, body: unknown): Promise<void> {
  const response = await fetch(bed.url + path, {
    method: 'POST',
    headers: { 'x-svc-session': sessionToken, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.text());
}

async function open(headers: Record<string, string>): Promise<VoiceClient> {
  const client = await VoiceClient.connect(bed.url, { headers });
  await client.ready();
  return client;
}

async function assertEnded(client: VoiceClient): Promise<void> {
  assert.deepEqual(await client.close(), { code: 1011, reason: 'error' });
  const [error] = client.ofType('error');
  assert.deepEqual([error?.code, error?.fatal], ['unauthenticated', true]);
  assert.equal(client.ofType('session.ended')[0]?.renewable, false);
}

test('sessions of a key that is revoked end, those of its user go on', async () => {
  const account = await bed.account();
  const { apiKey, keyId, sessionToken } = account;
  // Wherever the kernel puts them.
  const theirs = await Promise.all([1, 2, 3, 4].map(() => open({ 'x-api-key': apiKey })));
  const user = await open({ 'x-svc-session': sessionToken });
  await post('/api/me/api-keys/revoke', sessionToken, { api_key_id: keyId });
  for (const client of theirs) await assertEnded(client);
  user.send({ type: 'end' });
  assert.deepEqual(await user.close(), { code: 1000, reason: 'client_end' });
  await account.quiet();
});

test('what a session or an app began ends with it, what a key began goes on', async () => {
  const [account, admin] = [await bed.account(), await bed.account({ admin: true })];
  const { accountId, apiKey } = account;
  const kept = await open({ 'x-api-key': apiKey });
  const session = await makeSession(bed.sql, accountId, 'app');
  const { token } = await makeAccess(bed.sql, accountId, ['app']);
  const app = { authorization: `Bearer ${token}` };
  const asked = await fetch(`${bed.url}/v1/voice/tickets`, { method: 'POST', headers: app });
  const { ticket } = (await asked.json()) as { ticket: string };
  const ended = [await open({ 'x-svc-session': session }), await open(app)];
  const byTicket = await VoiceClient.connect(bed.url, { query: `ticket=${ticket}` });
  await byTicket.ready();
  const unused = await fetch(`${bed.url}/v1/voice/tickets`, { method: 'POST', headers: app });
  const late = ((await unused.json()) as { ticket: string }).ticket;
  await post(`/api/admin/users/${accountId}/sign-out`, admin.sessionToken, {});
  for (const client of [...ended, byTicket]) await assertEnded(client);
  const refused = await VoiceClient.connect(bed.url, { query: `ticket=${late}` }).catch(
    (error: unknown) => error,
  );
  assert.ok(refused instanceof Refused && refused.status === 401, 'nor does a ticket of it admit');
  kept.send({ type: 'end' });
  assert.deepEqual(await kept.close(), { code: 1000, reason: 'client_end' });
  await account.quiet();
});

test('sessions of a disabled account end, those of one that is changed go on', async () => {
  const [account, admin] = [await bed.account(), await bed.account({ admin: true })];
  const headers = [{ 'x-api-key': account.apiKey }, { 'x-svc-session': account.sessionToken }];
  const theirs = await Promise.all(headers.map(open));
  const path = `/api/admin/users/${account.accountId}`;
  await post(`${path}/enable`, admin.sessionToken, {});
  assert.deepEqual([theirs[0]?.closed, theirs[1]?.closed], [null, null]);
  await post(`${path}/disable`, admin.sessionToken, {});
  for (const client of theirs) await assertEnded(client);
  await account.quiet();
});

test('a ticket whose key is revoked while it is looked up admits nobody', async () => {
  const { apiKey, keyId, sessionToken } = await bed.account();
  const headers = { 'x-api-key': apiKey };
  const made = await fetch(`${bed.url}/v1/voice/tickets`, { method: 'POST', headers });
  const { ticket } = (await made.json()) as { ticket: string };
  const sealer = createSealer((await readFile(join(bed.gateway.dataDir, 'secret'), 'utf8')).trim());
  const id = openTicket(sealer, ticket, Date.now())?.id ?? '';
  const back = new Error('rolled back');
  const entering: Promise<unknown>[] = [];
  const held = bed.sql.begin(async (transaction) => {
    // Who uses it has read what it is worth, and waits to mark it.
    await transaction`INSERT INTO voice_tickets (id, expires_at) VALUES (${id}, now())`;
    entering.push(VoiceClient.connect(bed.url, { query: `ticket=${ticket}` }).catch((e) => e));
    const isWaiting = async () => {
      const rows = await bed.sql`
        SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND a.query LIKE '%voice_tickets%'`;
      return rows.length > 0;
    };
    while (!(await isWaiting())) await sleep(5);
    await post('/api/me/api-keys/revoke', sessionToken, { api_key_id: keyId });
    throw back;
  });
  await assert.rejects(held, back);
  const outcome = await entering[0];
  assert.ok(outcome instanceof Refused, 'its session would be ended by nobody');
  assert.equal(outcome.status, 401);
});
