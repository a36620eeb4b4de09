// The schema of the billing summary. Amounts are microcredits: JSON integers, which every wallet's
// constraint keeps below 2^53, and beside each the same digits as a string.
import * as v from 'valibot';

export const micros = v.pipe(v.number(), v.integer());
export const exact = v.pipe(v.string(), v.regex(/^-?\d+$/));
const moment = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const reservation = { id: v.string(), amount_microcredits: micros, amount_exact: exact };

/** What a wallet has: the members that every form of it begins with. */
export const walletEntries = {
  id: v.string(),
  type: v.picklist(['personal', 'organization']),
  balance_microcredits: micros,
  balance_exact: exact,
  available_microcredits: micros,
  available_exact: exact,
  held_microcredits: micros,
  held_exact: exact,
  balance_credits: v.number(),
};

export const grantSchema = v.strictObject({
  id: v.string(),
  kind: v.picklist(['promotion', 'purchase']),
  note: v.string(),
  amount_microcredits: micros,
  amount_exact: exact,
  remaining_microcredits: micros,
  remaining_exact: exact,
  expires_at: v.nullable(moment),
  created_at: moment,
});

export const reservationSchema = v.strictObject({
  ...reservation,
  request_id: v.string(),
  created_at: moment,
  expires_at: moment,
});

export const billingSummarySchema = v.strictObject({
  ok: v.literal(true),
  wallet: v.strictObject(walletEntries),
  grants: v.array(grantSchema),
  reservations: v.strictObject({
    active: v.array(reservationSchema),
    released: v.array(v.strictObject({ ...reservation, reason: v.string(), released_at: moment })),
  }),
  usage: v.array(
    v.strictObject({
      model: v.string(),
      requests: count,
      input_tokens: count,
      cached_input_tokens: count,
      cache_write_tokens: count,
      output_tokens: count,
      reasoning_tokens: count,
      charge_microcredits: micros,
      charge_exact: exact,
    }),
  ),
  packages: v.array(
    v.strictObject({
      slug: v.string(),
      name: v.string(),
      credits: count,
      price_usd: v.string(),
    }),
  ),
  purchases: v.array(
    v.strictObject({
      id: v.string(),
      package_id: v.string(),
      status: v.picklist(['pending', 'completed', 'failed']),
      credits_microcredits: micros,
      credits_exact: exact,
      price_cents: count,
      currency: v.string(),
      created_at: moment,
    }),
  ),
});
