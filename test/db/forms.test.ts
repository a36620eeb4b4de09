// The ledger sends its rows in three forms: a row as values, rows of one write as arrays, rows of
// several writes as arrays with their owners. What they store must not differ.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noLegs } from '../../actors/wallet/funds.ts';
import { createAccount } from '../../db/accounts.ts';
import type { Queryable, Sql } from '../../db/driver/sql.ts';
import type { FinishRow } from '../../db/generations.ts';
import { emptyWrite, type WalletWrite } from '../../db/ledger/write.ts';
import { createWallet } from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { ledger } from '../harness/ledger.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('ledger', 1);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
});
after(() => database.close());

const usage = {
  inputSpeechTokens: 2 ** 40,
  inputTextTokens: 1,
  outputSpeechTokens: 2,
  outputTextTokens: 3,
  searchCalls: 0,
};
const awkward = 'a "quoted" \\ {brace}, comma\n\t\u0001 NULL 漢字 🧭 ';
const balances = { ...noLegs(), walletMicros: 9n * 10n ** 15n, purchaseMicros: -9n * 10n ** 15n };

/** A write of rows whose ids end in the wallet's name and the row's number. */
function beginning(wallet: string, numbers: number[]): WalletWrite {
  const each = <R>(rowOf: (id: string) => R) => numbers.map((n) => rowOf(`${wallet}_${n}`));
  const owner = { accountId: 'acc_a', instanceId: 'i', model: awkward };
  return {
    ...emptyWrite({ walletId: wallet, version: 0n, nextVersion: 7n, balances }),
    entries: each((id) => ({
      operationId: `op_${id}`,
      kind: 'grant',
      reason: awkward,
      legs: { ...noLegs(), walletMicros: 5n, purchaseMicros: -5n },
    })),
    newHolds: each((id) => ({
      id: `hold_${id}`,
      amountMicros: 0n,
      legs: [{ grantId: awkward, micros: 2n ** 60n }],
      ownerKind: awkward,
      ownerId: '',
      instanceId: 'NULL',
      claimed: true,
      attempt: 2n ** 62n,
      step: 3,
      stepMicros: -4n,
      expiresAtMs: 1_790_000_000_123,
      expired: true,
    })),
    newGrants: each((id) => ({
      id: `grant_${id}`,
      operationId: `op_${id}`,
      kind: 'promotion',
      note: awkward,
      amountMicros: 8n,
      remainingMicros: 7n,
      heldMicros: 6n,
      expiresAtMs: 1_790_000_000_000,
      expired: false,
      createdAtMs: 1_700_000_000_000,
    })),
    owned: {
      claims: each((id) => ({
        ...owner,
        id: `req_${id}`,
        apiKeyId: null,
        route: awkward,
        idempotencyKey: `key ${id.at(-1)} ${id}`,
        fingerprint: '',
        holdId: `hold_${id}`,
      })),
      audit_rows: each((id) => ({
        id: `aud_${id}`,
        accountId: wallet,
        actor: awkward,
        action: 'wallet.debit',
        subject: awkward,
        details: { awkward, none: null },
        operationId: `op_${id}`,
      })),
      session_claims: each((id) => ({
        ...owner,
        id: `voice_${id}`,
        apiKeyId: awkward,
        voiceId: awkward,
        holdId: `hold_${id}`,
      })),
    },
  };
}

function noting(wallet: string, numbers: number[]): WalletWrite {
  return {
    ...emptyWrite({ walletId: wallet, version: 7n, nextVersion: 8n, balances }),
    owned: {
      session_dues: numbers.map((n) => ({
        id: `voice_${wallet}_${n}`,
        usage,
        dueMicros: 2n ** 50n,
        dueProviderMicros: 3n,
      })),
    },
  };
}

