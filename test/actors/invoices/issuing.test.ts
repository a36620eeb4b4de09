// Invoices under a crowd: 200 completions, several processes at once, one killed in the middle of
// its work. No number is left out, none is given twice, and each cause has one document.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { issueDue } from '../../../actors/invoices/issuing.ts';
import { sellerOf } from '../../../actors/invoices/seller.ts';
import { operation } from '../../../actors/wallet/ledger.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { findDocument } from '../../../db/purchases/invoices.ts';
import type { IssuedDocument } from '../../../media/documents/document.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { accountId, type Bank, type Branch, freshId, openBank } from '../wallet/bank.ts';

let bank: Bank;
let branch: Branch;
/** Each round has a connection while it issues. */
let pool: Sql;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  pool = bank.database.pool('general', 4);
});
after(() => bank.close());

const seller = {
  name: 'Shop',
  address: 'Street 1\nTown',
  country: 'DE',
  tax_id: null,
  email: null,
  invoice_prefix: 'TG',
};

const issue = (on = '2026-11-27', by = seller) =>
  issueDue(pool, {
    seller: by,
    clock: () => Date.parse(`${on}T12:00:00Z`),
    signal: new AbortController().signal,
  });

/** Purchases that are paid at once, each in one of the wallets. */
async function buyAll(walletIds: string[], prices: number[]): Promise<string[]> {
  const rows = prices.map((price, index) => ({
    id: freshId('pur'),
    wallet: walletIds[index % walletIds.length] ?? '',
    price,
    tax: Math.round(price / 5),
  }));
  await bank.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, tax_cents, currency, paid_at)
    SELECT r.id, ${accountId}, r.wallet, 'small', 'paid', 100000000, r.price, r.tax, 'eur', now()
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      AS r (id text, wallet text, price bigint, tax bigint)`;
  const replies = await Promise.all(
    rows.map(({ id, wallet }) =>
      branch.ask(wallet, 'grant', {
        operationId: operation.paid(id),
        kind: 'purchase',
        amountMicros: 100_000_000n,
        expiresAtMs: null,
        note: 'test',
        owner: { kind: 'purchase', id },
      }),
    ),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set(['granted']));
  return rows.map(({ id }) => id);
}

async function buy(walletId: string, priceCents = 1_000): Promise<string> {
  const [id = ''] = await buyAll([walletId], [priceCents]);
  return id;
}

async function fact(purchaseId: string, kind: string, state: string, cents = 240) {
  const objectId = freshId('re');
  await bank.sql`
    INSERT INTO payment_facts (provider, object_id, purchase_id, kind, state, amount_cents,
      opened_at)
    VALUES ('stripe', ${objectId}, ${purchaseId}, ${kind}, ${state}, ${cents}, now())`;
  return objectId;
}

/** Numbers of a prefix and year, in order, without what all of them begin with. */
async function numbers(prefix = 'TG-2026-'): Promise<number[]> {
  const rows = await bank.sql<{ number: string }[]>`
    SELECT number FROM invoices WHERE starts_with(number, ${prefix}) ORDER BY number`;
  return rows.map(({ number }) => Number(number.slice(prefix.length)));
}

function assertGapless(found: readonly number[], count: number): void {
  assert.deepEqual(
    found,
    Array.from({ length: count }, (_, index) => index + 1),
  );
}

test('200 completions, rounds at once and processes killed: no gap, none twice', async () => {
  console.log(`seed ${testSeed}`);
  const random = createRandom(testSeed);
  const wallets = await Promise.all(Array.from({ length: 8 }, () => bank.newWallet()));
  const program = fileURLToPath(new URL('issuing-child.js', import.meta.url));
  const children = Array.from({ length: 2 }, () =>
    spawn(process.execPath, [program, bank.database.url], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const ended = children.map((child) => once(child, 'close'));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const prices = Array.from({ length: 200 }, () => 1 + Math.floor(random() * 5_000));
  const buying = buyAll(wallets, prices);
  const rounds = [issue(), issue()];
  // In the middle of it: some are issued, and most are not.
  const enough = 20 + Math.floor(random() * 60);
  while ((await numbers()).length < enough) await sleep(2);
  for (const child of children) child.kill('SIGKILL');
  const ids = await buying;
  await Promise.all([...ended, ...rounds]);
  await Promise.all([issue(), issue(), issue(), issue()]);
  assertGapless(await numbers(), 200);
  const [row] = await bank.sql<{ causes: bigint; noted: bigint }[]>`
    SELECT (SELECT count(DISTINCT cause) FROM invoices) AS causes,
      (SELECT count(*) FROM purchases p JOIN invoices i
        ON i.cause = p.id AND i.number = p.invoice_number) AS noted`;
  assert.deepEqual({ ...row }, { causes: BigInt(ids.length), noted: BigInt(ids.length) });
  assert.equal(await issue(), 0);
});

test('what costs nothing, or is not completed, is not invoiced', async () => {
  const walletId = await bank.newWallet();
  await buy(walletId, 0);
  await bank.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency)
    VALUES (${freshId('pur')}, ${accountId}, ${walletId}, 'small', 'paid', 1, 5, 'eur')`;
  assert.equal(await issue(), 0);
});

