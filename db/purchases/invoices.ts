// Invoices and credit notes, and what waits for one. A number is taken in the transaction of its
// document: none is left out, whatever ends the process, and each cause has one document. What
// stands in a document is its maker's affair (`media/documents/document.ts`).
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';

/** Somebody as a document names them. */
export interface PartyRow {
  name: string | null;
  /** May have several lines. */
  address: string | null;
  country: string | null;
  tax_id: string | null;
  email: string | null;
}

/** Who sells, and what the numbers of its documents begin with. */
export interface SellerRow extends PartyRow {
  invoice_prefix: string;
}

/** Who sells, as the settings of billing name it; null: they name nobody. */
export async function findSeller(sql: Queryable): Promise<SellerRow | null> {
  const [row] = await sql<{ seller: (Partial<PartyRow> & { invoice_prefix: string }) | null }[]>`
    SELECT definition -> 'seller' AS seller FROM billing WHERE name = 'settings'`;
  const seller = row?.seller ?? null;
  if (seller === null) return null;
  return { ...partyOf(seller), invoice_prefix: seller.invoice_prefix };
}

function partyOf(given: Partial<PartyRow>): PartyRow {
  const { name = null, address = null, country = null, tax_id = null, email = null } = given;
  return { name, address, country, tax_id, email };
}

/** What a document is for. */
interface Due {
  purchaseId: string;
  accountId: string;
}

export interface PurchaseToInvoice extends Due {
  /** How the package is called; null: it is gone. */
  packageName: string | null;
  creditsMicros: bigint;
  /** In minor units of the currency, without the tax. */
  priceCents: bigint;
  taxCents: bigint;
  currency: string;
  paidAt: Date;
  buyer: PartyRow;
}

/** Completed purchases that cost money and have no invoice, the oldest first. */
export async function listPurchasesToInvoice(
  sql: Queryable,
  limit: number,
): Promise<PurchaseToInvoice[]> {
  type Row = Omit<PurchaseToInvoice, 'buyer'> & {
    profile: Partial<PartyRow>;
    email: string | null;
  };
  const rows = await sql<Row[]>`
    SELECT p.id AS "purchaseId", p.account_id AS "accountId",
      k.definition ->> 'name' AS "packageName", p.credits_micros AS "creditsMicros",
      p.price_cents AS "priceCents", p.tax_cents AS "taxCents", p.currency,
      coalesce(p.paid_at, p.completed_at) AS "paidAt", coalesce(s.profile, '{}') AS profile, a.email
    FROM purchases p JOIN accounts a ON a.id = p.account_id
    LEFT JOIN packages k ON k.name = p.package_id
    LEFT JOIN billing_settings s ON s.account_id = p.account_id
    WHERE p.invoice_number IS NULL AND p.completed_at IS NOT NULL AND p.price_cents > 0
    ORDER BY p.completed_at, p.id LIMIT ${limit}`;
  return rows.map(({ profile, email, ...purchase }) => {
    const named = partyOf({ ...profile, email });
    const isNobody = named.name === null && email === null;
    return { ...purchase, buyer: isNobody ? { ...named, name: purchase.accountId } : named };
  });
}

export interface FactToCredit<D extends object> extends Due {
  provider: string;
  objectId: string;
  kind: 'refund' | 'dispute';
  /** Taxes included. */
  amountCents: bigint;
  /** What it corrects. */
  invoice: D;
}

/** Money that went back of what has an invoice, without a credit note, the oldest first. */
export async function listFactsToCredit<D extends object>(
  sql: Queryable,
  limit: number,
): Promise<FactToCredit<D>[]> {
  return sql<FactToCredit<D>[]>`
    SELECT f.provider, f.object_id AS "objectId", f.kind, f.amount_cents AS "amountCents",
      i.purchase_id AS "purchaseId", i.account_id AS "accountId", i.document AS invoice
    FROM payment_facts f JOIN invoices i ON i.cause = f.purchase_id
    WHERE f.credit_note_number IS NULL AND f.amount_cents > 0
      AND ((f.kind = 'refund' AND f.state = 'succeeded')
        OR (f.kind = 'dispute' AND f.state = 'lost'))
    ORDER BY f.opened_at, f.object_id LIMIT ${limit}`;
}

export interface Issue {
  prefix: string;
  issuedAt: Date;
  /** Makes the document, once its number is known. */
  make(number: string): object;
}

/** Issues the invoice of a purchase; its number, or null: it has one. */
export function issueInvoice(sql: Sql, due: Due, issue: Issue): Promise<string | null> {
  const { purchaseId } = due;
  const of = { ...due, kind: 'invoice', cause: purchaseId } as const;
  return issueOne(sql, of, issue, async (transaction, number) => {
    await transaction`UPDATE purchases SET invoice_number = ${number} WHERE id = ${purchaseId}`;
  });
}

/** Issues the credit note of a fact; its number, or null: it has one. */
export function issueCreditNote(
  sql: Sql,
  due: Due & Pick<FactToCredit<object>, 'provider' | 'objectId'>,
  issue: Issue,
): Promise<string | null> {
  const { provider, objectId } = due;
  const of = { ...due, kind: 'credit_note', cause: `${provider} ${objectId}` } as const;
  return issueOne(sql, of, issue, async (transaction, number) => {
    await transaction`
      UPDATE payment_facts SET credit_note_number = ${number}
      WHERE provider = ${provider} AND object_id = ${objectId}`;
  });
}

async function issueOne(
  sql: Sql,
  { kind, cause, purchaseId, accountId }: Due & { kind: 'invoice' | 'credit_note'; cause: string },
  { prefix, issuedAt, make }: Issue,
  note: (transaction: Transaction, number: string) => Promise<void>,
): Promise<string | null> {
  const year = issuedAt.getUTCFullYear();
  return sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO invoice_counters (prefix, year) VALUES (${prefix}, ${year})
      ON CONFLICT DO NOTHING`;
    // Whoever has the row numbers alone, and sees what others issued before.
    const [counter] = await transaction<{ last: number }[]>`
      UPDATE invoice_counters SET last = last + 1 WHERE prefix = ${prefix} AND year = ${year}
      RETURNING last`;
    const number = `${prefix}-${year}-${String(counter?.last).padStart(6, '0')}`;
    const document = JSON.stringify(make(number));
    const made = await transaction`
      INSERT INTO invoices (number, kind, cause, purchase_id, account_id, issued_at, document)
      VALUES (${number}, ${kind}, ${cause}, ${purchaseId}, ${accountId}, ${issuedAt},
        ${document}::text::jsonb)
      ON CONFLICT (cause) DO NOTHING RETURNING 1`;
    if (made.length > 0) {
      await note(transaction, number);
      return number;
    }
    await transaction`
      UPDATE invoice_counters SET last = last - 1 WHERE prefix = ${prefix} AND year = ${year}`;
    return null;
  });
}

/** The invoice of an account's purchase, or the document of it with this number; null: none. */
export async function findDocument<D extends object>(
  sql: Queryable,
  accountId: string,
  purchaseId: string,
  number: string | null,
): Promise<D | null> {
  const [row] = await sql<{ document: D }[]>`
    SELECT document FROM invoices
    WHERE purchase_id = ${purchaseId} AND account_id = ${accountId}
      AND CASE WHEN ${number}::text IS NULL THEN kind = 'invoice' ELSE number = ${number} END`;
  return row?.document ?? null;
}
