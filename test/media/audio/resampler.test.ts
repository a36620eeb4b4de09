// The quality of the resampler, computed: gain, residual, images, aliases, chunking, count, DC,
// saturation and silence. Levels are against the tone at -1 dBFS, which is fitted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlan, vectorLength } from '../../../media/audio/resample/plan.ts';
import { downward, upward } from '../../../media/audio/resample/prototype.ts';
import { createResampler } from '../../../media/audio/resample/resampler.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';

type Direction = 'up' | 'down';
const rates = { up: { from: 16_000, to: 24_000 }, down: { from: 24_000, to: 16_000 } } as const;
const ratios = { up: upward, down: downward } as const;
const directions: readonly Direction[] = ['up', 'down'];
/** −1 dBFS. */
const amplitude = 32_767 * 10 ** (-1 / 20);
/** Outputs that still see the silence before the first sample. */
const settling = 200;

const decibels = (ratio: number): number => 20 * Math.log10(ratio);

/** One second and what settles. */
function tone(frequencyHz: number, rateHz: number, phase = 1): Int16Array {
  const step = (2 * Math.PI * frequencyHz) / rateHz;
  return Int16Array.from({ length: rateHz * 1.05 }, (_, n) =>
    Math.round(amplitude * Math.sin(step * n + phase)),
  );
}

/** Least squares of a sine, a cosine and a constant; `residual` is the RMS of what they leave. */
function fit(samples: Int16Array, frequencyHz: number, rateHz: number) {
  const step = (2 * Math.PI * frequencyHz) / rateHz;
  const length = samples.length;
  let [sine, cosine, mean] = [0, 0, 0];
  // A few rounds of projection: over a second the three are all but orthogonal.
  const left = Float64Array.from(samples);
  for (let round = 0; round < 4; round++) {
    let [s, c, m] = [0, 0, 0];
    left.forEach((value, n) => {
      s += value * Math.sin(step * n);
      c += value * Math.cos(step * n);
      m += value;
    });
    const [ds, dc, dm] = [(2 * s) / length, (2 * c) / length, m / length];
    left.forEach((value, n) => {
      left[n] = value - ds * Math.sin(step * n) - dc * Math.cos(step * n) - dm;
    });
    sine += ds;
    cosine += dc;
    mean += dm;
  }
  const residual = Math.sqrt(left.reduce((sum, value) => sum + value * value, 0) / length);
  return { amplitude: Math.hypot(sine, cosine), residual, mean, left };
}

function resampled(direction: Direction, input: Int16Array): Int16Array {
  const { to } = rates[direction];
  return createResampler(direction)
    .push(input)
    .subarray(settling, settling + to);
}

/** The level of one frequency in what is left of a signal. */
function levelAt(samples: Float64Array, frequencyHz: number, rateHz: number): number {
  const step = (2 * Math.PI * frequencyHz) / rateHz;
  let [sine, cosine] = [0, 0];
  samples.forEach((value, n) => {
    sine += value * Math.sin(step * n);
    cosine += value * Math.cos(step * n);
  });
  return (2 * Math.hypot(sine, cosine)) / samples.length;
}

const phases = [0.1, 1, 1.7, 2.5, 3.3, 4.6];
const passHz = [100, 313, 997, 1_901, 3_001, 4_400, 5_557, 6_301, 6_999];

