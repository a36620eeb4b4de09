// Public providers that development mode registers when their key is in the environment, each with
// the family that speaks its format, at the list prices of their price pages.
import { anthropicMessages } from './generation/anthropic-messages/family.ts';
import type { UpstreamQuirks } from './generation/contract.ts';
import { gemini } from './generation/gemini/family.ts';
import { openaiResponses } from './generation/openai-responses/family.ts';

export interface KnownModel {
  upstreamModel: string;
  displayName: string;
  contextWindow: number;
  outputTokensMax: number;
  reasons: boolean;
  /** US dollars per million tokens, and for a search: the dearest of the provider's own. */
  price: {
    input_per_million: string;
    cached_input_per_million: string;
    cache_write_per_million?: string;
    cache_write_1h_per_million?: string;
    per_search_call: string;
    output_per_million: string;
  };
}

export interface KnownProvider {
  name: string;
  family: string;
  baseUrl: string;
  quirks: Partial<UpstreamQuirks>;
  models: KnownModel[];
}

const knownProviders: Record<'openai' | 'anthropic' | 'gemini', KnownProvider> = {
  openai: {
    name: 'openai',
    family: openaiResponses.name,
    baseUrl: 'https://api.openai.com/v1',
    quirks: { obfuscationSwitch: true, outputCeiling: 'max_completion_tokens' },
    models: [
      {
        upstreamModel: 'gpt-4.1',
        displayName: 'GPT-4.1',
        contextWindow: 1_047_576,
        outputTokensMax: 32_768,
        reasons: false,
        price: {
          input_per_million: '2.00',
          cached_input_per_million: '0.50',
          output_per_million: '8.00',
          per_search_call: '0.025',
        },
      },
      {
        upstreamModel: 'gpt-4.1-mini',
        displayName: 'GPT-4.1 mini',
        contextWindow: 1_047_576,
        outputTokensMax: 32_768,
        reasons: false,
        price: {
          input_per_million: '0.40',
          cached_input_per_million: '0.10',
          output_per_million: '1.60',
          per_search_call: '0.025',
        },
      },
    ],
  },
  anthropic: {
    name: 'anthropic',
    family: anthropicMessages.name,
    baseUrl: 'https://api.anthropic.com/v1',
    quirks: {},
    models: [
      {
        upstreamModel: 'claude-sonnet-4-5',
        displayName: 'Claude Sonnet 4.5',
        contextWindow: 200_000,
        outputTokensMax: 64_000,
        reasons: true,
        price: {
          input_per_million: '3.00',
          cached_input_per_million: '0.30',
          cache_write_per_million: '3.75',
          cache_write_1h_per_million: '6.00',
          output_per_million: '15.00',
          per_search_call: '0.01',
        },
      },
    ],
  },
  gemini: {
    name: 'gemini',
    family: gemini.name,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    quirks: {},
    models: [
      {
        upstreamModel: 'gemini-2.5-flash',
        displayName: 'Gemini 2.5 Flash',
        contextWindow: 1_048_576,
        outputTokensMax: 65_535,
        reasons: true,
        price: {
          input_per_million: '0.30',
          cached_input_per_million: '0.075',
          output_per_million: '2.50',
          per_search_call: '0.035',
        },
      },
    ],
  },
};

/** The credentials of development mode, as the configuration has them. */
export interface KnownKeys {
  openaiKey: string | null;
  anthropicKey: string | null;
  geminiKey: string | null;
}

/** The known providers whose key is set, each with its key. */
export function providersWithKeys(keys: KnownKeys): { provider: KnownProvider; apiKey: string }[] {
  const pairs = [
    [knownProviders.openai, keys.openaiKey],
    [knownProviders.anthropic, keys.anthropicKey],
    [knownProviders.gemini, keys.geminiKey],
  ] as const;
  return pairs.flatMap(([provider, apiKey]) => (apiKey === null ? [] : [{ provider, apiKey }]));
}
