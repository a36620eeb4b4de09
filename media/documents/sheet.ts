// The words of a document, where they stand on the page. HTML and PDF are both made of them, so
// that neither says what the other does not.
import type { IssuedDocument, Party } from './document.ts';

type Row = readonly [label: string, value: string];

export interface Sheet {
  title: string;
  facts: readonly Row[];
  parties: readonly { heading: string; lines: readonly string[] }[];
  columns: readonly [string, string, string];
  lines: readonly (readonly [string, string, string])[];
  totals: readonly Row[];
  note: string;
}

export function sheetOf(document: IssuedDocument): Sheet {
  const { kind, number, corrects, currency, seller, buyer } = document;
  const isInvoice = kind === 'invoice';
  const money = (cents: number) => formatMoney(cents, currency);
  return {
    title: isInvoice ? 'Invoice' : 'Credit note',
    facts: [
      ['Number', number],
      ['Date', document.issued_on],
      ...(corrects === null ? [] : [['Corrects invoice', corrects.number] as const]),
      ['Paid on', document.paid_on],
      ['Purchase', document.purchase_id],
    ],
    parties: [
      { heading: 'From', lines: linesOf(seller) },
      { heading: 'To', lines: linesOf(buyer) },
    ],
    columns: ['Description', 'Credits', 'Amount'],
    lines: document.lines.map(({ description, credits, amount_cents: cents }) => [
      description,
      credits === null ? '' : groupThousands(String(credits)),
      money(cents),
    ]),
    totals: [
      ['Net', money(document.net_cents)],
      ['Tax', money(document.tax_cents)],
      [isInvoice ? 'Total paid' : 'Total paid back', money(document.total_cents)],
    ],
    note: isInvoice
      ? 'Paid in full. Nothing is due.'
      : `This corrects invoice ${corrects?.number}.`,
  };
}

function linesOf({ name, address, country, tax_id: taxId, email }: Party): string[] {
  const lines = [name, ...(address ?? '').split('\n'), country];
  const marked = [taxId === null ? null : `Tax ID ${taxId}`, email];
  return [...lines, ...marked].flatMap((line) => {
    const text = line?.replace(/\s+/gu, ' ').trim() ?? '';
    return text === '' ? [] : [text];
  });
}

/** Minor units as people read them, `1,234.50 EUR`: the same in every place and language. */
export function formatMoney(cents: number, currency: string): string {
  const code = currency.toUpperCase();
  const style = { style: 'currency', currency: code } as const;
  const digits = new Intl.NumberFormat('en', style).resolvedOptions().maximumFractionDigits ?? 2;
  const text = String(Math.abs(cents)).padStart(digits + 1, '0');
  const whole = groupThousands(text.slice(0, text.length - digits));
  const fraction = digits === 0 ? '' : `.${text.slice(-digits)}`;
  return `${cents < 0 ? '-' : ''}${whole}${fraction} ${code}`;
}

function groupThousands(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
