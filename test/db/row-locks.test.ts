// Statements that write many rows at once beside others that write some of the same: none of them
// may come to wait for a row of one that waits for it. The server would end such a pair by failing
// one of the two, a second later.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../db/accounts.ts';
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { createKey, touchKeys } from '../../db/keys.ts';
import { checkpointSessions } from '../../db/voice/sessions.ts';
import { createWallet } from '../../db/wallets.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
  await createAccount(sql, { id: 'acc_a', role: 'user' });
  await createWallet(sql, { id: 'wal_a', accountId: 'acc_a', type: 'personal' });
});
after(() => database.close());

const usage = {
  inputSpeechTokens: 7,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
  searchCalls: 0,
};

const checkpointOf = (id: string) => ({ id, usage, dueMicros: 7n, dueProviderMicros: 7n });

async function endSession(transaction: Transaction, id: string): Promise<void> {
  await transaction`
    UPDATE voice_sessions SET state = 'ended', ended_at = now() WHERE id = ${id}`;
}

/** Until somebody waits for a row that another transaction has. */
async function untilOneWaits(): Promise<void> {
  for (;;) {
    const waiting = await sql`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if (waiting.length > 0) return;
  }
}

test('a checkpoint waits for no session that is being ended, and says so', async () => {
  const ids = ['vs_a', 'vs_b', 'vs_c'];
  for (const id of [...ids, 'vs_over']) {
    await sql`
      INSERT INTO voice_sessions (id, account_id, wallet_id, model, voice_id, instance_id, hold_id)
      VALUES (${id}, 'acc_a', 'wal_a', 'm', 'v', 'i', ${`hold_${id}`})`;
  }
  await sql.begin((transaction) => endSession(transaction, 'vs_over'));
  await sql.begin(async (ending) => {
    await endSession(ending, 'vs_b');
    const written = await checkpointSessions(sql, [...ids, 'vs_over'].map(checkpointOf));
    assert.deepEqual([...written].sort(), [
      ['vs_a', true],
      ['vs_b', false],
      ['vs_c', true],
    ]);
    // What the checkpoint has written is free again, although it was before this one's.
    await endSession(ending, 'vs_a');
  });
  assert.deepEqual([...(await checkpointSessions(sql, ids.map(checkpointOf)))], [['vs_c', true]]);
  const rows = await sql<{ id: string; tokens: bigint }[]>`
    SELECT id, input_speech_tokens AS tokens FROM voice_sessions ORDER BY id`;
  assert.deepEqual(
    rows.map(({ id, tokens }) => [id, tokens]),
    [
      ['vs_a', 7n],
      ['vs_b', 0n],
      ['vs_c', 7n],
      ['vs_over', 0n],
    ],
  );
});

test('shards that note the last use of the same keys lock them in one order', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `key_${String(index).padStart(2, '0')}`);
  for (const [index, id] of ids.entries()) {
    await createKey(sql, {
      id,
      accountId: 'acc_a',
      walletId: 'wal_a',
      label: id,
      environment: 'test',
      scopes: [],
      prefix: id,
      requestsPerMinute: 1,
      concurrencyMax: 1,
      tokenHash: new Uint8Array(32).fill(index),
    });
  }
  // As with many keys in a large table: rows come in the order of hashes, and are looked up.
  for (const way of ['sort', 'hashjoin', 'mergejoin']) {
    await sql.unsafe(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)}
      SET enable_${way} = off`);
  }
  const planned = database.pool('general', 2);
  const usedAt = new Date();
  const use = (keyId: string) => ({ keyId, usedAt });
  let noted: Promise<void> = Promise.resolve();
  await planned.begin(async (first) => {
    await touchKeys(first, ids.slice(0, 1).map(use));
    noted = touchKeys(planned, ids.map(use));
    noted.catch(() => undefined);
    await untilOneWaits();
    // Who waits for the first one must have none of those behind it.
    await touchKeys(first, ids.map(use));
  });
  await noted;
  const unused = await sql`SELECT 1 FROM api_keys WHERE last_used_at IS DISTINCT FROM ${usedAt}`;
  assert.equal(unused.length, 0);
});
