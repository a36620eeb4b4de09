// A model of the catalog as shards use it, and as the public sees it.
import type { VideoAbilities } from '../../media/model/video.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { ModelKind } from '../../media/providers/model-kinds.ts';
import type { VideoTarget } from '../../media/providers/video/contract.ts';
import type { CompiledCard } from '../wallet/price.ts';
import type { PublicUnitRates } from '../wallet/public-rates.ts';
import type { PublicVideoMembers } from './video.ts';

/** One line of the public catalog (specification 2.9; decisions.md, section 8). */
export interface PublicModel extends PublicUnitRates, PublicVideoMembers {
  alias: string;
  display_name: string;
  provider: string;
  /** Somebody is there to run it: of its providers one is enabled. */
  available: boolean;
  supports_streaming: boolean;
  credits_per_million_input: number | null;
  credits_per_million_cached_input: number | null;
  credits_per_million_output: number | null;
  pricing_tiers: {
    min_input_tokens: number;
    credits_per_million_input: number | null;
    credits_per_million_cached_input: number | null;
    credits_per_million_output: number | null;
  }[];
  capabilities: string[];
  context_window: number;
  /** Prices of tools that the provider runs, by type; absent where there is none. */
  credits_per_tool_call?: Record<string, number>;
}

/** The most that a second of a voice session may use, in tokens. */
export interface TokensPerSecond {
  audioInput: number;
  textInput: number;
  audioOutput: number;
  textOutput: number;
}

/** Unix seconds of when a record was made, for `created` in model lists. */
export type CreationTime = (kind: 'models' | 'routes', name: string) => number;

export interface CatalogModel {
  alias: string;
  /** Unix seconds. */
  createdAt: number;
  kind: ModelKind;
  targets: UpstreamTarget[];
  card: CompiledCard;
  outputTokensMax: number;
  contextWindow: number;
  capabilities: string[];
  /** Types of the tools that its provider may run and bill beside tokens, without versions. */
  hostedTools: string[];
  /** Upstream names by the voices that callers name; empty where there are none. */
  voices: Record<string, string>;
  /** Voice models only. */
  tokensPerSecondMax: TokensPerSecond | null;
  /** Video models only. The targets are those of `targets`, with what video needs of them. */
  video: { abilities: VideoAbilities; targets: VideoTarget[] } | null;
  simulated: boolean;
  public: PublicModel;
}
