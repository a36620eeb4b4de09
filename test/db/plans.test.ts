// How the server runs the statements of the ledger, whose plans are made once: every row is looked
// up by its key, whatever the tables looked like when the plan was made. A plan for all but empty
// tables that reads an index from end to end would go on to when they are large.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noLegs } from '../../actors/wallet/funds.ts';
import { createAccount } from '../../db/accounts.ts';
import { findClaimHolders } from '../../db/claims.ts';
import type { Queryable, Sql } from '../../db/driver/sql.ts';
import { holderRows } from '../../db/ledger/holders.ts';
import type { WalletWrite } from '../../db/ledger/write.ts';
import { addSpenders } from '../../db/spend/holds.ts';
import { checkpointSessions } from '../../db/voice/sessions.ts';
import {
  createWallet,
  findEntries,
  findUsedOperations,
  type HoldRow,
  loadWallets,
} from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { ledger } from '../harness/ledger.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('ledger', 1);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
  for (const id of ['wal_a', 'wal_b']) {
    await createWallet(sql, { id, accountId: 'acc_a', type: 'personal' });
  }
  await sql.begin(async (transaction) => {
    await createWallet(transaction, { id: 'wal_o', accountId: 'acc_a', type: 'organization' });
    await transaction.unsafe(`INSERT INTO accounts (id, role, kind, organization_id)
      VALUES ('acc_o', 'user', 'organization', 100000)`);
    await transaction.unsafe(`INSERT INTO organizations
        (id, account_id, wallet_id, name, seat_limit)
      VALUES (100000, 'acc_o', 'wal_o', 'Example', 5000)`);
  });
});
after(() => database.close());

const usage = {
  inputSpeechTokens: 1,
  inputTextTokens: 1,
  outputSpeechTokens: 1,
  outputTextTokens: 1,
  searchCalls: 0,
};

function holdRow(id: string): HoldRow {
  return {
    id,
    amountMicros: 0n,
    legs: [],
    ownerKind: 'generation',
    ownerId: id,
    instanceId: 'i',
    claimed: true,
    attempt: 0n,
    step: 0,
    stepMicros: 0n,
    expiresAtMs: 0,
    expired: false,
  };
}

const noCounters = { caps: [], spend: [], spenders: new Map(), readFromMs: 0 };
const counter = { spender: 'key_a', period: 'total', startsMs: 0 };

/** A write with a row of every part. */
function writeOf(walletId: string): WalletWrite {
  const grant = { id: 'grant_a', remainingMicros: 1n, heldMicros: 0n, expired: false };
  const grantRow = { ...grant, operationId: 'o', kind: 'purchase' as const, note: '' };
  const changedGrant = { ...grantRow, amountMicros: 1n, expiresAtMs: null, createdAtMs: 0 };
  const finish = { id: 'req_a', status: 'completed' as const, answerJson: null, usageJson: null };
  const finished = { ...finish, problemJson: null, chargeMicros: 0n, late: false };
  const owner = { accountId: 'acc_a', apiKeyId: null, instanceId: 'i', holdId: 'hold_a' };
  const claim = { ...owner, route: 'r', idempotencyKey: 'k', fingerprint: 'f', model: 'm' };
  const event = {
    id: 'aud_a',
    accountId: 'acc_a',
    actor: 'a',
    action: 'a',
    subject: 's',
    details: {},
  };
  const end = { reason: 'client_end', source: 'reported' as const, usage, chargeMicros: 0n };
  return {
    walletId,
    version: 0n,
    nextVersion: 1n,
    balances: noLegs(),
    entries: [{ operationId: 'op_a', kind: 'hold', reason: null, legs: noLegs() }],
    newHolds: [holdRow('hold_a')],
    changedHolds: [holdRow('hold_b')],
    endedHolds: ['hold_c'],
    newGrants: [changedGrant],
    changedGrants: [changedGrant],
    owned: {
      claims: [{ ...claim, id: 'req_b' }],
      finishes: [
        { ...finished, routingJson: null },
        { ...finished, routingJson: '{}' },
      ],
      freed_keys: [{ generationId: 'req_c', old: false }],
      audit_rows: [event],
      purchases: [{ id: 'pur_a', isCredited: true, reversedMicros: 0n, debtMicros: 0n }],
      purchase_steps: [{ purchaseId: 'pur_a', step: 1 }],
      session_claims: [{ ...owner, id: 'voice_a', model: 'm', voiceId: 'v' }],
      session_dues: [{ id: 'voice_c', usage, dueMicros: 0n, dueProviderMicros: 0n }],
      session_finishes: [{ ...end, id: 'voice_b', late: false }],
      counters: [{ ...counter, endsMs: null, spentMicros: 0n, heldMicros: 0n }],
    },
  };
}

/** A write with more rows than one of a part. */
function longWriteOf(walletId: string): WalletWrite {
  const write = writeOf(walletId);
  return { ...write, newHolds: [...write.newHolds, holdRow('hold_d')] };
}

