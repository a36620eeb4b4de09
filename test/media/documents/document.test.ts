// What a document says. Amounts are right to the minor unit of each currency, tax goes back in its
// share, and the page shows texts as texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creditNoteOf } from '../../../media/documents/document.ts';
import { invoiceHtml, invoicePolicy } from '../../../media/documents/invoice.ts';
import { coverageOf, runsOf } from '../../../media/documents/runs.ts';
import { formatMoney, sheetOf } from '../../../media/documents/sheet.ts';
import { fc } from '../../harness/properties.ts';
import { creditNoteFor, invoiceFor, wordsOf } from './sample.ts';

for (const [cents, currency, text] of [
  [0, 'usd', '0.00 USD'],
  [5, 'usd', '0.05 USD'],
  [123_456_789, 'eur', '1,234,567.89 EUR'],
  [1_000, 'jpy', '1,000 JPY'],
  [12_345, 'kwd', '12.345 KWD'],
  [99_900, 'inr', '999.00 INR'],
] as const) {
  test(`${cents} minor units of ${currency} are ${text}`, () => {
    assert.equal(formatMoney(cents, currency), text);
  });
}

test('what goes back is what was paid, whatever the parts', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(300_000), fc.nat(1_000), (net, tax, share) => {
      const total = net + tax + 1;
      const invoice = invoiceFor('Ann', {
        net_cents: net + 1,
        tax_cents: tax,
        total_cents: total,
      });
      const amountCents = BigInt(Math.max(1, Math.floor((total * share) / 1_000)));
      const issue = { number: 'n', issuedAt: new Date(0), seller: invoice.seller };
      const note = creditNoteOf({ reason: 'dispute', amountCents, invoice }, issue);
      assert.equal(note.net_cents + note.tax_cents, Number(amountCents));
      assert.ok(Math.abs(note.tax_cents * total - Number(amountCents) * tax) * 2 <= total);
      assert.equal(note.lines[0]?.amount_cents, note.net_cents);
    }),
  );
});

test('all of a purchase goes back with all of its tax', () => {
  const invoice = invoiceFor('Ann');
  const amountCents = BigInt(invoice.total_cents);
  const issue = { number: 'n', issuedAt: new Date(0), seller: invoice.seller };
  const note = creditNoteOf({ reason: 'refund', amountCents, invoice }, issue);
  assert.deepEqual([note.net_cents, note.tax_cents], [123_450, 23_456]);
});

test('a page shows texts as texts, runs nothing, and says what it corrects', () => {
  const html = invoiceHtml(invoiceFor('<script>alert(1)</script>"\'&'));
  assert.doesNotMatch(html, /<script|<b>|javascript:|<link rel="stylesheet"|src=/);
  assert.ok(wordsOf(html).includes('<script>alert(1)</script>"\'&'));
  assert.match(invoicePolicy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /);
  const note = wordsOf(invoiceHtml(creditNoteFor('Ann'))).join(' ');
  assert.match(note, /^Credit note Number TG-2026-000043 .* Corrects invoice TG-2026-000042/);
});

test('a party is its lines, without empty ones', () => {
  const buyer = { name: null, address: ' \n a  b \n\n', country: null, tax_id: 'X', email: null };
  const [, to] = sheetOf(invoiceFor('Ann', { buyer })).parties;
  assert.deepEqual(to, { heading: 'To', lines: ['a b', 'Tax ID X'] });
});

test('runs stay in one file as long as it has the letters', () => {
  const has = coverageOf({
    latin: 'U+0000-00FF',
    greek: 'U+0370-03FF',
    cyrillic: 'U+0301,U+0400-045F',
  });
  const texts = (text: string) => runsOf(text, has).map((run) => `${run.script}:${run.text}`);
  assert.deepEqual(texts('abc'), ['latin:abc']);
  assert.deepEqual(texts('a β-γ я'), [
    'latin:a ',
    'greek:β',
    'latin:-',
    'greek:γ',
    'latin: ',
    'cyrillic:я',
  ]);
  assert.deepEqual(texts('日本x'), ['latin:??x']);
  assert.deepEqual(texts('е\u0301'), ['cyrillic:е\u0301'], 'a mark stays with its letter');
  assert.deepEqual(texts('e\u0301'), ['latin:é']);
});
