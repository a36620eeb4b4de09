// Invoices and credit notes as JSON: the stored document.
import * as v from 'valibot';

const text = v.nullable(v.string());

const party = v.strictObject({
  name: text,
  address: text,
  country: text,
  tax_id: text,
  email: text,
});

export const documentSchema = v.pipe(
  v.strictObject({
    kind: v.picklist(['invoice', 'credit_note']),
    number: v.string(),
    issued_on: v.string(),
    purchase_id: v.string(),
    paid_on: v.string(),
    corrects: v.nullable(
      v.strictObject({ number: v.string(), reason: v.picklist(['refund', 'dispute']) }),
    ),
    seller: party,
    buyer: party,
    currency: v.string(),
    lines: v.array(
      v.strictObject({
        description: v.string(),
        credits: v.nullable(v.number()),
        amount_cents: v.number(),
      }),
    ),
    net_cents: v.number(),
    tax_cents: v.number(),
    total_cents: v.number(),
  }),
  v.title('IssuedDocument'),
);
