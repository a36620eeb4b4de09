// Documents for tests: every script that is drawn, and what a page must not be misled by.
import { creditNoteOf, type IssuedDocument, invoiceOf } from '../../../media/documents/document.ts';

const seller = {
  name: 'Tollgate & Söhne GmbH',
  address: 'Straße des 17. Juni 1\n10623 Berlin',
  country: 'DE',
  tax_id: 'DE123456789',
  email: 'billing@example.test',
};

/** A name in each script. */
export const names = {
  latin: 'Škoda Čapek Łódź Nguyễn Văn',
  greek: 'Καλημέρα Ελλάς Αθήνα ᾠδή',
  cyrillic: 'Общество Привет Ґалаґан Қазақстан',
  devanagari: 'हिन्दी क्षत्रिय श्रीमती विद्यार्थी दिल्ली',
};

const issuedAt = new Date('2026-11-27T10:00:00Z');

export function invoiceFor(name: string, changes: Partial<IssuedDocument> = {}): IssuedDocument {
  const invoice = invoiceOf(
    {
      purchaseId: 'pur_019ab0000000010000000001',
      packageName: 'Starter <b>100</b>',
      creditsMicros: 1_234_500_000n,
      priceCents: 123_450n,
      taxCents: 23_456n,
      currency: 'eur',
      paidAt: new Date('2026-11-26T23:59:59Z'),
      buyer: { name, address: `${name} 7`, country: 'IN', tax_id: null, email: 'a@example.test' },
    },
    { number: 'TG-2026-000042', issuedAt, seller },
  );
  return { ...invoice, ...changes };
}

export function creditNoteFor(name: string): IssuedDocument {
  const cause = { reason: 'refund' as const, amountCents: 10_000n, invoice: invoiceFor(name) };
  return creditNoteOf(cause, { number: 'TG-2026-000043', issuedAt, seller });
}

/** The words that a page shows, as browsers read its text. */
export function wordsOf(html: string): string[] {
  const body = html.slice(html.indexOf('<body>'));
  const text = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
  return text.split(/\s+/u).filter((word) => word !== '');
}
