// Tones as 16-bit PCM, and long ones as base64 deltas that every session shares: a whole number of
// half Hertz repeats after two seconds, so twenty deltas are a tone of any length.

export const outputRateHz = 24_000;
/** Milliseconds of audio in one delta. */
export const deltaMs = 100;

const amplitude = 12_000;
const deltasPerCycle = 20;
const pitchesMax = 200;
const bytesPerMs = (outputRateHz * 2) / 1000;

const cycles = new Map<number, ToneCycle>();

interface ToneCycle {
  pcm: Buffer;
  deltas: string[];
}

/** A sine from phase 0, as pcm_s16le. */
export function tonePcm(pitchHz: number, samples: number, rateHz: number = outputRateHz): Buffer {
  const pcm = Buffer.allocUnsafe(samples * 2);
  const step = (2 * Math.PI * pitchHz) / rateHz;
  for (let index = 0; index < samples; index += 1) {
    pcm.writeInt16LE(Math.round(amplitude * Math.sin(step * index)), index * 2);
  }
  return pcm;
}

/** Number of deltas of a tone; the last may be shorter than the others. */
export function deltaCount(totalMs: number): number {
  return Math.ceil(totalMs / deltaMs);
}

/** Delta `index` of a tone of `totalMs`, in base64. The pitch is rounded to half a Hertz. */
export function toneDelta(pitchHz: number, totalMs: number, index: number): string {
  const cycle = cycleOf(Math.round(pitchHz * 2) / 2);
  const place = index % deltasPerCycle;
  const start = place * deltaMs * bytesPerMs;
  const leftMs = totalMs - index * deltaMs;
  if (leftMs < deltaMs) {
    return cycle.pcm.toString('base64', start, start + 2 * Math.round((leftMs * bytesPerMs) / 2));
  }
  let delta = cycle.deltas[place];
  if (delta === undefined) {
    delta = cycle.pcm.toString('base64', start, start + deltaMs * bytesPerMs);
    cycle.deltas[place] = delta;
  }
  return delta;
}

function cycleOf(pitchHz: number): ToneCycle {
  let cycle = cycles.get(pitchHz);
  if (cycle === undefined) {
    if (cycles.size >= pitchesMax) cycles.clear();
    cycle = { pcm: tonePcm(pitchHz, outputRateHz * 2), deltas: [] };
    cycles.set(pitchHz, cycle);
  }
  return cycle;
}
