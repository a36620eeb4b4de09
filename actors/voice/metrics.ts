// What a thread counts of voice sessions.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

const START_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface VoiceMetrics {
  /** From the handshake to `session.ready`. */
  started(seconds: number): void;
  ended(reason: string): void;
  /** A handshake or a start was refused. */
  refused(code: string): void;
}

/** Counters since the start of the thread; `lagMs` is the most that a client was behind. */
export interface VoiceFigures {
  sessions: number;
  framesIn: number;
  framesDropped: number;
  messagesOut: number;
  bargeIns: number;
  lagMs: number;
}

/** Declares them in the registry of the thread. */
export function createVoiceMetrics(registry: MetricsRegistry): VoiceMetrics {
  const started = registry.histogram({
    name: 'tollgate_voice_start_seconds',
    help: 'From the handshake of a voice session to its session.ready.',
    bounds: START_SECONDS,
  });
  return {
    started: (seconds) => started.observe(seconds),
    ended: registry.counter('tollgate_voice_sessions_total', 'Ended voice sessions.', ['reason']),
    refused: registry.counter(
      'tollgate_voice_refusals_total',
      'Handshakes and starts of voice sessions that were refused.',
      ['code'],
    ),
  };
}

/** Live figures of the thread's sessions, read at each collection. */
export function watchVoice(registry: MetricsRegistry, read: () => VoiceFigures): void {
  registry.watch([
    ['tollgate_voice_sessions', 'Voice sessions that are open.', () => read().sessions],
    ['tollgate_voice_frames', 'Frames of audio that clients sent.', () => read().framesIn],
    ['tollgate_voice_frames_dropped', 'Frames that were dropped.', () => read().framesDropped],
    ['tollgate_voice_messages_out', 'Messages of audio sent to clients.', () => read().messagesOut],
    ['tollgate_voice_barge_ins', 'Interruptions by clients.', () => read().bargeIns],
    ['tollgate_voice_lag_milliseconds', 'The most that a client was behind.', () => read().lagMs],
  ]);
}
