// An invoice or a credit note as it was issued: a snapshot that is stored and never changes. What
// is shown of it, in any form, comes from here alone.

export interface Party {
  name: string | null;
  /** May have several lines. */
  address: string | null;
  country: string | null;
  tax_id: string | null;
  email: string | null;
}

/** Amounts are in minor units of the currency. */
export interface DocumentLine {
  description: string;
  /** Credits that it is for; null: a credit note says only what was paid back. */
  credits: number | null;
  amount_cents: number;
}

export interface IssuedDocument {
  kind: 'invoice' | 'credit_note';
  number: string;
  /** UTC, `2026-11-27`. */
  issued_on: string;
  purchase_id: string;
  paid_on: string;
  /** What a credit note corrects, and why; null: it is an invoice. */
  corrects: { number: string; reason: 'refund' | 'dispute' } | null;
  seller: Party;
  buyer: Party;
  /** Lower-case ISO 4217. */
  currency: string;
  lines: DocumentLine[];
  net_cents: number;
  tax_cents: number;
  total_cents: number;
}

/** What an invoice is made of. */
export interface InvoiceCause {
  purchaseId: string;
  /** How the package is called; null: it is gone. */
  packageName: string | null;
  creditsMicros: bigint;
  priceCents: bigint;
  taxCents: bigint;
  currency: string;
  paidAt: Date;
  buyer: Party;
}

/** What a credit note is made of: money that went back, taxes included. */
export interface CreditNoteCause {
  reason: 'refund' | 'dispute';
  amountCents: bigint;
  invoice: IssuedDocument;
}

interface Issue {
  number: string;
  issuedAt: Date;
  seller: Party;
}

const microsPerCredit = 1_000_000;

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function invoiceOf(
  cause: InvoiceCause,
  { number, issuedAt, seller }: Issue,
): IssuedDocument {
  const net = Number(cause.priceCents);
  const tax = Number(cause.taxCents);
  const credits = Number(cause.creditsMicros) / microsPerCredit;
  return {
    kind: 'invoice',
    number,
    issued_on: dayOf(issuedAt),
    purchase_id: cause.purchaseId,
    paid_on: dayOf(cause.paidAt),
    corrects: null,
    seller,
    buyer: cause.buyer,
    currency: cause.currency,
    lines: [{ description: cause.packageName ?? 'Credits', credits, amount_cents: net }],
    net_cents: net,
    tax_cents: tax,
    total_cents: net + tax,
  };
}

/** The tax goes back in the share in which it was paid, to the nearest minor unit. */
export function creditNoteOf(cause: CreditNoteCause, issue: Issue): IssuedDocument {
  const { reason, amountCents, invoice } = cause;
  const paid = BigInt(invoice.total_cents);
  const tax = (2n * amountCents * BigInt(invoice.tax_cents) + paid) / (2n * paid);
  const net = Number(amountCents - tax);
  const description = reason === 'refund' ? 'Refund' : 'Payment reversed after a dispute';
  return {
    ...invoice,
    kind: 'credit_note',
    number: issue.number,
    issued_on: dayOf(issue.issuedAt),
    corrects: { number: invoice.number, reason },
    seller: issue.seller,
    lines: [{ description, credits: null, amount_cents: net }],
    net_cents: net,
    tax_cents: Number(tax),
    total_cents: Number(amountCents),
  };
}
