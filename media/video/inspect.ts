// Whether a file is the video that a provider was asked for. Everything is checked of the very file
// that will be served: where sound is taken away, of the file without it.
import type {
  InspectedVideo,
  InspectVideoInput,
  RefusedVideo,
  VideoExpectation,
} from './contract.ts';
import { type VideoFault, videoFaults } from './faults.ts';
import { runFfmpeg, type VideoSource } from './ffmpeg.ts';
import { hashFile, lookAtFile } from './file.ts';
import { faultOfMeasures, type JudgedVideo, judgeStreams, servedCodecs } from './judge.ts';
import { probeVideo } from './probe.ts';
import { isRatioOff, nearestRatio } from './ratio.ts';
import { withoutSound } from './sound.ts';
import type { VideoTools } from './video-tools.ts';

const sampledShares = [0, 0.5, 0.95];
/** Side of the small square that a sampled frame is scaled to. */
const sampleSide = 32;
/** The last frame begins a frame before the end; half a one for what was rounded. */
const lastFrames = 1.5;

/** Rejects where the file could not be judged. */
export async function inspectVideo(
  input: InspectVideoInput,
  tools: VideoTools,
): Promise<InspectedVideo> {
  const { path, silentPath, expectation } = input;
  const given = await look(path, expectation, tools);
  if (typeof given === 'string') return refusedVideo(given);
  const isSilenced = given.judged.shape.hasAudio && !expectation.hasSound;
  if (isSilenced) {
    const fault = await withoutSound(given.source, silentPath, tools);
    if (fault !== null) return refusedVideo(fault);
  }
  const servedPath = isSilenced ? silentPath : path;
  const served = isSilenced ? await look(servedPath, expectation, tools) : given;
  if (typeof served === 'string') return refusedVideo(served);
  if (!(await decodesThroughout(served, tools))) return refusedVideo('undecodable');
  const { shape } = served.judged;
  const { width, height } = shape;
  const { ratio } = expectation;
  const facts = {
    mime: served.source.container.mime ?? 'video/mp4',
    ...shape,
    ...(await hashFile(servedPath)),
    isRatioOff: ratio !== null && isRatioOff(width, height, ratio),
    nearestRatio: nearestRatio(width, height),
  };
  return { ok: true, path: servedPath, facts };
}

export function refusedVideo(fault: VideoFault): RefusedVideo {
  return { ok: false, fault, reason: videoFaults[fault] };
}

interface LookedAt {
  source: VideoSource;
  judged: JudgedVideo;
}

async function look(
  path: string,
  expectation: VideoExpectation,
  tools: VideoTools,
): Promise<LookedAt | VideoFault> {
  const source = lookAtFile(path, ({ mime }) => mime !== null);
  if (typeof source === 'string') return source;
  const probed = await probeVideo(source, tools.quick, tools.timeoutMs);
  if (typeof probed === 'string') return probed;
  const judged = judgeStreams(probed, servedCodecs);
  if (typeof judged === 'string') return judged;
  return faultOfMeasures(judged.shape, probed.seconds, expectation) ?? { source, judged };
}

/** A frame at the beginning, in the middle and near the end, by one process. */
async function decodesThroughout({ source, judged }: LookedAt, tools: VideoTools) {
  const seconds = judged.shape.durationMs / 1_000;
  const { framesPerSecond } = judged.stream;
  const last = framesPerSecond === 0 ? seconds : seconds - lastFrames / framesPerSecond;
  const moments = sampledShares.map((share) => Math.max(0, Math.min(seconds * share, last)));
  const chains = moments.map(
    (_, index) => `[${index}:v:0]trim=end_frame=1,scale=${sampleSide}:${sampleSide}[s${index}]`,
  );
  const names = moments.map((_, index) => `[s${index}]`).join('');
  // Each its own time, or they would be taken for repetitions of one frame.
  const joined = `${names}concat=n=${moments.length},settb=1/25,setpts=N[out]`;
  const { output, isWell } = await runFfmpeg({
    tools: tools.patient,
    inputs: moments.map((moment) => ({ source, options: ['-ss', moment.toFixed(3)] })),
    options: [
      ...['-filter_complex', [...chains, joined].join(';'), '-map', '[out]', '-vsync', '0'],
      ...['-pix_fmt', 'gray', '-f', 'rawvideo'],
    ],
    outputPath: null,
    bytesMax: sampleSide * sampleSide * moments.length,
    timeoutMs: tools.timeoutMs,
  });
  return isWell && output.length === sampleSide * sampleSide * moments.length;
}
