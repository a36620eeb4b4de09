// The first administrator as an operator makes it: a program of its own beside the database.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tokenHash } from '../../../actors/credentials/token.ts';
import { changeAccount } from '../../../db/accounts.ts';
import { listAuditEvents } from '../../../db/audit-events.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findSession } from '../../../db/sessions.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startGateway } from '../../harness/gateway.ts';
import { freePort } from '../../harness/port.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general');
});
after(() => database.close());

const program = fileURLToPath(
  new URL('../../../runtime/commands/admin-create.js', import.meta.url),
);

interface Ended {
  code: number;
  output: string;
  account: string;
  token: string;
}

function run(options: string[] = [], databaseUrl = database.url): Promise<Ended> {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: databaseUrl };
  const parameters = [program, ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      const [, account = ''] = /^administrator +(acc_[a-f0-9]{24})$/m.exec(stdout) ?? [];
      const [, token = ''] = /^session token +(\S{43})$/m.exec(stdout) ?? [];
      resolve({ code, output: `${stdout}${stderr}`, account, token });
    });
  });
}

async function disable(accountId: string): Promise<void> {
  const change = { accountId, revision: null, disabled: true };
  const changed = await changeAccount(sql, change, () => ({
    id: newAuditId(0),
    accountId,
    actor: 'test',
    action: 'account.disable',
    subject: `account:${accountId}`,
    details: {},
  }));
  assert.equal(changed.status, 'changed');
}

const sessionOf = (token: string) => findSession(sql, tokenHash(token));

test('of many at once one makes the first administrator, with a session and an event', async () => {
  const ended = await Promise.all([run(), run(), run()]);
  const codes = ended.map(({ code }) => code).sort();
  assert.deepEqual(codes, [0, 1, 1], JSON.stringify(ended));
  for (const { output } of ended.filter(({ code }) => code === 1)) {
    assert.match(output, /^no administrator was made: there is an administrator already.*\n$/);
  }
  const made = ended.find(({ code }) => code === 0);
  assert.ok(made !== undefined);
  const session = await sessionOf(made.token);
  assert.equal(session?.accountId, made.account);
  assert.equal(session.role, 'admin');
  const days = (session.expiresAt.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days <= 30, `${days}`);
  const any = { accountId: null, actor: 'command', action: null, subject: null };
  const { events } = await listAuditEvents(sql, { ...any, from: null, to: null }, 10, null);
  assert.deepEqual(
    events.map(({ action, accountId }) => [action, accountId]),
    [['account.create', made.account]],
  );
  assert.ok(!JSON.stringify(events).includes(made.token));
});

test('another is made when asked for; a disabled administrator does not count', async () => {
  const another = await run(['--another']);
  assert.equal(another.code, 0, another.output);
  const rows = await sql<{ id: string }[]>`SELECT id FROM accounts WHERE role = 'admin'`;
  assert.equal(rows.length, 2);
  // The last enabled one cannot be disabled by changeAccount: the database is asked.
  for (const { id } of rows.slice(1)) await disable(id);
  await sql`UPDATE accounts SET disabled_at = now() WHERE role = 'admin'`;
  const again = await run();
  assert.equal(again.code, 0, again.output);
  assert.equal((await sessionOf(again.token))?.disabled, false);
});

test('a renewal ends the sessions before it, and is refused for anybody else', async () => {
  const { account, token } = await run(['--another']);
  const renewed = await run(['--renew', account]);
  assert.equal(renewed.code, 0, renewed.output);
  assert.equal(renewed.account, account);
  assert.equal(await sessionOf(token), null);
  assert.equal((await sessionOf(renewed.token))?.accountId, account);
  await disable(account);
  for (const unknown of [account, 'acc_nobody']) {
    const refused = await run(['--renew', unknown]);
    assert.equal(refused.code, 1, refused.output);
    assert.match(
      refused.output,
      /^no administrator was made: "acc_\w+" is no account of an [^\n]+\n$/,
    );
  }
});

test('one with an address owns it, and it is given to nobody twice', async () => {
  const { account, output } = await run(['--another', '--email', 'Chief@Example.test']);
  const [row] = await sql`
    SELECT email, email_owned, email_verified_at FROM accounts WHERE id = ${account}`;
  assert.deepEqual(
    { ...row },
    { email: 'chief@example.test', email_owned: true, email_verified_at: null },
    output,
  );
  const cases: [string[], RegExp][] = [
    [['--another', '--email', 'chief@example.test'], /the address belongs to another account/],
    [['--another', '--email', 'nobody'], /"nobody" is no address of mail/],
    [['--renew', account, '--email', 'a@example.test'], /has one already/],
  ];
  const [before] = await sql`SELECT count(*)::int AS count FROM accounts`;
  for (const [options, words] of cases) {
    const refused = await run(options);
    assert.equal(refused.code, 1, refused.output);
    assert.match(refused.output, words);
  }
  const [after] = await sql`SELECT count(*)::int AS count FROM accounts`;
  assert.deepEqual(after, before);
});

test('what keeps it from running is exit 2, with one line', async () => {
  const port = await freePort();
  const cases = [
    await run([], `postgres://u:hunter2@127.0.0.1:${port}/none`),
    await run(['--anothr']),
    await run(['--renew']),
  ];
  for (const { code, output } of cases) {
    assert.equal(code, 2, output);
    assert.match(output, /^no administrator was made: [^\n]+\n$/);
    assert.doesNotMatch(output, /hunter2/);
  }
});

test('a production server says that it has none, takes the first, and starts again', async () => {
  const own = await openTestDatabase();
  const env = { DATABASE_URL: own.url, TOLLGATE_SECRET: randomBytes(32).toString('base64url') };
  const gateway = await startGateway({ env, shards: 1 });
  const hint = /^nobody can administer yet: npm run admin:create$/;
  const hints = () => gateway.logs.filter((line) => hint.test(line)).length;
  try {
    assert.equal(hints(), 1);
    const { token, output } = await run([], own.url);
    const headers = { 'x-svc-session': token };
    const status = () => fetch(`${gateway.url}/api/admin/status`, { headers });
    assert.equal((await status()).status, 200, output);
    assert.equal(await gateway.stop(), 0);
    await gateway.start();
    assert.equal((await status()).status, 200);
    assert.equal(hints(), 1, 'not again');
  } finally {
    await gateway.close();
    await own.close();
  }
});
