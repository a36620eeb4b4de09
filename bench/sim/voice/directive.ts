// What a live session may be asked for: the keys of `../directive.ts` that make sense for speech,
// and the faults of its own. The last text of a session that holds a directive decides.
import { type Directive, directiveEntries, parseDirective } from '../directive.ts';

const voiceFaults = [
  'no_usage',
  'zero_usage',
  'late_usage',
  'early_done',
  'duplicate_id',
  'error',
  'failed',
  'incomplete',
  'cut',
  'close',
  'stall',
  'garbage',
  'goaway',
  'goaway_silence',
  'late_deltas',
  'truncate_rejected',
  'late_transcript',
  'transcript_failed',
  'connect_stall',
] as const;

export type VoiceFault = (typeof voiceFaults)[number];

export interface VoiceDirective {
  /** Keys that every family knows; its `fault` is not read here. */
  base: Directive;
  faults: ReadonlySet<VoiceFault>;
  /** The answer that faults hit, from 1; null: every one. */
  turn: number | null;
  /** Length of the spoken answer. */
  answerMs: number;
  /** How late what is late comes. */
  lateMs: number;
  /** From going away to the close. */
  leftMs: number;
  /** Going away comes by itself, so long after the set-up; null: at delta `at` of an answer. */
  afterMs: number | null;
  /** Of a close that was asked for. */
  closeCode: number;
  /** The turn is over when its audio would have been played, where a format has that. */
  playback: boolean;
}

export const voiceDefaults: Readonly<VoiceDirective> = Object.freeze({
  base: parseDirective(''),
  faults: new Set<VoiceFault>(),
  turn: null,
  answerMs: 2000,
  lateMs: 300,
  leftMs: 50_000,
  afterMs: null,
  closeCode: 1011,
  playback: true,
});

const answerMsMax = 600_000;

/** Null: the text holds no directive. */
export function parseVoiceDirective(text: string): VoiceDirective | null {
  const entries = directiveEntries(text);
  if (entries === null) return null;
  const directive: VoiceDirective = { ...voiceDefaults, base: parseDirective(text) };
  for (const [key, value] of entries) {
    if (Object.hasOwn(readers, key)) readers[key]?.(directive, value);
  }
  return directive;
}

type Reader = (directive: VoiceDirective, value: string) => void;

const readers: Readonly<Record<string, Reader>> = {
  fault: (directive, value) => {
    const named = value.split(',');
    directive.faults = new Set(voiceFaults.filter((fault) => named.includes(fault)));
  },
  turn: (directive, value) => {
    directive.turn = numberOf(value, 1_000_000) ?? null;
  },
  seconds: (directive, value) => {
    directive.answerMs = Math.round((numberOf(value, answerMsMax / 1000) ?? 2) * 1000);
  },
  late_ms: (directive, value) => {
    directive.lateMs = numberOf(value, 600_000) ?? voiceDefaults.lateMs;
  },
  left_ms: (directive, value) => {
    directive.leftMs = numberOf(value, 3_600_000) ?? voiceDefaults.leftMs;
  },
  after_ms: (directive, value) => {
    directive.afterMs = numberOf(value, 3_600_000) ?? null;
  },
  code: (directive, value) => {
    const code = numberOf(value, 4999) ?? 0;
    directive.closeCode = code >= 1000 ? code : voiceDefaults.closeCode;
  },
  playback: (directive, value) => {
    directive.playback = value !== '0';
  },
};

function numberOf(value: string, max: number): number | undefined {
  return /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Math.min(Number(value), max) : undefined;
}
