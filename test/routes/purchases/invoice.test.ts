// The invoice of a purchase as its account gets it: JSON, a page that Chromium shows and prints
// under its policy, and a PDF. Nobody else's, and nothing before it is issued.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { issueDue } from '../../../actors/invoices/issuing.ts';
import type { IssuedDocument } from '../../../media/documents/document.ts';
import { freshId } from '../../actors/wallet/bank.ts';
import type { TestAccount } from '../../harness/account.ts';
import { noChromium, openChromium } from '../../harness/chromium.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
let purchaseId: string;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  purchaseId = await buy(account);
  await bed.sql`
    INSERT INTO billing_settings (account_id, profile)
    VALUES (${account.accountId}, ${JSON.stringify({
      name: 'Ann <script>',
      address: 'A road with a rather long name 2\n10000 Town',
      country: 'IN',
    })}::text::jsonb)`;
});
after(() => bed.close());

async function buy({ accountId, walletId }: TestAccount): Promise<string> {
  const id = freshId('pur');
  await bed.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, tax_cents, currency, paid_at)
    VALUES (${id}, ${accountId}, ${walletId}, 'small', 'paid', 100000000, 1000, 190, 'eur', now())`;
  const operationId = `${id}.paid`;
  const owner = { kind: 'purchase', id } as const;
  const request = { operationId, kind: 'purchase', expiresAtMs: null, note: 'test' } as const;
  await bed.wallet(walletId, 'grant', { ...request, amountMicros: 100_000_000n, owner });
  return id;
}

const seller = {
  name: 'Shop',
  address: null,
  country: 'DE',
  tax_id: null,
  email: null,
  invoice_prefix: 'DEV',
};
const issue = () =>
  issueDue(bed.sql, { seller, clock: Date.now, signal: new AbortController().signal });

const get = (query: string, id = purchaseId, by = account) =>
  fetch(`${bed.url}/api/me/purchases/${id}/invoice${query}`, {
    headers: { 'x-svc-session': by.sessionToken },
  });

test('before it is issued there is none, and a free purchase never has one', async () => {
  const id = await buy(account);
  await bed.sql`UPDATE purchases SET price_cents = 0 WHERE id = ${id}`;
  await issue();
  assert.equal((await get('?format=json', id)).status, 404);
  assert.equal((await get('?format=json', freshId('pur'))).status, 404);
});

test('it is told as JSON, page and PDF, to its account alone', async () => {
  const json = await get('?format=json');
  assert.equal(json.status, 200);
  const { document } = (await json.json()) as { document: IssuedDocument };
  assert.equal(document.total_cents, 1_190);
  assert.equal(document.buyer.name, 'Ann <script>');
  const page = await get('');
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; style/);
  assert.ok((await page.text()).includes(document.number));
  const first = await get('?format=pdf');
  assert.equal(first.headers.get('content-type'), 'application/pdf');
  const name = `inline; filename="${document.number}.pdf"`;
  assert.equal(first.headers.get('content-disposition'), name);
  const bytes = Buffer.from(await first.arrayBuffer());
  assert.equal(bytes.subarray(0, 5).toString(), '%PDF-');
  const again = Buffer.from(await (await get('?format=pdf')).arrayBuffer());
  assert.ok(bytes.equals(again), 'the same bytes');
  const other = await bed.account();
  for (const format of ['json', 'html', 'pdf']) {
    assert.equal((await get(`?format=${format}`, purchaseId, other)).status, 404);
  }
  assert.equal((await get('?format=docx')).status, 400);
});

test('a credit note is found by its number', async () => {
  await bed.sql`
    INSERT INTO payment_facts (provider, object_id, purchase_id, kind, state, amount_cents,
      opened_at)
    VALUES ('stripe', ${freshId('re')}, ${purchaseId}, 'refund', 'succeeded', 595, now())`;
  await issue();
  const [row] = await bed.sql<{ number: string }[]>`
    SELECT credit_note_number AS number FROM payment_facts WHERE purchase_id = ${purchaseId}`;
  const reply = await get(`?format=json&document=${row?.number}`);
  const { document } = (await reply.json()) as { document: IssuedDocument };
  assert.deepEqual([document.kind, document.total_cents], ['credit_note', 595]);
  assert.equal((await get('?document=DEV-2000-000001')).status, 404);
});

test('a browser shows it on a narrow phone and prints one sheet', {
  skip: noChromium,
}, async () => {
  const browser = await openChromium();
  try {
    const page = await browser.newPage({
      viewport: { width: 360, height: 760 },
      extraHTTPHeaders: { 'x-svc-session': account.sessionToken },
    });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${bed.url}/api/me/purchases/${purchaseId}/invoice`);
    // As text: types of a browser's globals are not those of Node.
    const seen = await page.evaluate(`({
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      font: getComputedStyle(document.querySelector('td')).fontSize,
      background: getComputedStyle(document.querySelector('main')).backgroundColor,
      scripts: document.scripts.length,
    })`);
    const light = 'rgb(255, 255, 255)';
    assert.deepEqual(seen, { overflow: 0, font: '15px', background: light, scripts: 0 });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const printed = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    assert.equal(printed.match(/\/Type \/Page\b/g)?.length, 1);
    assert.deepEqual(complaints, [], 'its policy lets all of it be');
  } finally {
    await browser.close();
  }
});
