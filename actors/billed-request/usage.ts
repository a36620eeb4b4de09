// `svc_usage`: what a billed request is told of its usage, and what is stored of it.
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import type { TokenUsage, UsageSource } from '../../media/model/usage.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Payment } from './fallback.ts';

/** The request that used it, and how it was cut short. */
interface UsageState {
  exhausted: boolean;
  payment: Pick<Payment, 'walletType'>;
  spec: { id: string; alias: string };
  model: Pick<CatalogModel, 'simulated'>;
}

/** What a request is told of its usage, and is stored of it. */
export function svcUsageOf(
  state: UsageState,
  usage: TokenUsage,
  source: UsageSource,
  chargeMicros: bigint,
): SvcUsage {
  const told: SvcUsage = {
    request_id: state.spec.id,
    model: state.spec.alias,
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    search_calls: usage.searchCalls,
    charge_microcredits: Number(chargeMicros),
    wallet_type: state.payment.walletType,
    source,
    credits_exhausted: state.exhausted,
    replayed: false,
    simulated: state.model.simulated,
  };
  if (usage.toolCalls !== undefined) told.tool_calls = usage.toolCalls;
  return told;
}

/** What is stored of a query: figures, and nothing of what was asked or found. */
export interface StoredQuery {
  surface: string;
  state: string;
  items: number;
  attempts: number;
  /** The route that answered; null: none. */
  target: string | null;
  hit: boolean;
  milliseconds: number;
  /** The digest of the reply, as hex. */
  sha256: string;
}

/** What is stored beside it of a request that is charged by time, by characters or by itself. */
export type StoredUsage = SvcUsage & {
  milliseconds?: number;
  characters?: number;
  query?: StoredQuery;
};

/** What is told of stored usage. */
export function toldUsage({ milliseconds, characters, query, ...told }: StoredUsage): SvcUsage {
  return told;
}