test('a refund and a lost dispute have one credit note each; what is open has none', async () => {
  const walletId = await bank.newWallet();
  const id = await buy(walletId);
  await fact(id, 'refund', 'pending');
  await fact(id, 'refund', 'failed');
  await fact(id, 'dispute', 'open');
  const refund = await fact(id, 'refund', 'succeeded');
  assert.equal(await issue(), 2, 'in one round: the invoice, then its credit note');
  const dispute = await fact(id, 'dispute', 'lost', 960);
  assert.equal(await issue(), 1);
  assert.equal(await issue(), 0);
  const rows = await bank.sql<{ object: string; number: string }[]>`
    SELECT object_id AS object, credit_note_number AS number FROM payment_facts
    WHERE purchase_id = ${id} AND credit_note_number IS NOT NULL ORDER BY credit_note_number`;
  assert.deepEqual(
    rows.map(({ object }) => object),
    [refund, dispute],
  );
  assertGapless(await numbers(), 203);
  const read = (number: string | null, account = accountId) =>
    findDocument<IssuedDocument>(bank.sql, account, id, number);
  const invoice = await read(null);
  assert.equal(invoice?.total_cents, 1_200);
  const [first, second] = await Promise.all(rows.map(({ number }) => read(number)));
  assert.deepEqual(first?.corrects, { number: invoice.number, reason: 'refund' });
  assert.deepEqual([first.net_cents, first.tax_cents], [200, 40]);
  assert.deepEqual(second?.corrects, { number: invoice.number, reason: 'dispute' });
  assert.equal(await read(null, 'acc_other'), null);
  assert.equal(await read('TG-2026-000001'), null, 'of another purchase');
});

test('a year and a prefix count from one', async () => {
  const walletId = await bank.newWallet();
  await buy(walletId);
  assert.equal(await issue('2027-01-01'), 1);
  await buy(walletId);
  assert.equal(await issue('2027-01-01', { ...seller, invoice_prefix: 'X' }), 1);
  assertGapless(await numbers('TG-2027-'), 1);
  assertGapless(await numbers('X-2027-'), 1);
});

test('a document is a snapshot of who bought and who sold', async () => {
  const walletId = await bank.newWallet();
  const id = await buy(walletId);
  const profile = { name: 'Ann', address: 'Road 2', country: 'IN', tax_id: 'GST1' };
  await bank.sql`
    INSERT INTO billing_settings (account_id, profile)
    VALUES (${accountId}, ${JSON.stringify(profile)}::text::jsonb)`;
  await issue();
  await bank.sql`UPDATE billing_settings SET profile = '{"name": "Eve"}'`;
  await issue('2026-12-01', { ...seller, name: 'Other' });
  const document = await findDocument<IssuedDocument>(bank.sql, accountId, id, null);
  assert.deepEqual(document?.buyer, { ...profile, email: null });
  assert.equal(document.seller.name, 'Shop');
});

test('who sells is in the settings; without them development mode names somebody', async () => {
  assert.equal(await sellerOf(bank.sql, 'production'), null);
  assert.equal((await sellerOf(bank.sql, 'dev'))?.invoice_prefix, 'DEV');
  const definition = JSON.stringify({ name: 'settings', seller });
  await bank.sql`
    INSERT INTO billing (name, definition) VALUES ('settings', ${definition}::text::jsonb)
    ON CONFLICT (name) DO UPDATE SET definition = excluded.definition`;
  assert.deepEqual(await sellerOf(bank.sql, 'production'), seller);
});
