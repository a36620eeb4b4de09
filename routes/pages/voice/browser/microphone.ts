// The microphone: opened with the user's consent, at 16 kHz where the browser can, else resampled
// in the worklet. Frames come 31 times a second, until it is closed.
import type { CapturedFrame } from './capture-processor.ts';
import { INPUT_RATE_HZ } from './wire.ts';

export interface Microphone {
  /** Muted, it goes on sending: silence. */
  setMuted(isMuted: boolean): void;
  close(): void;
}

/** What went wrong, for people. */
export class MicrophoneProblem extends Error {}

/** Rejects with a MicrophoneProblem. `ended`: the device is gone, or the consent withdrawn. */
export async function openMicrophone(
  onFrame: (frame: CapturedFrame) => void,
  ended: () => void,
): Promise<Microphone> {
  if (navigator.mediaDevices === undefined) {
    throw new MicrophoneProblem('A microphone needs a secure address: https, or localhost.');
  }
  const stream = await requestStream();
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop();
  };
  try {
    const { context, source } = await openSource(stream);
    const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }: MessageEvent<CapturedFrame>) => onFrame(data);
    source.connect(node);
    stream.getAudioTracks()[0]?.addEventListener('ended', ended);
    return {
      setMuted: (isMuted) => {
        for (const track of stream.getAudioTracks()) track.enabled = !isMuted;
      },
      close: () => {
        node.port.onmessage = null;
        stop();
        void context.close().catch(() => undefined);
      },
    };
  } catch {
    stop();
    throw new MicrophoneProblem('This browser cannot read the microphone as this page needs it.');
  }
}

async function requestStream(): Promise<MediaStream> {
  const audio = {
    channelCount: 1,
    echoCancellation: true,
    noiseSuppression: true,
    autoGainControl: true,
  };
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    if (name === 'NotAllowedError') {
      throw new MicrophoneProblem(
        'The microphone is blocked. Allow it for this page in the address bar, then try again.',
      );
    }
    if (name === 'NotFoundError') throw new MicrophoneProblem('No microphone was found.');
    throw new MicrophoneProblem('The microphone cannot be opened. Does another program use it?');
  }
}

/** Some browsers refuse a source whose rate differs from the context's: theirs is kept then. */
async function openSource(
  stream: MediaStream,
): Promise<{ context: AudioContext; source: MediaStreamAudioSourceNode }> {
  for (const options of [{ sampleRate: INPUT_RATE_HZ }, {}]) {
    const context = new AudioContext({ latencyHint: 'interactive', ...options });
    try {
      const source = context.createMediaStreamSource(stream);
      await context.audioWorklet.addModule(new URL('./capture-processor.js', import.meta.url));
      await context.resume();
      return { context, source };
    } catch (error) {
      await context.close();
      if (!('sampleRate' in options)) throw error;
    }
  }
  throw new Error('no rate was accepted');
}
