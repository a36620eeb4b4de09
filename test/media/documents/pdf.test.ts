// The PDF of a document has every word of its page, in four scripts, and the same bytes each time.
// `pdftotext` reads it where it is installed; our own reader of its marked texts does everywhere.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { invoiceHtml } from '../../../media/documents/invoice.ts';
import { invoicePdf } from '../../../media/documents/pdf.ts';
import { creditNoteFor, invoiceFor, names, wordsOf } from './sample.ts';

/** The words that the content marks as its text: PDF strings are UTF-16 where they must. */
function markedWords(pdf: Buffer): string[] {
  const words: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at !== -1; at = pdf.indexOf('stream\n', at + 1)) {
    const end = pdf.indexOf('endstream', at);
    const text = inflated(pdf.subarray(at + 'stream\n'.length, end));
    for (const [, raw = ''] of text.matchAll(/\/ActualText \(((?:[^\\)]|\\[\s\S])*)\)/g)) {
      words.push(readString(raw));
    }
  }
  return words;
}

function inflated(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function readString(raw: string): string {
  const bytes = raw.replace(
    /\\([\s\S])/g,
    (_all, character: string) => escapes[character] ?? character,
  );
  if (!bytes.startsWith('\xfe\xff')) return bytes;
  return Buffer.from(bytes.slice(2), 'latin1').swap16().toString('utf16le');
}

const everyone = Object.values(names).join(' ');

test('every word of a page is in its PDF, in four scripts, and bytes are the same', async () => {
  for (const document of [invoiceFor(everyone), creditNoteFor(names.devanagari)]) {
    const pdf = await invoicePdf(document);
    const found = new Set(markedWords(pdf));
    const words = wordsOf(invoiceHtml(document));
    assert.deepEqual(
      words.filter((word) => !found.has(word)),
      [],
    );
    assert.ok(words.length > 30);
    assert.ok(pdf.equals(await invoicePdf(structuredClone(document))));
  }
});

test('a document with very long texts is one page', async () => {
  const name = 'w'.repeat(120);
  const address = Array.from({ length: 25 }, () => 'अ'.repeat(20)).join('\n');
  const buyer = { name, address, country: 'IN', tax_id: 'x'.repeat(60), email: null };
  const pdf = await invoicePdf(invoiceFor('Ann', { buyer }));
  assert.equal(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length, 1);
});

const noReader = (() => {
  try {
    execFileSync('pdftotext', ['-v'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'no pdftotext here: apt-get install poppler-utils';
  }
})();

test('pdftotext finds every word', { skip: noReader }, async () => {
  const document = invoiceFor(everyone);
  const input = await invoicePdf(document);
  const text = execFileSync('pdftotext', ['-layout', '-enc', 'UTF-8', '-', '-'], { input });
  const found = new Set(text.toString('utf8').normalize('NFC').split(/\s+/u));
  assert.deepEqual(
    wordsOf(invoiceHtml(document)).filter((word) => !found.has(word)),
    [],
  );
});
