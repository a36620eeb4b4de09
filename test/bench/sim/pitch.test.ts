// The simulator's ear: the Hertz of a tone that begins and ends hard, as a resampler hands it on.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { PitchMeter } from '../../../bench/sim/sound/pitch.ts';

/** Silence, the tone, and silence; the ends ring as behind a steep low pass. */
function ringing(pitchHz: number, rateHz: number): Int16Array {
  const samples = new Int16Array(rateHz);
  const [from, to] = [rateHz / 4, (rateHz * 3) / 4];
  for (let index = 0; index < samples.length; index += 1) {
    const isTone = index >= from && index < to;
    const tone = isTone ? 12_000 * Math.sin((2 * Math.PI * pitchHz * (index - from)) / rateHz) : 0;
    const away = index < from ? from - index : index >= to ? index - to : rateHz;
    samples[index] = tone + 900 * Math.exp(-away / 6) * Math.cos((2 * Math.PI * away) / 3.3);
  }
  return samples;
}

test('the pitch of a tone is right to the Hertz, however it begins and ends', () => {
  for (const pitchHz of [120, 440, 441, 1_000, 1_999]) {
    const meter = new PitchMeter(24_000, { block: () => {} });
    meter.hear(ringing(pitchHz, 24_000));
    assert.equal(Math.round(meter.pitchHz), pitchHz);
  }
});
