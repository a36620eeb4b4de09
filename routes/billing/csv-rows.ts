// The columns of exports: their headers, and what of a row stands under them. A column is added at
// the end, so that what reads them by place goes on.
import type { LedgerLine } from '../../db/billing/ledger.ts';
import type { Purchase } from '../../db/purchases.ts';
import type { UsageLine } from '../../db/usage.ts';
import type { Cell } from './csv.ts';

export const usageHeader = [
  ...['day', 'model', 'api_key_id', 'kind', 'requests', 'failed', 'input_tokens'],
  ...['cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'],
  ...['search_calls', 'seconds', 'characters', 'charge_credits'],
];
export const ledgerHeader = ['at', 'kind', 'reference', 'amount_credits'];
export const purchasesHeader = [
  ...['created_at', 'id', 'status', 'package_id', 'credits', 'price_cents', 'currency'],
];

export function usageCells(line: UsageLine): Cell[] {
  return [
    line.day,
    line.model,
    line.apiKeyId,
    line.kind,
    Number(line.requests),
    Number(line.failed),
    Number(line.input_tokens),
    Number(line.cached_input_tokens),
    Number(line.cache_write_tokens),
    Number(line.output_tokens),
    Number(line.reasoning_tokens),
    Number(line.search_calls),
    Number(line.milliseconds) / 1_000,
    Number(line.characters),
    line.charge_micros,
  ];
}

export function purchaseCells(row: Purchase): Cell[] {
  return [
    row.createdAt.toISOString(),
    row.id,
    row.status,
    row.packageId,
    row.creditsMicros,
    Number(row.priceCents),
    row.currency,
  ];
}

export function ledgerCells({ at, kind, reference, amountMicros }: LedgerLine): Cell[] {
  return [at.toISOString(), kind, reference, amountMicros];
}
