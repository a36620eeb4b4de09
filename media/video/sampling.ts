// Which moments of a video are looked at, and how they are reached without decoding all of it.
// Pure: seconds and pixels in, seconds and ticks out.

/** Moments lie on this grid. A picture is the one that is on the screen at its tick. */
export const ticksPerSecond = 25;

export interface Part {
  startSeconds: number;
  endSeconds: number;
}

/** A key frame, and how much it differs from the one before it: 0 to 1. */
export interface KeyFrame {
  seconds: number;
  difference: number;
}

/** Moments that are reached by one seek and decoded in one go. */
export interface Group {
  /** Where it is sought: the program goes on from the key frame before it. */
  seekSeconds: number;
  /** In ticks since the seek, ascending. */
  ticks: number[];
}

/** A hard cut. Motion of ten seconds between two key frames is less. */
const cutDifference = 0.3;
/** Behind a cut: a few frames into the new scene. */
const afterCutSeconds = 0.2;
/** Opening the file again costs as much as decoding so much of it. */
const reopenSeconds = 0.3;
/**
 * A seek goes to a key frame that is at least 3/23 s before the place named, where frames are
 * reordered. Nearer to it the key frame before that one is taken.
 */
const seekMarginSeconds = 0.18;
/** All that the decoders of all groups keep at once. */
const decodersBytesMax = 384 * 1_024 * 1_024;
/** Twelve pictures of 12 bits a pixel. */
const decoderBytesPerPixel = 18;
/** Past so many, key frames have to do: H.264 takes 2 ns each, so 12 s of the 40 of a process. */
const decodedPixelsMax = 6e9;
/** Where the file does not say. */
const usualFramesPerSecond = 30;
/** The part of a tick that arithmetic may have lost. */
const rounding = 1e-6;

/**
 * So many moments, each in the middle of an equal share of the part. Up to half of them are moved
 * to the hardest cuts, each at most by a share.
 */
export function momentsOf(part: Part, count: number, keys: readonly KeyFrame[]): number[] {
  const share = (part.endSeconds - part.startSeconds) / count;
  const moments = Array.from(
    { length: count },
    (_, index) => part.startSeconds + (index + 0.5) * share,
  );
  const last = part.endSeconds - 1 / ticksPerSecond;
  const cuts = keys
    .filter(({ seconds, difference }) => difference >= cutDifference && seconds < last)
    .sort((one, other) => other.difference - one.difference)
    .map(({ seconds }) => Math.min(last, seconds + afterCutSeconds))
    .filter((seconds) => seconds >= part.startSeconds);
  const moved = new Set<number>();
  for (const cut of cuts) {
    if (moved.size >= Math.floor(count / 2)) break;
    const index = Math.min(count - 1, Math.floor((cut - part.startSeconds) / share));
    if (moved.has(index)) continue;
    moments[index] = cut;
    moved.add(index);
  }
  return moments;
}

/** What decoding a video costs. */
export interface Burden {
  /** In each frame. */
  pixels: number;
  /** 0: unknown. */
  framesPerSecond: number;
  /** How dear its codec is, where H.264 is 1. */
  dearness: number;
}

export interface FramesPlan {
  groups: Group[];
  /** Nothing but key frames is decoded. */
  isOfKeys: boolean;
}

/** How the moments, which ascend, are reached within the bounds of memory and CPU time. */
export function planOf(
  { startSeconds, endSeconds }: Part,
  moments: readonly number[],
  keys: readonly KeyFrame[],
  { pixels, framesPerSecond, dearness }: Burden,
): FramesPlan {
  const groupsMax = Math.max(1, Math.floor(decodersBytesMax / (pixels * decoderBytesPerPixel)));
  const groups = groupsOf(moments, keys, groupsMax);
  const frames = decodedSeconds(groups, keys) * (framesPerSecond || usualFramesPerSecond);
  const isDear = frames * pixels * dearness > decodedPixelsMax;
  const inside = keys.filter(({ seconds }) => seconds >= startSeconds && seconds < endSeconds);
  // Few of them would leave most of the video out.
  if (!isDear || inside.length < moments.length / 2) return { groups, isOfKeys: false };
  return { groups: [groupOfKeys(moments, inside)], isOfKeys: true };
}

/**
 * The moments in groups, at most so many. Moments behind one key frame share what is decoded, and
 * so do those with little between them.
 */
function groupsOf(
  moments: readonly number[],
  keys: readonly KeyFrame[],
  groupsMax: number,
): Group[] {
  const runs: { keySeconds: number; moments: number[] }[] = [];
  for (const moment of moments) {
    const keySeconds = keyBefore(moment, keys);
    const run = runs.at(-1);
    const reached = run?.moments.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (run !== undefined && keySeconds - reached < reopenSeconds) run.moments.push(moment);
    else runs.push({ keySeconds, moments: [moment] });
  }
  while (runs.length > groupsMax) {
    const gaps = runs.slice(1).map((run, index) => run.keySeconds - lastOf(runs[index]?.moments));
    const least = gaps.indexOf(Math.min(...gaps));
    const [later] = runs.splice(least + 1, 1);
    runs[least]?.moments.push(...(later?.moments ?? []));
  }
  return runs.map((run) => groupOf(run.moments, run.keySeconds));
}

/** Every key frame at once, where decoding what lies between them would take too long. */
function groupOfKeys(moments: readonly number[], keys: readonly KeyFrame[]): Group {
  const seconds = keys.map((key) => key.seconds);
  const nearest = moments.map((moment) =>
    seconds.reduce((best, each) =>
      Math.abs(each - moment) < Math.abs(best - moment) ? each : best,
    ),
  );
  const seekSeconds = onGrid(Math.min(...nearest));
  return { seekSeconds, ticks: ticksOf(nearest, seekSeconds, tickAfter) };
}

/** How many seconds of the video are decoded for them. */
function decodedSeconds(groups: readonly Group[], keys: readonly KeyFrame[]): number {
  return groups.reduce((sum, group) => {
    const last = group.seekSeconds + lastOf(group.ticks) / ticksPerSecond;
    return sum + last - keyBefore(group.seekSeconds, keys);
  }, 0);
}

function groupOf(moments: readonly number[], keySeconds: number): Group {
  const [first = 0] = moments;
  const seekSeconds = onGrid(Math.min(first, keySeconds + seekMarginSeconds));
  return { seekSeconds, ticks: ticksOf(moments, seekSeconds, tickBefore) };
}

/** So that all seconds are multiples of a tick. */
function onGrid(seconds: number): number {
  return tickBefore(seconds) / ticksPerSecond;
}

function tickBefore(seconds: number): number {
  return Math.floor(seconds * ticksPerSecond + rounding);
}

function tickAfter(seconds: number): number {
  return Math.ceil(seconds * ticksPerSecond - rounding);
}

function ticksOf(
  moments: readonly number[],
  from: number,
  tickOf: (seconds: number) => number,
): number[] {
  const ticks = moments.map((moment) => Math.max(0, tickOf(moment - from)));
  return [...new Set(ticks)].sort((one, other) => one - other);
}

/** Without one before it, itself. */
function keyBefore(moment: number, keys: readonly KeyFrame[]): number {
  return keys.findLast(({ seconds }) => seconds <= moment)?.seconds ?? moment;
}

function lastOf(numbers: readonly number[] | undefined): number {
  return numbers?.at(-1) ?? 0;
}
