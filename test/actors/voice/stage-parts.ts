// What voice is made of on a stage: one model with its prices, and limits that tests choose.
import type { CatalogModel } from '../../../actors/catalog/model.ts';
import { createLimits, type Limits } from '../../../actors/limits.ts';
import { compileCard } from '../../../actors/wallet/price.ts';
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import { readConfig } from '../../../runtime/config.ts';
import { searchSurface } from '../../harness/search-surface.ts';

/** One token of each kind costs 100, 10, 200 and 20 microcredits x 1.05. */
const card = compileCard(
  {
    audio_input: '1.00',
    text_input: '0.10',
    audio_output: '2.00',
    text_output: '0.20',
    per_search_call: '0.001',
  },
  '100',
);

export const target: UpstreamTarget = {
  routeId: 'fake/voice',
  family: 'fake',
  baseUrl: 'http://127.0.0.1:9',
  apiKey: null,
  upstreamModel: 'voice',
};

/** Where the sessions search. */
export const webSearch = searchSurface([]);

export function modelOf(targets: number): CatalogModel {
  return {
    alias: 'svc-voice-1',
    kind: 'voice',
    targets: Array.from({ length: targets }, (_, index) => ({
      ...target,
      routeId: `fake/voice-${index + 1}`,
    })),
    card,
    tokensPerSecondMax: { audioInput: 10, textInput: 10, audioOutput: 10, textOutput: 10 },
  } as unknown as CatalogModel;
}

export type ChosenLimits = Partial<
  Pick<Limits['voice'], 'secondsMax' | 'idleMs' | 'stalledMs' | 'uncoveredMs' | 'sessionsMax'>
>;

export function limitsOf(options: ChosenLimits): Limits {
  const base = createLimits(readConfig({}));
  const { stalledMs = base.voice.stalledMs, uncoveredMs = base.voice.uncoveredMs } = options;
  const { secondsMax = 100, idleMs = 60_000, sessionsMax = 100 } = options;
  const voice = { ...base.voice, secondsMax, idleMs, sessionsMax, stalledMs, uncoveredMs };
  return { ...base, voice };
}
