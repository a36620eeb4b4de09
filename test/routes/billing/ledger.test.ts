// The ledger as its owner reads it. Each thing that changes a balance is a line of its kind, and
// usage is a line a day. Pages of any length have all of them once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NewAuditEvent } from '../../../db/audit-events.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { dayMs, liveSince, request } from '../../db/usage/world.ts';
import type { TestAccount } from '../../harness/account.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ own: 'it moves the bounds of what is counted' });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

interface Line {
  kind: string;
  amount_exact: string;
  reference: string | null;
  at: string;
}

interface Page {
  data: Line[];
  next_cursor: string | null;
}

async function pageOf(account: TestAccount, query: string): Promise<Page> {
  const headers = { 'x-svc-session': account.sessionToken };
  const reply = await contract.call('GET', `/api/me/billing/ledger?${query}`, { headers });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as unknown as Page;
}

async function linesOf(account: TestAccount, limit: number): Promise<Line[]> {
  const lines: Line[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await pageOf(
      account,
      `limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    assert.ok(page.data.length <= limit);
    lines.push(...page.data);
    cursor = page.next_cursor;
  }
  return lines;
}

async function grant(
  account: TestAccount,
  operationId: string,
  kind: 'purchase' | 'promotion',
  amountMicros: bigint,
  expiresAtMs: number | null = null,
): Promise<string> {
  const given = { operationId, kind, amountMicros, expiresAtMs, note: 'test' };
  const reply = await bed.wallet(account.walletId, 'grant', given);
  assert.equal(reply.status, 'granted', operationId);
  return reply.status === 'granted' ? reply.grantId : '';
}

function eventOf({ accountId, walletId }: TestAccount, action: string): NewAuditEvent {
  const subject = `wallet:${walletId}`;
  return { id: newAuditId(0), accountId, actor: accountId, action, subject, details: {} };
}

async function purchaseRow({ accountId, walletId }: TestAccount): Promise<string> {
  const id = newId('pur', 0);
  await bed.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency)
    VALUES (${id}, ${accountId}, ${walletId}, 'small', 'paid', 1000, 100, 'usd')`;
  return id;
}

async function step(
  { walletId }: TestAccount,
  purchaseId: string,
  number: number,
  reason: 'refund' | 'dispute' | 'restore',
  amountMicros: bigint,
): Promise<void> {
  const micros = reason === 'restore' ? -amountMicros : amountMicros;
  await bed.sql`
    INSERT INTO purchase_steps (purchase_id, step, wallet_id, micros, reason)
    VALUES (${purchaseId}, ${number}, ${walletId}, ${micros}, ${reason})`;
  const message = reason === 'restore' ? 'restore' : 'reverse';
  await bed.wallet(walletId, message, { purchaseId, step: number, amountMicros });
}

test('every kind of line, its sign and what it refers to', async () => {
  const account = await bed.account({ micros: 0n });
  const { walletId } = account;
  const first = await purchaseRow(account);
  const owner = { kind: 'purchase' as const, id: first };
  const bought = { operationId: `${first}.paid`, kind: 'purchase' as const, amountMicros: 1_000n };
  await bed.wallet(walletId, 'grant', { ...bought, expiresAtMs: null, note: 'n', owner });
  await step(account, first, 1, 'refund', 100n);
  await step(account, first, 2, 'dispute', 200n);
  await step(account, first, 3, 'restore', 50n);
  const promotion = await grant(account, 'admin.give', 'promotion', 70n);
  await bed.wallet(walletId, 'revoke', {
    grantId: promotion,
    event: eventOf(account, 'wallet.revoke'),
  });
  const debited = await grant(account, 'code.abc', 'promotion', 80n);
  await bed.wallet(walletId, 'debit', {
    operationId: 'admin.debit',
    amountMicros: 30n,
    event: eventOf(account, 'wallet.debit'),
  });
  await grant(account, 'reward.task-1', 'promotion', 5n);
  await grant(account, 'referral.ref-1', 'promotion', 6n);
  const expiring = await grant(account, 'admin.short', 'promotion', 9n, Date.now() + 30);
  await new Promise((resolve) => setTimeout(resolve, 40));
  await bed.wallet(walletId, 'balance', {});
  const hold = { holdId: newId('hold', 0), amountMicros: 100n, expiresAtMs: Date.now() + 900_000 };
  const holder = { kind: 'generation', id: newId('req', 0), instanceId: 'i' };
  await bed.wallet(walletId, 'hold', { ...hold, owner: holder, claim: null });
  // All that is free is taken: the rest is debt, which the next purchase pays at once.
  await step(account, first, 4, 'refund', 750n);
  const second = await grant(account, 'admin.bought', 'purchase', 500n);
  await bed.sql`UPDATE wallets SET created_at = '2024-01-01' WHERE id = ${walletId}`;
  const dayStart = Math.floor(Date.now() / dayMs) * dayMs;
  await liveSince(bed.sql, dayStart - 2 * dayMs, async (transaction) => {
    await request(transaction, account, dayStart - dayMs + 1, { charge: 11 });
    await request(transaction, account, dayStart - 1, { charge: 2 });
  });
  const lines = (await linesOf(account, 100)).map((line) => [
    line.kind,
    line.amount_exact,
    line.reference,
  ]);
  const yesterday = new Date(dayStart - dayMs).toISOString().slice(0, 10);
  assert.deepEqual(lines, [
    ['purchase', '500', second],
    ['debt', '-39', second],
    ['refund', '-711', first],
    ['expiry', '-9', expiring],
    ['promotion', '9', expiring],
    ['referral', '6', 'ref-1'],
    ['reward', '5', 'task-1'],
    ['correction', '-30', null],
    ['promotion', '80', debited],
    ['correction', '-70', promotion],
    ['promotion', '70', promotion],
    ['restore', '50', first],
    ['dispute', '-200', first],
    ['refund', '-100', first],
    ['purchase', '1000', first],
    ['usage', '-13', yesterday],
  ]);
  const sum = lines.reduce((total, [, amount]) => total + BigInt(amount ?? 0), 0n);
  const { availableMicros, heldMicros } = await account.balance();
  assert.equal(sum, availableMicros + heldMicros - 13n, 'lines add up to the balance');
  for (const limit of [1, 2, 3, 7]) {
    const paged = (await linesOf(account, limit)).map((line) => [
      line.kind,
      line.amount_exact,
      line.reference,
    ]);
    assert.deepEqual(paged, lines, `pages of ${limit}`);
  }
});

test('a cursor of somebody else is refused, a key with the scope may read', async () => {
  const account = await bed.account();
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const own = await contract.call('GET', '/api/me/billing/ledger', { headers });
  assert.equal(own.status, 200);
  const wrong = await contract.call('GET', '/api/me/billing/ledger?cursor=abc', { headers });
  assert.equal(wrong.status, 400);
  const narrow = await bed.account({ scopes: ['models:read'] });
  const refused = await contract.call('GET', '/api/me/billing/ledger', {
    headers: { authorization: `Bearer ${narrow.apiKey}` },
  });
  assert.equal(refused.status, 403);
});
