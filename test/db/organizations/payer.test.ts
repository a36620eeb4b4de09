// Who pays for members' keys when billing is centralized or is not any more. A key with a limit
// keeps what it settled and holds of the wallet that it leaves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { createAccount } from '../../../db/accounts.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findKey } from '../../../db/keys.ts';
import { lockPayer, movePayer } from '../../../db/organizations/payer.ts';
import { setSpendLimit } from '../../../db/spend/limit.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import {
  addKey,
  addMember,
  makeOrganization,
  type TestOrganization,
} from '../../harness/organization.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let database: TestDatabase;
let sql: Sql;
let person: { accountId: string; walletId: string };
let organization: TestOrganization;
let memberId: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
  person = { accountId: newId('acc', 0), walletId: newId('wal', 0) };
  await createAccount(sql, { id: person.accountId, role: 'user' });
  await createWallet(sql, { id: person.walletId, accountId: person.accountId, type: 'personal' });
  organization = await makeOrganization(sql, person.accountId);
  memberId = await addMember(sql, organization, person.accountId, 'owner');
});
after(() => database?.close());

function centralize(isCentral: boolean): Promise<string[]> {
  const settings = JSON.stringify({ centralized_billing: isCentral });
  return sql.begin(async (transaction) => {
    await transaction`UPDATE organizations SET settings = ${settings}::text::jsonb
      WHERE id = ${organization.id}`;
    return movePayer(transaction, organization.id);
  }) as Promise<string[]>;
}

const walletOfKey = async (id: string) => (await findKey(sql, memberId, id))?.walletId;
const spentOf = async (id: string) => (await findKey(sql, memberId, id))?.spent;

test('keys of members follow the setting, other keys do not', async () => {
  const member = await addKey(sql, { accountId: memberId, walletId: organization.walletId });
  const own = await addKey(sql, organization);
  const personal = await addKey(sql, person);
  assert.deepEqual(await centralize(true), [], 'they are where they belong');
  assert.deepEqual(await centralize(false), [member.id]);
  assert.equal(await walletOfKey(member.id), person.walletId);
  const rows = await sql<{ id: string; wallet_id: string }[]>`
    SELECT id, wallet_id FROM api_keys WHERE id IN (${own.id}, ${personal.id})`;
  const wallets = new Map(rows.map((row) => [row.id, row.wallet_id]));
  assert.equal(wallets.get(own.id), organization.walletId);
  assert.equal(wallets.get(personal.id), person.walletId);
  const payer = (accountId: string) =>
    sql.begin((transaction) => lockPayer(transaction, accountId));
  assert.equal(await payer(memberId), person.walletId);
  assert.equal(await payer(person.accountId), null);
  assert.deepEqual(await centralize(true), [member.id]);
  assert.equal(await payer(memberId), organization.walletId);
});

test('the count of a limited key moves with it, and back again', async () => {
  await centralize(true);
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log });
  for (const walletId of [organization.walletId, person.walletId]) {
    const operationId = `payer.${walletId}`;
    const grant = { operationId, kind: 'promotion', note: 'test', expiresAtMs: null } as const;
    await wallet(walletId, 'grant', { ...grant, amountMicros: 1_000_000n });
  }
  const key = await addKey(sql, { accountId: memberId, walletId: organization.walletId });
  await sql.begin(async (transaction) => {
    const found = await findKey(transaction, memberId, key.id);
    assert.ok(found !== null);
    await setSpendLimit(transaction, found, { amountMicros: 5_000n, period: 'month' }, Date.now());
  });
  // What it settled stands with its rows, as requests that are over.
  const charge = async (walletId: string, micros: bigint) => {
    const id = newId('req', 0);
    await sql`INSERT INTO generations (id, account_id, wallet_id, api_key_id, route, fingerprint,
        model, instance_id, hold_id, status, charge_micros, finished_at)
      VALUES (${id}, ${memberId}, ${walletId}, ${key.id}, '/v1/chat/completions', '', 'm', 'i',
        ${newId('hold', 0)}, 'completed', ${micros.toString()}::bigint, now())`;
    await sql`UPDATE spend SET spent_micros = spent_micros + ${micros.toString()}::bigint
      WHERE spender = ${key.id} AND wallet_id = ${walletId} AND ends_at > now()
        AND starts_at <= now()`;
    if (walletId !== organization.walletId) return;
    // The wallet of an organization counts the account as well.
    await sql`INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at, spent_micros,
        held_micros)
      VALUES (${walletId}, ${memberId}, 'month', date_trunc('month', now(), 'UTC'),
        date_trunc('month', now(), 'UTC') + interval '1 month', ${micros.toString()}::bigint, 0)
      ON CONFLICT (wallet_id, spender, period, starts_at) DO UPDATE
        SET spent_micros = spend.spent_micros + excluded.spent_micros`;
  };
  await charge(organization.walletId, 700n);
  assert.equal((await spentOf(key.id))?.spentMicros, 700n);
  const versionOf = async (id: string) =>
    (await sql<{ version: bigint }[]>`SELECT version FROM wallets WHERE id = ${id}`)[0]?.version;
  const versions = [await versionOf(organization.walletId), await versionOf(person.walletId)];
  assert.deepEqual(await centralize(false), [key.id, ...(await movedBefore(key.id))].sort());
  assert.equal(await walletOfKey(key.id), person.walletId);
  assert.equal((await spentOf(key.id))?.spentMicros, 700n, 'what was settled elsewhere counts');
  assert.notEqual(await versionOf(organization.walletId), versions[0], 'both are fenced');
  assert.notEqual(await versionOf(person.walletId), versions[1]);
  await charge(person.walletId, 300n);
  assert.equal((await spentOf(key.id))?.spentMicros, 1_000n);
  await centralize(true);
  assert.equal((await spentOf(key.id))?.spentMicros, 1_000n, 'nothing is counted twice');
  const [row] = await sql<{ brought_micros: bigint; count: bigint }[]>`
    SELECT max(brought_micros) AS brought_micros, count(DISTINCT wallet_id) AS count
    FROM spend WHERE spender = ${key.id}`;
  assert.equal(row?.brought_micros, 300n);
  assert.equal(row.count, 1n, 'it counts on one wallet');
  const findings = await auditLedger(sql);
  const rule = findings.find((each) => each.rule.startsWith('what a spender has spent'));
  assert.deepEqual(rule?.examples, []);
  assert.ok(rule.checked > 0n);
});

/** Keys of the member but this one. */
async function movedBefore(id: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE account_id = ${memberId} AND id <> ${id}`;
  return rows.map((row) => row.id);
}
