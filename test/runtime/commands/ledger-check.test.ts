// The ledger check as it is run: a program of its own beside whoever uses the database.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { auditLedger } from '../../../db/audit.ts';
import {
  auditEvent,
  type Bank,
  type Branch,
  claimingHold,
  holdOf,
  openBank,
  promotion,
  purchase,
} from '../../actors/wallet/bank.ts';
import { freePort } from '../../harness/port.ts';

let bank: Bank;
let branch: Branch;
let walletId: string;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(1_000n));
});
after(() => bank.close());

const program = fileURLToPath(
  new URL('../../../runtime/commands/ledger-check.js', import.meta.url),
);

function check(databaseUrl: string): Promise<{ code: number; output: string }> {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: databaseUrl };
  return new Promise((resolve) => {
    execFile(process.execPath, [program], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}

test('each finding is told as soon as it is known', async () => {
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  const told: number[] = [];
  const findings = await auditLedger(bank.sql, (finding) => {
    assert.equal(finding.broken, 0n);
    told.push(turns);
  });
  clearInterval(turning);
  assert.equal(told.length, findings.length);
  assert.ok(new Set(told).size > 1, 'not all of them at the end');
});

test('who reads no further ends nothing', async () => {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: bank.database.url };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  const [code] = await once(child, 'close');
  assert.deepEqual([code, said], [0, '']);
});

/** Does something wrong, checks, and takes it back. */
async function withFault(wrong: string, right: string): Promise<{ code: number; output: string }> {
  await bank.sql.unsafe(wrong);
  const result = await check(bank.database.url);
  await bank.sql.unsafe(right);
  return result;
}

test('right books under load are right, exit 0', async () => {
  let running = true;
  const load = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (running) {
        const hold = claimingHold(10n, null);
        await branch.ask(walletId, 'hold', hold);
        const { holdId } = hold;
        await branch.ask(walletId, 'release', { holdId, reason: 'failed', finish: null });
      }
    }),
  );
  const { code, output } = await check(bank.database.url);
  running = false;
  await load;
  assert.equal(code, 0, output);
  assert.match(output, /the sum over all accounts is zero +\d+ +right/);
});

test('every kind of wrong books is found with its difference, exit 1', async () => {
  const hold = holdOf(70n);
  await branch.ask(walletId, 'hold', hold);
  const where = `WHERE wallet_id = '${walletId}'`;
  const grants = await withFault(
    `UPDATE grants SET remaining_micros = remaining_micros - 5 ${where}`,
    `UPDATE grants SET remaining_micros = remaining_micros + 5 ${where}`,
  );
  assert.equal(grants.code, 1);
  assert.match(grants.output, /available 930, grants have free 925/);
  const balance = await withFault(
    `UPDATE wallets SET wallet_micros = wallet_micros + 3, revenue_micros = revenue_micros - 3
      WHERE id = '${walletId}'`,
    `UPDATE wallets SET wallet_micros = wallet_micros - 3, revenue_micros = revenue_micros + 3
      WHERE id = '${walletId}'`,
  );
  assert.equal(balance.code, 1);
  assert.match(balance.output, /wallet_micros: balance 933, journal 930/);
  const orphan = await withFault(
    `UPDATE holds SET expires_at = now() - interval '61 seconds' ${where}`,
    `UPDATE holds SET expires_at = now() + interval '61 seconds' ${where}`,
  );
  assert.equal(orphan.code, 1);
  assert.match(orphan.output, new RegExp(`${hold.holdId} of ${walletId}: expired`));
  const held = await withFault(
    `UPDATE holds SET amount_micros = amount_micros + 1 ${where}`,
    `UPDATE holds SET amount_micros = amount_micros - 1 ${where}`,
  );
  assert.match(held.output, /held 70, holds 71/);
  assert.equal((await check(bank.database.url)).code, 0, 'and all was taken back');
});

test('a charge that the journal does not have, and a settlement too many, are found', async () => {
  const hold = claimingHold(20n, null);
  await branch.ask(walletId, 'hold', hold);
  const { holdId } = hold;
  const settle = { holdId, chargeMicros: 11n, providerCostMicros: 10n, finish: null };
  await branch.ask(walletId, 'settle', settle);
  const { id } = hold.owner;
  const charge = await withFault(
    `UPDATE generations SET charge_micros = 12 WHERE id = '${id}'`,
    `UPDATE generations SET charge_micros = 11 WHERE id = '${id}'`,
  );
  assert.match(charge.output, /charged 12, journal 11/);
  await bank.sql`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
      revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros)
    VALUES (${`${holdId}.late`}, ${walletId}, 'late', 0, 0, 0, 0, 0, 0, 0)`;
  const twice = await check(bank.database.url);
  assert.equal(twice.code, 1);
  assert.match(twice.output, new RegExp(`${holdId}: settled 2 times`));
});

test('what was taken back and is not what was told is found', async () => {
  const given = await branch.ask(walletId, 'grant', promotion(90n));
  assert.equal(given.status, 'granted');
  const { grantId } = given;
  const event = { ...auditEvent(), action: 'wallet.revoke', subject: `wallet:${walletId}` };
  const operationId = `${grantId}.revoke`;
  await branch.ask(walletId, 'revoke', { grantId, event: { ...event, operationId } });
  const other = auditEvent();
  await bank.sql`INSERT INTO audit_events (id, actor, action, subject, details, operation_id)
    VALUES (${other.id}, 'a', 'wallet.debit', 'wallet', '{"amount_microcredits": "7"}', 'gone')`;
  await bank.sql`UPDATE grants SET remaining_micros = 4, spent = false WHERE id = ${grantId}`;
  const { code, output } = await check(bank.database.url);
  assert.equal(code, 1);
  assert.match(output, /gone: event of 7, journal nothing/);
  assert.match(output, new RegExp(`${grantId}: free 4`));
  await bank.sql`DELETE FROM audit_events WHERE id = ${other.id}`;
  await bank.sql`UPDATE grants SET remaining_micros = 0, spent = true WHERE id = ${grantId}`;
  assert.doesNotMatch((await check(bank.database.url)).output, /taken back[^\n]*wrong|free 4/);
});

test('a database that does not answer is exit 2, with one line that says where', async () => {
  const port = await freePort();
  const cases = [
    // A name with two addresses: the errors of both are in one that has no words.
    [`postgres://nobody@localhost:${port}/none`, `localhost:${port}: nobody listens there`],
    ['postgres://nobody@/none?host=/nonexistent', '/nonexistent/.s.PGSQL.5432: nobody listens'],
  ] as const;
  for (const [url, expected] of cases) {
    const { code, output } = await check(url);
    assert.equal(code, 2);
    assert.ok(output.startsWith(`the ledger cannot be checked: ${expected}`), output);
    assert.match(output, /^[^\n]+\n$/);
  }
});