const statements: Record<string, (to: Queryable) => Promise<unknown>> = {
  'a row of each part': (to) => ledger.applyWrites(to, [writeOf('wal_a')]),
  'rows of one wallet': (to) => ledger.applyWrites(to, [longWriteOf('wal_a')]),
  'a write of many': (to) => ledger.applyWrites(to, [writeOf('wal_a'), writeOf('wal_b')]),
  'a load': (to) => loadWallets(to, ['wal_a']),
  'keys of holds': (to) =>
    addSpenders(to, holderRows, new Map([['wal_a', { counters: noCounters }]])),
  'a look into the journal': (to) => findEntries(to, 'wal_a', ['op_a']),
  'uses of an operation id': (to) => findUsedOperations(to, ['op_a']),
  'holders of keys': (to) =>
    findClaimHolders(to, [{ accountId: 'acc_a', route: 'r', idempotencyKey: 'k' }], 0),
  checkpoints: (to) =>
    checkpointSessions(to, [{ id: 'voice_a', usage, dueMicros: 0n, dueProviderMicros: 0n }]),
};

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/** The plan that a connection of the ledger makes now. */
async function planOf(run: (to: Queryable) => Promise<unknown>): Promise<PlanNode> {
  let text = '';
  let count = 0;
  const listening = {
    unsafe(asked: string, parameters: unknown[]) {
      text = asked;
      count = parameters.length;
      return Promise.resolve([]);
    },
  };
  await run(listening as unknown as Queryable);
  await sql.unsafe(`PREPARE looked AS ${text}`);
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  const [row] = await sql.unsafe(`EXPLAIN (FORMAT JSON) EXECUTE looked(${nulls})`);
  await sql.unsafe('DEALLOCATE looked');
  const explained = row?.['QUERY PLAN'] as [{ Plan: PlanNode }] | undefined;
  assert.ok(explained !== undefined);
  return explained[0].Plan;
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

async function assertLookedUp(state: string): Promise<void> {
  for (const [name, run] of Object.entries(statements)) {
    let found = 0;
    for (const node of nodesOf(await planOf(run))) {
      const type = node['Node Type'];
      const table = node['Relation Name'];
      const what = `${name}, ${state}: ${type} of ${table} by ${node['Index Cond']}`;
      assert.doesNotMatch(type, /Bitmap|Hash Join|Merge Join|Seq Scan/, what);
      if (!/Index.*Scan/.test(type)) continue;
      found += 1;
      const condition = node['Index Cond'] ?? '';
      const isHoldsOfWallet = table === 'holds' && /^(a load|keys of holds)$/.test(name);
      const keys = table === 'holds' && !isHoldsOfWallet ? [/wallet_id =/, /\bid =/] : [/=/];
      for (const key of keys) assert.match(condition, key, what);
    }
    assert.ok(found > 0, name);
  }
}

/** Rows of another wallet that is busy. */
async function grow(from: number, to: number): Promise<void> {
  const series = `generate_series(${from}, ${to}) n`;
  await sql.unsafe(`INSERT INTO holds (wallet_id, id, amount_micros, legs, owner_kind, owner_id,
      instance_id, claimed, expires_at)
    SELECT 'wal_c', 'hold_' || n, 0, '[]', 'generation', 'req_' || n, 'i', true, now()
    FROM ${series}`);
  await sql.unsafe(`INSERT INTO generations (id, account_id, wallet_id, route, idempotency_key,
      fingerprint, model, instance_id, hold_id)
    SELECT 'req_' || n, 'acc_a', 'wal_c', 'r', 'key_' || n, 'f', 'm', 'i', 'hold_' || n
    FROM ${series}`);
  await sql.unsafe(`INSERT INTO purchases (id, account_id, wallet_id, package_id, status,
      credits_micros, price_cents, currency, debt_micros)
    SELECT 'pur_' || n, 'acc_a', 'wal_b', 'small', 'completed', 1, 1, 'usd', n % 2
    FROM ${series}`);
  await sql.unsafe(`INSERT INTO purchase_steps (purchase_id, step, wallet_id, micros, reason)
    SELECT 'pur_' || n, 1, 'wal_b', 1, 'refund' FROM ${series}`);
  await sql.unsafe(`INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at,
      spent_micros, held_micros)
    SELECT 'wal_c', 'key_' || n, 'total', to_timestamp(0), 'infinity', 0, 0 FROM ${series}`);
  await sql.unsafe(`INSERT INTO accounts (id, role) SELECT 'acc_' || n, 'user' FROM ${series}`);
  await sql.unsafe(`INSERT INTO accounts (id, role, kind, person_id, organization_id)
    SELECT 'acc_member_' || n, 'user', 'member', 'acc_' || n, 100000 FROM ${series}`);
  await sql.unsafe(`INSERT INTO organization_members (organization_id, user_id, account_id, role)
    SELECT 100000, 'acc_' || n, 'acc_member_' || n, 'member' FROM ${series}`);
  await sql.unsafe(`INSERT INTO voice_sessions (id, account_id, wallet_id, model, voice_id,
      instance_id, hold_id)
    SELECT 'voice_' || n, 'acc_a', 'wal_c', 'm', 'v', 'i', 'hold_' || n FROM ${series}`);
  await sql.unsafe(`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
      revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros)
    SELECT 'op_' || n, 'wal_c', 'hold', 0, 0, 0, 0, 0, 0, 0 FROM ${series}`);
}

test('every row is looked up by its key, whatever the tables were like', async () => {
  await assertLookedUp('empty tables');
  await sql.unsafe('ANALYZE');
  await assertLookedUp('analyzed while empty');
  await grow(1, 3);
  await sql.unsafe('ANALYZE');
  await assertLookedUp('analyzed with three rows');
  await grow(4, 4_000);
  await assertLookedUp('grown since');
  await sql.unsafe('VACUUM ANALYZE');
  await assertLookedUp('analyzed with 4,000 rows');
  await sql.unsafe('DELETE FROM holds');
  await sql.unsafe('VACUUM ANALYZE holds');
  await assertLookedUp('holds that are all gone');
});
