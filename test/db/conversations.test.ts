// What is kept of managed routing: the model of a conversation, and the receipt of a generation,
// which is written in the statement that ends it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  findConversationModel,
  rememberConversationModel,
  sweepConversations,
} from '../../db/conversations.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { findGeneration } from '../../db/generations.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  openBank,
  purchase,
} from '../actors/wallet/bank.ts';

let bank: Bank;
let branch: Branch;
let sql: Sql;
let walletId: string;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  sql = bank.sql;
  walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(100_000n));
});
after(() => bank.close());

const key = { accountId: 'acc_1', conversationId: 'talk "1" ü', route: 'svc-intelligent' };

async function age(interval: string): Promise<void> {
  await sql`UPDATE conversations SET updated_at = now() - ${interval}::interval`;
}

test('a conversation’s model is found by account, name and route', async () => {
  assert.equal(await findConversationModel(sql, key), null);
  await rememberConversationModel(sql, key, 'a');
  await rememberConversationModel(sql, { ...key, route: 'svc-coder' }, 'b');
  assert.equal(await findConversationModel(sql, key), 'a');
  assert.equal(await findConversationModel(sql, { ...key, route: 'svc-coder' }), 'b');
  assert.equal(await findConversationModel(sql, { ...key, accountId: 'acc_2' }), null);
  assert.equal(await findConversationModel(sql, { ...key, conversationId: 'talk' }), null);
});

test('the same model again is not written, but once an hour', async () => {
  assert.equal(await rememberConversationModel(sql, key, 'a'), false);
  assert.equal(await rememberConversationModel(sql, key, 'c'), true);
  assert.equal(await findConversationModel(sql, key), 'c');
  await age('61 minutes');
  assert.equal(await rememberConversationModel(sql, key, 'c'), true);
  assert.equal(await rememberConversationModel(sql, key, 'c'), false);
});

test('a name that is too long or empty is refused by the database', async () => {
  const long = { ...key, conversationId: 'x'.repeat(161) };
  await assert.rejects(rememberConversationModel(sql, long, 'a'));
  await assert.rejects(rememberConversationModel(sql, { ...key, conversationId: '' }, 'a'));
  const longest = { ...key, conversationId: 'ü'.repeat(160) };
  assert.equal(await rememberConversationModel(sql, longest, 'a'), true);
});

test('twenty turns at once leave one row', async () => {
  const busy = { ...key, conversationId: 'busy' };
  const models = Array.from({ length: 20 }, (_, index) => `m${index % 3}`);
  await Promise.all(models.map((model) => rememberConversationModel(sql, busy, model)));
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM conversations WHERE conversation_id = 'busy'`;
  assert.equal(row?.count, 1);
  assert.match((await findConversationModel(sql, busy)) ?? '', /^m[012]$/);
});

test('the sweep forgets what is older than asked for, page by page, and nothing else', async () => {
  await age('31 days');
  await rememberConversationModel(sql, { ...key, conversationId: 'new' }, 'a');
  const beforeMs = Date.now() - 30 * 86_400_000;
  let swept = 0;
  for (;;) {
    const count = await sweepConversations(sql, beforeMs, 2);
    assert.ok(count <= 2);
    swept += count;
    if (count < 2) break;
  }
  assert.ok(swept >= 4, `${swept}`);
  const rows = await sql<{ name: string }[]>`SELECT conversation_id AS name FROM conversations`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['new'],
  );
});

test('a receipt is stored with the end of its generation, and others have none', async () => {
  const routing = { receipt_id: 'rr_000000000000000000000001', decision_category: 'quality' };
  // Different generations of one batch, so that both forms stand in one statement.
  const holds = Array.from({ length: 12 }, () => claimingHold(10n, null));
  await Promise.all(holds.map((hold) => branch.ask(walletId, 'hold', hold)));
  await Promise.all(
    holds.map((hold, index) => {
      const routed = index % 2 === 0 ? { routingJson: JSON.stringify({ ...routing, index }) } : {};
      const documents = { answerJson: '{}', usageJson: '{}', problemJson: null, ...routed };
      const { holdId, owner } = hold;
      const ended = { kind: 'generation', id: owner.id, ...documents };
      if (index % 3 === 0) {
        const finish = { ...ended, status: 'failed' as const };
        return branch.ask(walletId, 'release', { holdId, reason: 'failed', finish });
      }
      const finish = { ...ended, status: 'completed' as const };
      const cost = { chargeMicros: 7n, providerCostMicros: 6n };
      return branch.ask(walletId, 'settle', { holdId, ...cost, finish });
    }),
  );
  for (const [index, { owner }] of holds.entries()) {
    const row = await findGeneration(sql, accountId, owner.id);
    assert.equal(row?.status, index % 3 === 0 ? 'failed' : 'completed');
    const stored = row?.routingJson === null ? null : JSON.parse(row?.routingJson ?? 'null');
    assert.deepEqual(stored, index % 2 === 0 ? { ...routing, index } : null);
  }
  await bank.assertBooks();
});
