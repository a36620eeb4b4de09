// What the page's worklets are made of: the jitter buffer plays everything once, in order, and
// falls silent at once; the resampler is exact whatever the pieces it is given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JitterBuffer } from '../../../../routes/pages/voice/browser/jitter-buffer.ts';
import { Resampler } from '../../../../routes/pages/voice/browser/resampler.ts';
import { fc } from '../../../harness/properties.ts';

const rateHz = 24_000;
const options = { rateHz, targetMs: 60, targetMsMax: 400, capacityMs: 10_000 };
const milliseconds = (count: number) => (count * rateHz) / 1_000;

function pull(buffer: JitterBuffer, samples: number): number[] {
  const all: number[] = [];
  while (all.length < samples) {
    const output = new Float32Array(128);
    buffer.pull(output);
    all.push(...output);
  }
  return all;
}

test('playback waits for the target, then plays every sample once and in order', () => {
  const buffer = new JitterBuffer(options);
  const ramp = Float32Array.from({ length: 4_800 }, (_, index) => (index + 1) / 10_000);
  buffer.push(ramp.subarray(0, 700));
  assert.ok(
    pull(buffer, 256).every((sample) => sample === 0),
    '29 ms are not enough to begin',
  );
  for (let at = 700; at < ramp.length; at += 500) buffer.push(ramp.slice(at, at + 500));
  const heard = pull(buffer, 4_864).filter((sample) => sample !== 0);
  assert.deepEqual(heard.slice(0, ramp.length), [...ramp]);
  assert.equal(buffer.underruns, 0);
});

test('an answer that is shorter than the target is heard all the same', () => {
  const buffer = new JitterBuffer(options);
  buffer.push(new Float32Array(480).fill(0.5));
  const heard = pull(buffer, milliseconds(200));
  assert.equal(heard.filter((sample) => sample === 0.5).length, 480);
});

test('clear is silence within 3 ms, without a step, and counts as no gap', () => {
  const buffer = new JitterBuffer(options);
  buffer.push(new Float32Array(milliseconds(500)).fill(0.8));
  pull(buffer, milliseconds(100));
  buffer.clear();
  const heard = pull(buffer, milliseconds(50));
  let last = 0.8;
  for (const sample of heard) {
    assert.ok(Math.abs(sample - last) < 0.02, `a step from ${last} to ${sample}`);
    last = sample;
  }
  assert.ok(heard.slice(milliseconds(3)).every((sample) => sample === 0));
  assert.equal(buffer.bufferedMs, 0);
  buffer.push(new Float32Array(milliseconds(100)));
  assert.equal(buffer.underruns, 0);
});

test('running dry within an answer is counted and raises the target up to its bound', () => {
  const buffer = new JitterBuffer(options);
  for (let round = 0; round < 20; round++) {
    buffer.push(new Float32Array(milliseconds(100)).fill(0.1));
    pull(buffer, milliseconds(600));
    buffer.push(new Float32Array(milliseconds(10)).fill(0.1));
    pull(buffer, milliseconds(100));
  }
  assert.ok(buffer.underruns > 0);
  assert.ok(buffer.targetMs <= options.targetMsMax);
});

test('more than the capacity is dropped, oldest first', () => {
  const buffer = new JitterBuffer({ ...options, capacityMs: 100 });
  for (let round = 0; round < 50; round++) {
    buffer.push(new Float32Array(milliseconds(20)).fill(round / 100));
  }
  assert.ok(buffer.bufferedMs <= 100);
  assert.ok(Math.abs((pull(buffer, 256)[0] ?? 0) - 0.45) < 1e-6);
});

for (const fromHz of [48_000, 44_100, 8_000]) {
  test(`a tone at ${fromHz} Hz is the same at 16 kHz, and what is above it folds to none`, () => {
    const tone = (hz: number) =>
      Float32Array.from({ length: fromHz }, (_, index) =>
        Math.sin((2 * Math.PI * hz * index) / fromHz),
      );
    const power = (samples: Float32Array) =>
      Math.sqrt(
        samples.slice(400, -400).reduce((sum, sample) => sum + sample * sample, 0) / 15_200,
      );
    const output = new Resampler(fromHz, 16_000).process(tone(440));
    assert.ok(Math.abs(output.length - 16_000) < 40, `${output.length} samples`);
    assert.ok(Math.abs(power(output) - Math.SQRT1_2) < 0.02);
    if (fromHz > 20_000) {
      const folded = power(new Resampler(fromHz, 16_000).process(tone(10_000)));
      assert.ok(folded < 0.005, `10 kHz left ${folded}`);
    }
  });
}

test('the resampler gives the same samples for any cutting of the input', () => {
  const input = Float32Array.from({ length: 5_000 }, (_, index) => Math.sin(index ** 1.2 / 50));
  const whole = new Resampler(44_100, 16_000).process(input);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), (sizes) => {
      const resampler = new Resampler(44_100, 16_000);
      const pieces: number[] = [];
      for (let at = 0, turn = 0; at < input.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        pieces.push(...resampler.process(input.slice(at, at + size)));
        at += size;
      }
      assert.equal(pieces.length, whole.length);
      // The place is summed up in another order: the phase may round to its neighbour.
      pieces.forEach((sample, index) => {
        assert.ok(Math.abs(sample - (whole[index] ?? 0)) < 1e-2);
      });
    }),
    { numRuns: 50 },
  );
});
