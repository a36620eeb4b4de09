// Server events of a voice session as JSON text (specification, 6.1). Every event has every field.
import type { SessionUsage } from '../../db/voice/sessions.ts';
import { cutText } from '../../runtime/http/text.ts';
import { voiceLimits } from './limits.ts';
import { billingUnits, publicUsage } from './tariff.ts';
import type { TurnState } from './turn.ts';

export const voiceProtocol = 'svc.voice.v1';

/** decisions.md, section 4. */
export type VoiceErrorCode =
  | 'invalid_start'
  | 'unknown_voice'
  | 'insufficient_credits'
  | 'invalid_continuation'
  | 'start_timeout'
  | 'invalid_message'
  | 'frame_rate_exceeded'
  | 'slow_consumer'
  | 'unauthenticated'
  | 'upstream_error'
  | 'internal';

export type EndReason =
  | 'client_end'
  | 'max_duration'
  | 'idle_timeout'
  | 'credits_exhausted'
  | 'server_draining'
  | 'upstream_closed'
  | 'error';

/** How the connection is closed after its end, and whether a new one may go on. */
export const endings: Readonly<Record<EndReason, { renewable: boolean; closeCode: number }>> = {
  client_end: { renewable: false, closeCode: 1000 },
  max_duration: { renewable: true, closeCode: 1000 },
  idle_timeout: { renewable: false, closeCode: 1000 },
  credits_exhausted: { renewable: false, closeCode: 1000 },
  server_draining: { renewable: true, closeCode: 1012 },
  upstream_closed: { renewable: true, closeCode: 1011 },
  error: { renewable: false, closeCode: 1011 },
};

export const inputAudio = { encoding: 'pcm_s16le', sample_rate_hz: 16_000, channels: 1 } as const;
export const outputAudio = { encoding: 'pcm_s16le', sample_rate_hz: 24_000, channels: 1 } as const;
export const frameBytes = voiceLimits.frameBytes;

export interface ReadyFacts {
  sessionId: string;
  model: string;
  voiceId: string;
  continuationToken: string;
  durationSecondsMax: number;
}

export function readyEvent(facts: ReadyFacts): string {
  return JSON.stringify({
    type: 'session.ready',
    protocol: voiceProtocol,
    session_id: facts.sessionId,
    mode: 'full',
    model: facts.model,
    voice_id: facts.voiceId,
    continuation_token: facts.continuationToken,
    input_audio: { ...inputAudio, frame_bytes: frameBytes },
    output_audio: outputAudio,
    max_duration_seconds: facts.durationSecondsMax,
  });
}

export function statusEvent(state: Exclude<TurnState, 'ended'>): string {
  return `{"type":"status","state":"${state}"}`;
}

export const clearEvent = '{"type":"playback.clear"}';

export function transcriptEvent(role: 'user' | 'assistant', text: string, final: boolean): string {
  return JSON.stringify({ type: 'transcript', role, text, final, delta: !final });
}

/** Longer ones are nonsense of the upstream; cut, they still belong together. */
const toolNameMax = 200;

export function toolEvent(
  id: string,
  name: string,
  state: 'started' | 'completed' | 'failed',
): string {
  const [shortId, shortName] = [cutText(id, toolNameMax), cutText(name, toolNameMax)];
  return JSON.stringify({ type: 'tool', id: shortId, name: shortName, state });
}

export interface VoiceError {
  code: VoiceErrorCode;
  message: string;
  retryable: boolean;
  fatal: boolean;
}

export function errorEvent({ code, message, retryable, fatal }: VoiceError): string {
  return JSON.stringify({ type: 'error', code, message, retryable, fatal });
}

export function endedEvent(reason: EndReason, usage: SessionUsage): string {
  const { renewable } = endings[reason];
  return JSON.stringify({
    type: 'session.ended',
    reason,
    renewable,
    reconnect: renewable,
    usage: publicUsage(usage),
    billing_units: billingUnits(usage),
  });
}
