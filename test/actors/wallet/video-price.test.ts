// The price of a video: the most specific rate, whole seconds, one rounding; by hand and against
// an independent rational reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCard, type PriceCard, videoCharge } from '../../../actors/wallet/price.ts';
import { publicUnitRates, publicVideoRates } from '../../../actors/wallet/public-rates.ts';
import { videoResolutions } from '../../../media/model/video.ts';
import { fc } from '../../harness/properties.ts';

const base: PriceCard = { per_second_of_video: '0.07' };
const loud = { resolution: '720p', audio: true, seconds: 5 } as const;

test('a video costs its seconds at the rate, with the markup', () => {
  // 5 x 0.07 dollars are 35 credits, 36.75 with the markup.
  assert.deepEqual(videoCharge(compileCard(base, '100'), loud), {
    chargeMicros: 36_750_000n,
    providerCostMicros: 35_000_000n,
  });
  const free = compileCard({ per_second_of_video: '0' }, '100');
  assert.equal(videoCharge(free, loud).chargeMicros, 0n);
});

test('the most specific rate counts, in whatever order the card has them', () => {
  const rates = [
    { resolution: '1080p', per_second_of_video: '0.20' },
    { resolution: '1080p', audio: false, per_second_of_video: '0.12' },
    { resolution: '720p', audio: true, per_second_of_video: '0.10' },
  ] as const;
  for (const video_rates of [[...rates], [...rates].reverse()]) {
    const card = compileCard({ ...base, video_rates }, '100');
    const cost = (resolution: '720p' | '1080p', audio: boolean) =>
      videoCharge(card, { resolution, audio, seconds: 1 }).providerCostMicros;
    assert.equal(cost('1080p', true), 20_000_000n, 'of the resolution');
    assert.equal(cost('1080p', false), 12_000_000n, 'without sound');
    assert.equal(cost('720p', true), 10_000_000n, 'with sound');
    assert.equal(cost('720p', false), 7_000_000n, 'of the card');
  }
});

test('a video is rounded once, up', () => {
  // 3 x 0.0000001 dollars are 30 microcredits, 31.5 with the markup.
  const card = compileCard({ per_second_of_video: '0.0000001' }, '100');
  assert.deepEqual(videoCharge(card, { ...loud, seconds: 3 }), {
    chargeMicros: 32n,
    providerCostMicros: 30n,
  });
});

const decimal = fc
  .tuple(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 0, max: 9 }))
  .map(([digits, scale]) => {
    const text = String(digits).padStart(scale + 1, '0');
    return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
  });

test('charges equal an independent rational computation, for any rates and exchange', () => {
  const fixed = (text: string): bigint => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole) * 10n ** 9n + BigInt(fraction.padEnd(9, '0'));
  };
  const up = (top: bigint, bottom: bigint): bigint =>
    top / bottom + (top % bottom === 0n ? 0n : 1n);
  const video = fc.record({
    resolution: fc.constantFrom(...videoResolutions),
    audio: fc.boolean(),
    seconds: fc.integer({ min: 4, max: 30 }),
  });
  const prices = fc.tuple(decimal, decimal, decimal);
  fc.assert(
    fc.property(prices, decimal, video, ([all, high, loudest], exchange, asked) => {
      const card: PriceCard = {
        per_second_of_video: all,
        video_rates: [
          { resolution: '1080p', per_second_of_video: high },
          { resolution: '1080p', audio: true, per_second_of_video: loudest },
        ],
      };
      const is1080 = asked.resolution === '1080p';
      const rate = is1080 ? (asked.audio ? loudest : high) : all;
      const micros = fixed(rate) * fixed(exchange) * BigInt(asked.seconds) * 10n ** 6n;
      assert.deepEqual(videoCharge(compileCard(card, exchange), asked), {
        chargeMicros: up(micros * 105n, 100n * 10n ** 18n),
        providerCostMicros: up(micros, 10n ** 18n),
      });
    }),
    { numRuns: 500 },
  );
});

test('the public is shown credits a second, the markup included', () => {
  const video_rates = [
    { resolution: '1080p', per_second_of_video: '0.25' },
    { resolution: '720p', audio: false, per_second_of_video: '0' },
  ] as const;
  const card = compileCard({ ...base, video_rates: [...video_rates] }, '100');
  assert.deepEqual(publicUnitRates(card), { credits_per_second_of_video: 7.35 });
  assert.deepEqual(publicVideoRates(card), [
    { resolution: '1080p', credits_per_second_of_video: 26.25 },
    { resolution: '720p', audio: false, credits_per_second_of_video: 0 },
  ]);
});
