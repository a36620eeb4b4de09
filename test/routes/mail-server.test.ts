// Mail of a server that sends it: what is lost between a commit and its job, what a killed process
// leaves, and that no address is in any log, metric or entry of the queue.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMailServices } from '../../actors/mail/open.ts';
import type { MailToWrite } from '../../actors/mail/services.ts';
import { createSealer } from '../../runtime/seal.ts';
import { makeAccount } from '../harness/account.ts';
import { openTestDatabase } from '../harness/database.ts';
import { startGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/port.ts';
import { type SmtpHarness, startSmtp } from '../harness/smtp.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { type AdminApi, openAdminApi } from './admin/admin-api.ts';

// slow: It starts three gateways, and kills one of them.

const masterKey = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';
const mailFrom = 'Tollgäte <gate@tollgate.test>';
let smtp: SmtpHarness;
let bed: Testbed;
let adminApi: AdminApi;
let metricsUrl: string;
before(async () => {
  smtp = await startSmtp();
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  bed = await openTestbed({
    shards: 1,
    env: {
      TOLLGATE_SMTP_URL: smtp.url,
      TOLLGATE_MAIL_FROM: mailFrom,
      TOLLGATE_SECRET: masterKey,
      TOLLGATE_LOG_LEVEL: 'debug',
      TOLLGATE_METRICS_PORT: String(metricsPort),
    },
  });
  adminApi = await openAdminApi(bed);
});
after(async () => {
  await bed?.close();
  await smtp?.close();
});

/** As a command writes it: nobody is told of it. */
async function write(to: string, more: Partial<MailToWrite> = {}): Promise<string> {
  const services = createMailServices({
    config: { smtpUrl: smtp.url, mode: 'dev' },
    sealer: createSealer(masterKey),
    node: 0,
    send: () => undefined,
  });
  const code = { template: 'code', purpose: 'sign_in', code: '593147', minutes: 10 } as const;
  const mail = { to, accountId: null, expiresAt: null, mail: code, ...more };
  return await bed.sql.begin((transaction) => services.write(transaction, mail));
}

async function stateOf(id: string): Promise<string> {
  const [row] = await bed.sql<{ state: string }[]>`SELECT state FROM mails WHERE id = ${id}`;
  return row?.state ?? 'none';
}

async function becomes(id: string, state: string): Promise<void> {
  while ((await stateOf(id)) !== state) await sleep(20);
}

test('a test mail leaves by the server, and there is no mailbox then', async () => {
  assert.equal(bed.dev.mailbox_url, null);
  for (const path of ['', '/messages', '/page.js']) {
    assert.equal((await fetch(`${bed.url}/dev/mailbox${path}`)).status, 404);
  }
  const reply = await adminApi('POST', '/mail/test', { body: { to: 'hanna@example.com' } });
  assert.equal(reply.status, 202, reply.text);
  const [mail] = await smtp.receivedFor('hanna@example.com');
  assert.deepEqual(mail?.parsed.from, { name: 'Tollgäte', address: 'gate@tollgate.test' });
  assert.equal(mail?.parsed.messageId, `<${reply.json.mail_id}@tollgate.test>`);
  await becomes(reply.json.mail_id as string, 'sent');
});

test('a mail whose job was lost is sent within half a minute', async () => {
  const before = performance.now();
  await write('ida@example.com');
  await smtp.receivedFor('ida@example.com');
  assert.ok(performance.now() - before < 30_000);
});

test('killed between the acceptance and the row, it sends the mail again as the same', async () => {
  const id = await write('hold+jan@example.com');
  await smtp.receivedFor('hold+jan@example.com');
  await bed.gateway.killMain();
  const before = performance.now();
  const copies = await smtp.receivedFor('hold+jan@example.com', 2);
  assert.ok(performance.now() - before < 15_000, 'it waits for no lease of the one before');
  smtp.letGo();
  await becomes(id, 'sent');
  assert.deepEqual([...new Set(copies.map(({ parsed }) => parsed.messageId))].length, 1);
  await sleep(200);
  assert.equal((await smtp.receivedFor('hold+jan@example.com', 2)).length, 2);
});

test('a refusal is told to administrators, without the words of the server', async () => {
  const id = await write('refuse+karl@example.com');
  await becomes(id, 'failed');
  const { json } = await adminApi('GET', '/mail');
  const { counts, last_error } = json.mail as Record<string, Record<string, unknown>>;
  assert.equal(counts?.failed, 1);
  assert.equal(last_error?.message, 'The mail server refused the mail (550 5.1.1).');
  const text = JSON.stringify(json);
  assert.doesNotMatch(text, /karl|Nobody/);
});

test('no address and no code is in a log, a metric, a row or an entry of the queue', async () => {
  const id = await write('defer+lotte@example.com', { expiresAt: new Date(Date.now() + 600_000) });
  while (!bed.gateway.logs.some((line) => line.includes('a mail has to wait'))) await sleep(20);
  const reply = await fetch(metricsUrl);
  const metrics = await reply.text();
  assert.match(metrics, /^tollgate_mails_total\{state="failed"\} 1$/m);
  assert.match(metrics, /^tollgate_mail_attempts_total\{outcome="sent"\} \d+$/m);
  assert.match(metrics, /^tollgate_mails_queued \d+$/m);
  const tables = await bed.sql<{ name: string }[]>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema IN ('public', 'bullmq')`;
  assert.ok(tables.some(({ name }) => name.startsWith('bullmq.')));
  const rows = await Promise.all(
    tables.map(({ name }) => bed.sql.unsafe(`SELECT t::text AS text FROM ${name} t`)),
  );
  const dump = JSON.stringify(rows);
  assert.match(dump, new RegExp(id));
  const logs = bed.gateway.logs.join('\n');
  for (const text of [dump, logs, metrics]) {
    assert.doesNotMatch(text, /593147|hanna|jan@|karl|lotte|example\.com/);
  }
});

test('in production without a server nothing is sent, and the start says so', async () => {
  const database = await openTestDatabase();
  const env = { DATABASE_URL: database.url, TOLLGATE_MODE: 'production' };
  const gateway = await startGateway({ shards: 1, env });
  try {
    assert.match(gateway.logs.join('\n'), /nobody can sign in by a code: TOLLGATE_SMTP_URL/);
    const sql = database.pool('general', 1);
    const wallet = bed.wallet;
    const services = { baseUrl: gateway.url, sql, wallet };
    const admin = await makeAccount(services, { admin: true, micros: 0n });
    const headers = {
      'x-svc-session': admin.sessionToken,
      'content-type': 'application/json',
    };
    const tested = await fetch(`${gateway.url}/api/admin/mail/test`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ to: 'mia@example.com' }),
    });
    assert.equal(tested.status, 503);
    const error = ((await tested.json()) as { error: { code: string } }).error;
    assert.equal(error.code, 'dependency_unavailable');
    const state = await fetch(`${gateway.url}/api/admin/mail`, { headers });
    assert.match(await state.text(), /"configured":false/);
    assert.equal((await fetch(`${gateway.url}/dev/mailbox/messages`)).status, 404);
    assert.deepEqual([...(await sql`SELECT 1 FROM mails`)], []);
  } finally {
    await gateway.close();
    await database.close();
  }
});
