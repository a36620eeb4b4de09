// What the voice generator and its upstream agree on: a clock, a pattern of input whose onsets can
// be seen through any resampler, output that carries its time, and what a session asks for.

/** Milliseconds of the machine's monotonic clock, which all processes share. */
const clockOffsetMs = measureOffsetMs();
function measureOffsetMs(): number {
  let [best, narrowest] = [0, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const before = performance.now();
    const clock = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = clock - (before + after) / 2;
  }
  return best;
}

export function clockMs(): number {
  return performance.now() + clockOffsetMs;
}

/** svc.voice.v1 input: 512 samples of 16 kHz. */
export const FRAME_BYTES = 1_024;
export const FRAME_MS = 32;
/** 24 kHz pcm_s16le. */
export const OUTPUT_BYTES_MS = 48;

/** Half a second of tone, half a second of digital silence: the onset is what is timed. */
const TONE_FRAMES = 16;
export const PATTERN_FRAMES = 32;
const TONE_HZ = 440;

/** The frames of the pattern, onset first. */
export function inputPattern(): Buffer[] {
  return Array.from({ length: PATTERN_FRAMES }, (_, frame) => {
    const bytes = Buffer.alloc(FRAME_BYTES);
    if (frame >= TONE_FRAMES) return bytes;
    for (let index = 0; index < FRAME_BYTES / 2; index++) {
      const seconds = (frame * FRAME_BYTES) / 2 / 16_000 + index / 16_000;
      // A cosine: its first sample is its loudest.
      bytes.writeInt16LE(Math.round(9_000 * Math.cos(2 * Math.PI * TONE_HZ * seconds)), index * 2);
    }
    return bytes;
  });
}

/** What begins every delta: a mark and the clock, 12 bytes, 16 characters of base64. */
export const STAMP_BYTES = 12;
const MARK = 0x6c6c6f54;
const stamp = Buffer.alloc(STAMP_BYTES);

/** Valid until the next call. */
export function stampNow(): Buffer {
  stamp.writeUInt32LE(MARK, 0);
  stamp.writeDoubleLE(clockMs(), 4);
  return stamp;
}

/** The clock of the stamp at this place; NaN when there is none. */
export function readStamp(bytes: Buffer, at: number): number {
  if (at + STAMP_BYTES > bytes.length || bytes.readUInt32LE(at) !== MARK) return Number.NaN;
  return bytes.readDoubleLE(at + 4);
}

/** Where the next stamp is, from `from` on; -1 when there is none. */
export function findStamp(bytes: Buffer, from: number): number {
  for (let at = from + (from & 1); at + STAMP_BYTES <= bytes.length; at += 2) {
    if (bytes.readUInt32LE(at) === MARK) return at;
  }
  return -1;
}

export interface SessionOrder {
  /** Names the session in what the upstream saw of it. */
  session: number;
  /**
   * `live`: answers at real time without an end; `burst`: 30 s of audio at once, then a pause;
   * `silent`: never answers.
   */
  mode: 'live' | 'burst' | 'silent';
  deltaMs: number;
}

export function orderText(order: SessionOrder): string {
  return `bench session=${order.session} mode=${order.mode} delta=${order.deltaMs}`;
}

/** Finds the order in a message of the history, or in a query where spaces are `+`. */
export function readOrder(text: string): SessionOrder | null {
  const found = /bench[ +]session=(\d+)[ +]mode=(live|burst|silent)[ +]delta=(\d+)/.exec(text);
  if (found === null) return null;
  const mode = found[2] as SessionOrder['mode'];
  return { session: Number(found[1]), mode, deltaMs: Number(found[3]) };
}
