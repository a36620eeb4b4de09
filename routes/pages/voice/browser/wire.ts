// svc.voice.v1 as the page speaks it: audio formats, messages of the server, and their reading.
// What the server may add later is ignored.

export const INPUT_RATE_HZ = 16_000;
export const OUTPUT_RATE_HZ = 24_000;
/** 512 samples, 32 ms. */
export const FRAME_SAMPLES = 512;
export const PROTOCOL = 'svc.voice.v1';

export type SpeechState = 'connecting' | 'listening' | 'thinking' | 'speaking';
export type Role = 'user' | 'assistant';

export interface ContextMessage {
  role: Role;
  content: string;
}

export type ServerEvent =
  | {
      type: 'session.ready';
      session_id: string;
      voice_id: string;
      continuation_token: string | null;
      max_duration_seconds: number;
    }
  | { type: 'status'; state: SpeechState }
  | { type: 'transcript'; role: Role; text: string; final: boolean; delta: boolean }
  | { type: 'playback.clear' }
  | { type: 'tool'; id: string; name: string; state: 'started' | 'completed' | 'failed' }
  | { type: 'error'; code: string; message: string; retryable: boolean; fatal: boolean }
  | { type: 'session.ended'; reason: string; renewable: boolean };

const known = new Set([
  'session.ready',
  'status',
  'transcript',
  'playback.clear',
  'tool',
  'error',
  'session.ended',
]);

/** One text message of the server; null when it is of a kind that this page does not know. */
export function readServerEvent(text: string): ServerEvent | null {
  try {
    const message = JSON.parse(text) as ServerEvent;
    return known.has(message.type) ? message : null;
  } catch {
    return null;
  }
}

/** Why a session ended, for people. */
const endings: Readonly<Record<string, string>> = {
  client_end: 'The conversation has ended.',
  max_duration: 'The longest time for one connection is over.',
  idle_timeout: 'It was quiet for a while, so the conversation has ended.',
  credits_exhausted: 'The credits of this account are used up.',
  server_draining: 'The server is being restarted.',
  upstream_closed: 'The voice provider closed the connection.',
  error: 'Something went wrong on the server.',
};

export function endingText(reason: string): string {
  return endings[reason] ?? 'The conversation has ended.';
}

/** Fatal errors by code, for people; the server's own words where there are none here. */
const failures: Readonly<Record<string, string>> = {
  insufficient_credits: 'There are not enough credits on this account for a conversation.',
  unknown_voice: 'This voice is no longer available. Choose another one.',
  start_timeout: 'The connection was too slow to start.',
  slow_consumer: 'The connection was too slow for the voice.',
  upstream_error: 'The voice provider does not answer at the moment.',
};

export function failureText(code: string, message: string): string {
  return failures[code] ?? message;
}
