// What the calls of one analysis used together, as one `svc_usage`.
import type { SvcUsage } from '../../media/model/dialects/contract.ts';

/** In the order of the calls; null: there were none that were charged. */
export function usageOfCalls(calls: readonly SvcUsage[], alias: string): SvcUsage | null {
  const [first] = calls;
  if (first === undefined) return null;
  const sum = (member: (usage: SvcUsage) => number) =>
    calls.reduce((total, usage) => total + member(usage), 0);
  const all: SvcUsage = {
    request_id: first.request_id,
    model: alias,
    input_tokens: sum((usage) => usage.input_tokens),
    cached_input_tokens: sum((usage) => usage.cached_input_tokens),
    cache_write_tokens: sum((usage) => usage.cache_write_tokens),
    output_tokens: sum((usage) => usage.output_tokens),
    reasoning_tokens: sum((usage) => usage.reasoning_tokens),
    search_calls: sum((usage) => usage.search_calls),
    charge_microcredits: sum((usage) => usage.charge_microcredits),
    wallet_type: first.wallet_type,
    source: sourceOf(calls),
    credits_exhausted: calls.some((usage) => usage.credits_exhausted),
    replayed: false,
    simulated: calls.some((usage) => usage.simulated),
  };
  return all;
}

/** One estimate makes the sum one. */
function sourceOf(calls: readonly SvcUsage[]): SvcUsage['source'] {
  if (calls.some(({ source }) => source === 'estimated')) return 'estimated';
  return calls.some(({ source }) => source === 'reported') ? 'reported' : 'none';
}
