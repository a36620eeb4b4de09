// What a whole recording holds: its tone bursts, in order, with their places and pitches. The pitch
// is that of the middle half: encoders blur the edges.
import { blockMs, PitchMeter } from '../sound/pitch.ts';

export interface Burst {
  startSeconds: number;
  endSeconds: number;
  pitchHz: number;
}

const burstBlocksMin = 40 / blockMs;
const quietBlocksMin = 16 / blockMs;

export function findBursts(samples: Int16Array, rateHz: number): Burst[] {
  return findLoud(samples, rateHz).map(({ from, to }) => {
    const quarter = (to - from) >> 2;
    const meter = new PitchMeter(rateHz, { block: () => undefined });
    meter.hear(samples.subarray(from + quarter, to - quarter));
    const pitchHz = Math.round(meter.pitchHz);
    return { startSeconds: from / rateHz, endSeconds: to / rateHz, pitchHz };
  });
}

/** In samples. */
interface Stretch {
  from: number;
  to: number;
}

function findLoud(samples: Int16Array, rateHz: number): Stretch[] {
  const found: Stretch[] = [];
  const blockSamples = Math.round((rateHz * blockMs) / 1000);
  let loudBlocks = 0;
  let quietBlocks = 0;
  let stretch: Stretch = { from: 0, to: 0 };
  const end = () => {
    if (loudBlocks >= burstBlocksMin) found.push(stretch);
    loudBlocks = 0;
  };
  const meter = new PitchMeter(rateHz, {
    block: (loud, endSample) => {
      quietBlocks = loud ? 0 : quietBlocks + 1;
      if (loud) {
        if (loudBlocks === 0) stretch = { from: endSample - blockSamples, to: endSample };
        stretch.to = endSample;
        loudBlocks += 1;
      } else if (quietBlocks === quietBlocksMin) end();
    },
  });
  meter.hear(samples);
  end();
  return found;
}