for (const direction of directions) {
  const { from, to } = rates[direction];

  test(`(a) ${direction}: 100 Hz to 7 kHz within 0.01 dB, residual at most -94 dB`, (t) => {
    for (const frequencyHz of passHz) {
      let [power, inputPower] = [0, 0];
      for (const phase of phases) {
        const input = tone(frequencyHz, from, phase);
        const found = fit(resampled(direction, input), frequencyHz, to);
        const gain = decibels(found.amplitude / amplitude);
        assert.ok(Math.abs(gain) <= 0.01, `${frequencyHz} Hz: ${gain} dB`);
        power += found.residual ** 2 / phases.length;
        inputPower += fit(input.subarray(0, from), frequencyHz, from).residual ** 2 / phases.length;
      }
      // The tone was rounded to int16 before: that noise, -97 dB, is not the resampler's.
      const residual = decibels(Math.sqrt(2 * power) / amplitude);
      const added = decibels(Math.sqrt(2 * Math.max(1e-9, power - inputPower)) / amplitude);
      const figures = `${frequencyHz} Hz: added ${added.toFixed(2)}, all ${residual.toFixed(2)} dB`;
      t.diagnostic(figures);
      // 40 samples of 4,400 Hz repeat: there rounding is no noise but a pattern.
      assert.ok(added <= (frequencyHz === 4_400 ? -94 : -96), figures);
    }
  });

  test(`(b) ${direction}: 7.2 kHz at least -0.5 dB`, () => {
    const found = fit(resampled(direction, tone(7_200, from)), 7_200, to);
    assert.ok(decibels(found.amplitude / amplitude) >= -0.5);
  });

  test(`(d) ${direction}: the output does not depend on how the input is cut`, () => {
    const input = Int16Array.from({ length: 6_000 }, (_, n) => ((n * 48_271) % 65_536) - 32_768);
    const whole = createResampler(direction).push(input);
    const cut = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(cut, (lengths) => {
        const resampler = createResampler(direction);
        const parts: Int16Array[] = [];
        let taken = 0;
        for (let turn = 0; taken < input.length; turn++) {
          const length = lengths[turn % lengths.length] || 1;
          parts.push(resampler.push(input.subarray(taken, taken + length)));
          taken += length;
        }
        assert.deepEqual(
          parts.flatMap((part) => [...part]),
          [...whole],
        );
      }),
      { numRuns: sampledRuns(60, 20) },
    );
  });

  test(`(f) ${direction}: every phase has the same gain at DC, within 1e-6`, () => {
    const { ratio, stages, coefficients } = createPlan(ratios[direction]);
    const gains = new Float64Array(ratio.up);
    let at = 0;
    for (const { scaleBits, vectors } of stages) {
      for (let vector = 0; vector < vectors.length; vector++) {
        for (let phase = 0; phase < ratio.up; phase++, at += vectorLength) {
          const factors = coefficients.subarray(at, at + vectorLength);
          const sum = factors.reduce((total, factor) => total + factor, 0);
          gains[phase] = (gains[phase] ?? 0) + sum / 2 ** scaleBits;
        }
      }
    }
    for (const gain of gains) assert.ok(Math.abs(gain - 1) <= 1e-6, `gain ${gain}`);
    const output = createResampler(direction)
      .push(new Int16Array(from).fill(30_000))
      .subarray(settling);
    assert.ok(output.every((value) => value === 30_000));
  });

  test(`(g) ${direction}: loud input saturates and never wraps around`, () => {
    const square = Int16Array.from({ length: from }, (_, n) => (n % 40 < 20 ? 32_767 : -32_768));
    const output = createResampler(direction).push(square).subarray(settling);
    assert.equal(Math.max(...output), 32_767);
    assert.equal(Math.min(...output), -32_768);
    const perPeriod = (40 * to) / from;
    output.forEach((value, n) => {
      const behind = output[n - Math.round(perPeriod * 3)];
      if (behind !== undefined && Math.abs(value) > 20_000) assert.ok(value * behind > 0);
    });
  });

  test(`(h) ${direction}: silence stays exactly silent, also after sound`, () => {
    const resampler = createResampler(direction);
    assert.ok(resampler.push(new Int16Array(5_000)).every((value) => value === 0));
    resampler.push(tone(997, from));
    resampler.push(new Int16Array(settling));
    assert.ok(resampler.push(new Int16Array(5_000)).every((value) => value === 0));
  });
}

test('(c) up: images of tones to 7.2 kHz are at most -90 dB', (t) => {
  for (const frequencyHz of [...passHz, 7_200]) {
    const { left } = fit(resampled('up', tone(frequencyHz, 16_000)), frequencyHz, 24_000);
    // Images lie around 16 and 32 kHz, and fold at 12 kHz.
    const images = [16_000 - frequencyHz, 16_000 + frequencyHz, 32_000 - frequencyHz].map(
      (image) => (image > 12_000 ? Math.abs(24_000 - image) : image),
    );
    const levels = images
      .filter((image) => image !== frequencyHz)
      .map((image) => decibels(levelAt(left, image, 24_000) / amplitude));
    t.diagnostic(`${frequencyHz} Hz: ${levels.map((level) => level.toFixed(1)).join(', ')} dB`);
    for (const level of levels) assert.ok(level <= -90, `${frequencyHz} Hz: ${level} dB`);
  }
});

test('(c) down: tones from 8.8 kHz are at most -94 dB', (t) => {
  for (const frequencyHz of [8_800, 9_301, 10_003, 11_117, 11_900]) {
    const output = resampled('down', tone(frequencyHz, 24_000));
    const alias = Math.abs(16_000 - frequencyHz);
    const level = decibels(levelAt(Float64Array.from(output), alias, 16_000) / amplitude);
    t.diagnostic(`${frequencyHz} Hz: ${level.toFixed(1)} dB`);
    assert.ok(level <= -94, `${frequencyHz} Hz: ${level} dB`);
  }
});

test('a click is heard 1.9 ms later', () => {
  for (const direction of directions) {
    const { from, to } = rates[direction];
    const input = new Int16Array(2_000);
    input[600] = 20_000;
    const output = createResampler(direction).push(input);
    const peak = output.reduce((best, value, n) => (value > (output[best] ?? 0) ? n : best), 0);
    const delayMs = (peak / to - 600 / from) * 1_000;
    assert.ok(Math.abs(delayMs - 1.93) < 0.05, `${direction}: ${delayMs} ms`);
  }
});

test('(e) 768 samples for each 512, for ever', () => {
  const resampler = createResampler('up');
  const frame = new Int16Array(512).fill(1_000);
  for (let count = 0; count < 20_000; count++) assert.equal(resampler.push(frame).length, 768);
});