function ending(wallet: string, numbers: number[]): WalletWrite {
  const begun = beginning(wallet, numbers);
  const each = <R>(rowOf: (id: string) => R) => numbers.map((n) => rowOf(`${wallet}_${n}`));
  return {
    ...emptyWrite({ walletId: wallet, version: 8n, nextVersion: 9n, balances }),
    changedHolds: begun.newHolds.map((hold) => ({ ...hold, step: 9, expiresAtMs: 0 })),
    changedGrants: begun.newGrants.map((grant) => ({ ...grant, heldMicros: 0n, expired: true })),
    owned: {
      finishes: each(
        (id): FinishRow => ({
          id: `req_${id}`,
          status: 'completed',
          answerJson: JSON.stringify({ awkward }),
          usageJson: JSON.stringify({ awkward, tokens: 1 }),
          problemJson: null,
          routingJson: JSON.stringify([awkward]),
          chargeMicros: 11n,
          late: false,
        }),
      ),
      session_finishes: each((id) => ({
        id: `voice_${id}`,
        reason: 'client_end',
        source: 'reported',
        usage,
        chargeMicros: 12n,
        late: true,
      })),
    },
  };
}

const tables: Record<string, string> = {
  wallets: 'id',
  ledger: 'wallet_id',
  holds: 'wallet_id',
  grants: 'wallet_id',
  generations: 'wallet_id',
  voice_sessions: 'wallet_id',
  audit_events: 'account_id',
};

/** Row 1 of the wallet in every table, without the times of the server's clock. */
async function stored(wallet: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [table, owner] of Object.entries(tables)) {
    const rows = await sql.unsafe<{ row: Record<string, unknown> }[]>(
      `SELECT to_jsonb(t) - '{at,created_at,finished_at,started_at,ended_at}'::text[] AS row
       FROM ${table} t WHERE ${owner} = $1 ORDER BY t::text`,
      [wallet],
    );
    const text = JSON.stringify(rows[0]?.row ?? null);
    assert.notEqual(text, 'null', table);
    found[table] = JSON.parse(text.replaceAll(wallet, 'wal'));
  }
  return found;
}

/** Which statements were sent: without arrays, with them, with the rows' owners. */
async function apply(writes: WalletWrite[]): Promise<string> {
  let sent = '';
  const listening = {
    unsafe(text: string, ...rest: [never, never]) {
      sent = text;
      return sql.unsafe(text, ...rest);
    },
  };
  const applied = await ledger.applyWrites(listening as unknown as Queryable, writes);
  assert.deepEqual([...applied].sort(), writes.map(({ walletId }) => walletId).sort());
  if (!sent.includes('unnest')) return 'row';
  return sent.includes('slot') ? 'writes' : 'rows';
}

test('a row is stored alike in every form', async () => {
  for (const id of ['wal_a', 'wal_b', 'wal_c', 'wal_d']) {
    await createWallet(sql, { id, accountId: 'acc_a', type: 'personal' });
  }
  for (const writeOf of [beginning, noting, ending]) {
    assert.equal(await apply([writeOf('wal_a', [1])]), 'row');
    assert.equal(await apply([writeOf('wal_b', [1, 2])]), 'rows');
    assert.equal(await apply([writeOf('wal_c', [1]), writeOf('wal_d', [1])]), 'writes');
    const expected = await stored('wal_a');
    assert.deepEqual(await stored('wal_b'), expected);
    assert.deepEqual(await stored('wal_c'), expected);
    assert.deepEqual(await stored('wal_d'), expected);
  }
  const { holds, generations } = await stored('wal_a');
  assert.deepEqual(holds, {
    id: 'hold_wal_1',
    wallet_id: 'wal',
    amount_micros: 0,
    legs: [{ grant: awkward, micros: String(2n ** 60n) }],
    owner_kind: awkward,
    owner_id: '',
    instance_id: 'NULL',
    claimed: true,
    attempt: Number(2n ** 62n),
    step: 9,
    step_micros: -4,
    expires_at: '1970-01-01T00:00:00+00:00',
    expired: true,
  });
  assert.deepEqual(generations, {
    id: 'req_wal_1',
    account_id: 'acc_a',
    wallet_id: 'wal',
    api_key_id: null,
    route: awkward,
    idempotency_key: 'key 1 wal_1',
    fingerprint: '',
    model: awkward,
    instance_id: 'i',
    hold_id: 'hold_wal_1',
    status: 'completed',
    answer: JSON.stringify({ awkward }),
    problem: null,
    usage: { awkward, tokens: 1 },
    charge_micros: 11,
    routing: [awkward],
  });
});
