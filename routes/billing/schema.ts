// The schema of the billing summary, and what else has its members.
import * as v from 'valibot';
import { lineKinds } from '../../db/billing/ledger.ts';
import { packageSchema } from '../discovery/offers.ts';
import { purchaseSchema } from '../purchases/schema.ts';
import { exact, micros } from './micros.ts';
import { autoTopUpSchema } from './settings-body.ts';

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

/** What was settled of something. */
const usageEntries = {
  requests: count,
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  charge_microcredits: micros,
  charge_exact: exact,
};

export const ledgerLineSchema = v.strictObject({
  kind: v.picklist(lineKinds),
  amount_microcredits: micros,
  amount_exact: exact,
  reference: v.nullable(v.string()),
  at: moment,
});

export const billingSummarySchema = v.strictObject({
  ok: v.literal(true),
  wallet: v.nullable(v.strictObject(walletEntries)),
  grants: v.array(grantSchema),
  reservations: v.strictObject({
    active: v.array(reservationSchema),
    released: v.array(v.strictObject({ ...reservation, reason: v.string(), released_at: moment })),
  }),
  usage: v.array(v.strictObject({ model: v.string(), ...usageEntries })),
  usage_by_day: v.array(v.strictObject({ day: v.string(), ...usageEntries })),
  usage_by_key: v.array(v.strictObject({ api_key_id: v.nullable(v.string()), ...usageEntries })),
  usage_since: moment,
  debt_microcredits: micros,
  debt_exact: exact,
  packages: v.array(packageSchema),
  purchases: v.array(purchaseSchema),
  auto_top_up: autoTopUpSchema,
});
