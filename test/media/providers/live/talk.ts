// A conversation with the simulator through a live call: speech as tones, what was heard, and what
// the simulator says that it was told.
import assert from 'node:assert/strict';
import type { RunningSim } from '../../../../bench/sim/server.ts';
import { openLiveCall } from '../../../../media/providers/live/call.ts';
import type { LiveCall, LiveEvent, LiveSetup } from '../../../../media/providers/live/contract.ts';
import { requireLiveFamily } from '../../../../media/providers/live/families.ts';
import { framesOf, spoken } from '../../../bench/sim/voice-probe.ts';
import { plainSetup } from './streams.ts';
import { Listener } from './upstream.ts';

export interface Talk {
  call: LiveCall;
  listener: Listener;
  /** A tone of 400 ms and the silence that ends a turn, all at once. */
  say(pitchHz: number): void;
  /** What was reported since `from`. */
  audio(from?: number): Buffer;
  text(role: 'user' | 'assistant'): string[];
  count(type: LiveEvent['type']): number;
}

export interface TalkOptions {
  directive?: string;
  setup?: Partial<LiveSetup>;
  apiKey?: string;
  model?: string;
  connectMs?: number;
}

const models: Record<string, string> = {
  'openai-realtime': 'sim-realtime-2026',
  'gemini-live': 'sim-live-2026-native-audio',
};

export function dial(sim: RunningSim, familyName: string, options: TalkOptions = {}): Talk {
  const family = requireLiveFamily(familyName);
  const { directive, setup = {}, apiKey = 'right', model = models[familyName] } = options;
  const { connectMs = 30_000 } = options;
  assert.ok(model !== undefined);
  const version = familyName === 'gemini-live' ? 'v1beta' : 'v1';
  const baseUrl = `http://127.0.0.1:${sim.port}/${version}`;
  const listener = new Listener();
  const instructions = directive === undefined ? 'Be brief.' : `[[sim ${directive}]]`;
  const call = openLiveCall(
    family,
    {
      ...plainSetup,
      voice: familyName === 'gemini-live' ? 'Puck' : 'marin',
      instructions,
      ...setup,
    },
    { routeId: 'r1', family: familyName, baseUrl, apiKey, upstreamModel: model },
    { connectMs, readyMs: 30_000 },
    listener,
  );
  return {
    call,
    listener,
    say: (pitchHz) => {
      const pcm = spoken(pitchHz, 400, family.inputRateHz);
      for (const frame of framesOf(pcm, family.inputRateHz)) assert.ok(call.audio(frame));
    },
    audio: (from = 0) => Buffer.concat(listener.told.slice(from).flatMap(pcmOf)),
    text: (role) => listener.told.flatMap((event) => finalText(event, role)),
    count: (type) => listener.types.filter((told) => told === type).length,
  };
}

export async function begin(sim: RunningSim, family: string, options?: TalkOptions): Promise<Talk> {
  const talk = dial(sim, family, options);
  await talk.listener.until('ready');
  return talk;
}

function pcmOf(event: LiveEvent): Uint8Array[] {
  return event.type === 'audio' ? [event.pcm] : [];
}

function finalText(event: LiveEvent, role: 'user' | 'assistant'): string[] {
  return event.type === 'transcript' && event.final && event.role === role ? [event.text] : [];
}

/** What the newest session of the simulator was sent. */
export async function seenBy(sim: RunningSim): Promise<Record<string, unknown>> {
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/voice`);
  const { newest, ended } = (await reply.json()) as Record<string, Record<string, unknown> | null>;
  return newest ?? ended ?? {};
}

/** A directive for the next connection, in its upgrade. */
export async function arm(sim: RunningSim, directive: string): Promise<void> {
  const body = JSON.stringify({ directive, connections: 1 });
  await fetch(`http://127.0.0.1:${sim.port}/sim/voice`, { method: 'POST', body });
}
