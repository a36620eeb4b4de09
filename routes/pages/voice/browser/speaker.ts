// The loudspeaker: a context at 24 kHz whose worklet plays what is pushed, and an analyser behind
// it for whoever wants to look at what is heard.
import type { PlaybackOrder, PlaybackReport } from './playback-processor.ts';
import { OUTPUT_RATE_HZ } from './wire.ts';

export interface Speaker {
  readonly analyser: AnalyserNode;
  /** From the end of the buffer to the ear, as the browser knows it. */
  readonly deviceMs: number;
  push(pcm: ArrayBuffer): void;
  /** Silence, after a fade of 3 ms. */
  clear(): void;
  close(): void;
}

/** What went wrong, for people. */
export class SpeakerProblem extends Error {}

/** Devices wake up within a second or two; for one that is not there Firefox waits without end. */
const DEVICE_MS = 8_000;

/**
 * To be called from a user's gesture: browsers let no page speak unasked. Rejects with a
 * SpeakerProblem where there is nothing to play on.
 */
export async function openSpeaker(onReport: (report: PlaybackReport) => void): Promise<Speaker> {
  const context = new AudioContext({ sampleRate: OUTPUT_RATE_HZ, latencyHint: 'interactive' });
  try {
    await context.audioWorklet.addModule(new URL('./playback-processor.js', import.meta.url));
    await resume(context);
  } catch (error) {
    // A browser has few of them.
    void context.close();
    throw error;
  }
  const node = new AudioWorkletNode(context, 'playback', {
    numberOfInputs: 0,
    outputChannelCount: [1],
  });
  const analyser = new AnalyserNode(context, { fftSize: 2048, smoothingTimeConstant: 0 });
  node.connect(analyser).connect(context.destination);
  node.port.onmessage = ({ data }: MessageEvent<PlaybackReport>) => onReport(data);
  const order = (message: PlaybackOrder, transfer: Transferable[] = []): void =>
    node.port.postMessage(message, transfer);
  return {
    analyser,
    get deviceMs() {
      return (context.outputLatency || context.baseLatency || 0) * 1000;
    },
    push: (pcm) => order({ kind: 'audio', pcm }, [pcm]),
    clear: () => order({ kind: 'clear' }),
    close: () => {
      node.port.onmessage = null;
      void context.close().catch(() => undefined);
    },
  };
}

async function resume(context: AudioContext): Promise<void> {
  let late: number | undefined;
  const nothing = new Promise<never>((_resolve, reject) => {
    const problem = new SpeakerProblem('No sound can be played here. Is a loudspeaker connected?');
    late = setTimeout(() => reject(problem), DEVICE_MS);
  });
  await Promise.race([context.resume(), nothing]).finally(() => clearTimeout(late));
}
