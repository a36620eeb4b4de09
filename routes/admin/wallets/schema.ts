// A wallet and its journal as administrators see them.
import * as v from 'valibot';
import type { JournalEntry, ListedWallet } from '../../../db/journal.ts';
import { entryKinds } from '../../../db/wallets.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { amount, walletBody } from '../../billing/amounts.ts';
import { exact, micros } from '../../billing/micros.ts';
import { walletEntries } from '../../billing/schema.ts';

/** As an administrator names a grant or a debit, once in the whole service. */
export const newOperationId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._:-]{1,80}$/, 'expected 1 to 80 letters, digits, dots, colons, _ and -'),
);

/** A million credits at once: more is a typing error. */
const givenMicrosMax = 1_000_000_000_000;

/** What is granted or taken at once. */
export const givenMicros = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(givenMicrosMax),
);

export const walletParams = v.strictObject({
  wallet_id: lineOfText(100),
});

export const walletSchema = v.pipe(
  v.strictObject({ ...walletEntries, account_id: v.string(), created_at: v.string() }),
  v.title('AdminWallet'),
);

export function adminWalletBody(wallet: ListedWallet): Record<string, unknown> {
  return {
    ...walletBody(wallet),
    account_id: wallet.accountId,
    created_at: wallet.createdAt.toISOString(),
  };
}

const legNames = [
  'wallet',
  'held',
  'revenue',
  'provider_cost',
  'promotion',
  'purchase',
  'shortfall',
] as const;

export const entrySchema = v.strictObject({
  operation_id: v.string(),
  kind: v.picklist(entryKinds),
  reason: v.nullable(v.string()),
  at: v.string(),
  ...(Object.fromEntries(
    legNames.flatMap((name) => [
      [`${name}_microcredits`, micros],
      [`${name}_exact`, exact],
    ]),
  ) as Record<string, typeof micros>),
});

export function entryBody(entry: JournalEntry): Record<string, unknown> {
  return {
    operation_id: entry.operationId,
    kind: entry.kind,
    reason: entry.reason,
    at: entry.at.toISOString(),
    ...amount('wallet', entry.walletMicros),
    ...amount('held', entry.heldMicros),
    ...amount('revenue', entry.revenueMicros),
    ...amount('provider_cost', entry.providerCostMicros),
    ...amount('promotion', entry.promotionMicros),
    ...amount('purchase', entry.purchaseMicros),
    ...amount('shortfall', entry.shortfallMicros),
  };
}
