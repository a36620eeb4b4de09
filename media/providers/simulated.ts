// The models of the simulator that development mode has: one provider for each family, as each has
// its own prefix of paths and its own names (decisions.md, section 9).
import { anthropicMessages } from './generation/anthropic-messages/family.ts';
import type { UpstreamQuirks } from './generation/contract.ts';
import { gemini } from './generation/gemini/family.ts';
import { openaiChat } from './generation/openai-chat/family.ts';
import { openaiResponses } from './generation/openai-responses/family.ts';
import { type SimulatedAudioModel, simulatedAudioProviders } from './simulated-audio.ts';
import { type SimulatedVideoModel, simulatedVideoProviders } from './simulated-video.ts';

type Capability = 'chat' | 'tools' | 'vision' | 'structured_output' | 'web_search' | 'reasoning';

export interface NamedModel {
  alias: string;
  displayName: string;
  upstreamModel: string;
}

export interface SimulatedTextModel extends NamedModel {
  kind: 'generation';
  /** Costs twice as much from 1,001 input tokens. */
  tiered: boolean;
  capabilities: readonly Capability[];
}

export type SimulatedModel = SimulatedTextModel | SimulatedAudioModel | SimulatedVideoModel;

export interface SimulatedProvider {
  name: string;
  family: string;
  /** Version prefix below the simulator's address. */
  basePath: string;
  quirks: Partial<UpstreamQuirks>;
  models: readonly SimulatedModel[];
}

export const simulatedProviders: readonly SimulatedProvider[] = [
  {
    name: 'simulator',
    family: openaiChat.name,
    basePath: '/v1',
    quirks: { obfuscationSwitch: true },
    models: [
      {
        alias: 'svc-sim-chat',
        displayName: 'Simulated chat',
        upstreamModel: 'simulated-chat-large-2026-01-15',
        kind: 'generation',
        tiered: false,
        capabilities: ['chat', 'tools', 'vision', 'structured_output', 'reasoning'],
      },
      {
        alias: 'svc-sim-tiered',
        displayName: 'Simulated tiers',
        upstreamModel: 'simulated-chat-tiered-2026-01-15',
        kind: 'generation',
        tiered: true,
        capabilities: ['chat', 'tools', 'vision', 'structured_output', 'reasoning'],
      },
    ],
  },
  {
    name: 'simulator-gemini',
    family: gemini.name,
    basePath: '/v1beta',
    quirks: {},
    models: [
      {
        alias: 'svc-sim-gemini',
        displayName: 'Simulated Gemini',
        upstreamModel: 'simulated-gemini-large-2026-01-15',
        kind: 'generation',
        tiered: false,
        capabilities: ['chat', 'tools', 'vision', 'structured_output', 'web_search', 'reasoning'],
      },
    ],
  },
  {
    name: 'simulator-responses',
    family: openaiResponses.name,
    basePath: '/v1',
    quirks: { obfuscationSwitch: true },
    models: [
      {
        alias: 'svc-sim-responses',
        displayName: 'Simulated responses',
        upstreamModel: 'simulated-responses-large-2026-01-15',
        kind: 'generation',
        tiered: false,
        capabilities: ['chat', 'tools', 'vision', 'structured_output', 'web_search', 'reasoning'],
      },
    ],
  },
  {
    name: 'simulator-messages',
    family: anthropicMessages.name,
    basePath: '/v1',
    quirks: {},
    models: [
      {
        alias: 'svc-sim-messages',
        displayName: 'Simulated messages',
        upstreamModel: 'simulated-messages-large-2026-01-15',
        kind: 'generation',
        tiered: false,
        capabilities: ['chat', 'tools', 'vision', 'structured_output', 'web_search', 'reasoning'],
      },
    ],
  },
  ...simulatedAudioProviders,
  ...simulatedVideoProviders,
];
