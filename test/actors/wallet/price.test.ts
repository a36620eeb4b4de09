// Prices against hand-computed figures and against an independent rational reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { charge, compileCard, type PriceCard, parseDecimal } from '../../../actors/wallet/price.ts';
import { publicRates } from '../../../actors/wallet/public-rates.ts';
import { type TokenUsage, zeroUsage } from '../../../media/model/usage.ts';
import { fc } from '../../harness/properties.ts';

const card: PriceCard = {
  input_per_million: '2.50',
  cached_input_per_million: '0.25',
  output_per_million: '10.00',
};
const tiered: PriceCard = {
  ...card,
  pricing_tiers: [{ min_input_tokens: 1_001, input_per_million: '5', output_per_million: '20' }],
};

function usageOf(changes: Partial<TokenUsage>): TokenUsage {
  return { ...zeroUsage, ...changes };
}

test('a request costs what the decisions say, in figures computed by hand', () => {
  const compiled = compileCard(card, '100');
  // 2.50 dollars per million: 250 microcredits a token, 262.5 with the markup.
  assert.deepEqual(charge(compiled, usageOf({ inputTokens: 1 })), {
    chargeMicros: 263n,
    providerCostMicros: 250n,
  });
  assert.deepEqual(charge(compiled, usageOf({ inputTokens: 2 })), {
    chargeMicros: 525n,
    providerCostMicros: 500n,
  });
  const mixed = usageOf({
    inputTokens: 7,
    cachedInputTokens: 3,
    cacheWriteTokens: 2,
    outputTokens: 16,
    reasoningTokens: 4,
  });
  // 7x250 + 3x25 + 2x250 + 16x1000 + 4x1000 = 22,325; x1.05 = 23,441.25.
  assert.deepEqual(charge(compiled, mixed), {
    chargeMicros: 23_442n,
    providerCostMicros: 22_325n,
  });
  assert.deepEqual(charge(compiled, zeroUsage), { chargeMicros: 0n, providerCostMicros: 0n });
});

test('the tier is chosen by all input tokens, inclusively, and applies to every category', () => {
  const compiled = compileCard(tiered, '100');
  const below = usageOf({ inputTokens: 900, cachedInputTokens: 100, outputTokens: 1 });
  assert.equal(charge(compiled, below).providerCostMicros, 900n * 250n + 100n * 25n + 1_000n);
  const at = usageOf({ inputTokens: 900, cachedInputTokens: 101, outputTokens: 1 });
  // The cached rate is inherited, the others are the tier's.
  assert.equal(charge(compiled, at).providerCostMicros, 900n * 500n + 101n * 25n + 2_000n);
});

test('of several tiers the highest that is reached counts, however the card lists them', () => {
  const tiers = [
    { min_input_tokens: 1_001, input_per_million: '5' },
    { min_input_tokens: 2_001, input_per_million: '7.50' },
    { min_input_tokens: 3_001, input_per_million: '10' },
  ];
  const [low, middle, high] = tiers;
  const orders = [tiers, tiers.toReversed(), [middle, high, low].flatMap((tier) => tier ?? [])];
  for (const pricing_tiers of orders) {
    const compiled = compileCard({ ...card, pricing_tiers }, '100');
    const cost = (inputTokens: number) =>
      charge(compiled, usageOf({ inputTokens })).providerCostMicros;
    assert.equal(cost(1_000), 1_000n * 250n);
    assert.equal(cost(1_001), 1_001n * 500n);
    assert.equal(cost(2_000), 2_000n * 500n);
    assert.equal(cost(2_001), 2_001n * 750n);
    assert.equal(cost(3_001), 3_001n * 1_000n);
    const shown = publicRates(compiled).pricing_tiers.map((tier) => tier.min_input_tokens);
    assert.deepEqual(shown, [1_001, 2_001, 3_001]);
  }
});

test('units are priced by what their names say', () => {
  const compiled = compileCard(
    {
      audio_input: '32',
      audio_output: '64',
      text_input: '0.6',
      text_output: '2.4',
      per_1k_characters: '0.015',
      per_audio_minute: '0.006',
      per_search_call: '0.01',
    },
    '100',
  );
  const cost = (units: Parameters<typeof charge>[2], searchCalls = 0): bigint =>
    charge(compiled, usageOf({ searchCalls }), units).providerCostMicros;
  assert.equal(cost({ audioInputTokens: 10 }), 32_000n);
  assert.equal(cost({ audioOutputTokens: 10 }), 64_000n);
  assert.equal(cost({ textInputTokens: 10, textOutputTokens: 10 }), 600n + 2_400n);
  assert.equal(cost({ characters: 1_000 }), 1_500_000n);
  assert.equal(cost({ audioMs: 60_000 }), 600_000n);
  assert.equal(cost({ audioMs: 1 }), 10n);
  assert.equal(cost({}, 3), 3_000_000n);
});

test('public rates include the markup and are the nearest numbers', () => {
  assert.deepEqual(publicRates(compileCard(tiered, '100')), {
    credits_per_million_input: 262.5,
    credits_per_million_cached_input: 26.25,
    credits_per_million_output: 1_050,
    pricing_tiers: [
      {
        min_input_tokens: 1_001,
        credits_per_million_input: 525,
        credits_per_million_cached_input: 26.25,
        credits_per_million_output: 2_100,
      },
    ],
  });
  assert.equal(publicRates(compileCard({}, '100')).credits_per_million_input, null);
});

test('what is no decimal is refused', () => {
  for (const text of ['', '-1', '1e3', '.5', '1.', 'NaN', ' 1', '0x1']) {
    assert.throws(() => parseDecimal(text), /decimal/, text);
  }
});

const price = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([digits, scale]) => {
    const text = String(digits).padStart(scale + 1, '0');
    return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
  });
const tokens = fc.integer({ min: 0, max: 5_000_000 });

test('charges equal an independent rational computation, for any prices and counts', () => {
  const cards = fc.record({ input: price, cached: price, write: price, output: price, why: price });
  const usages = fc.record({ a: tokens, b: tokens, c: tokens, d: tokens, e: tokens });
  fc.assert(
    fc.property(cards, usages, price, (rates, used, exchange) => {
      const compiled = compileCard(
        {
          input_per_million: rates.input,
          cached_input_per_million: rates.cached,
          cache_write_per_million: rates.write,
          output_per_million: rates.output,
          reasoning_per_million: rates.why,
        },
        exchange,
      );
      const got = charge(
        compiled,
        usageOf({
          inputTokens: used.a,
          cachedInputTokens: used.b,
          cacheWriteTokens: used.c,
          outputTokens: used.d,
          reasoningTokens: used.e,
        }),
      );
      // In units of 10^-6 dollars a million and 10^-6 credits a dollar.
      const fixed = (text: string): bigint => {
        const [whole = '', fraction = ''] = text.split('.');
        return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
      };
      const dollars =
        fixed(rates.input) * BigInt(used.a) +
        fixed(rates.cached) * BigInt(used.b) +
        fixed(rates.write) * BigInt(used.c) +
        fixed(rates.output) * BigInt(used.d) +
        fixed(rates.why) * BigInt(used.e);
      const micros = dollars * fixed(exchange);
      const up = (top: bigint, bottom: bigint): bigint =>
        top / bottom + (top % bottom === 0n ? 0n : 1n);
      assert.equal(got.chargeMicros, up(micros * 105n, 100n * 10n ** 12n));
      assert.equal(got.providerCostMicros, up(micros, 10n ** 12n));
      assert.ok(got.providerCostMicros <= got.chargeMicros);
    }),
    { numRuns: 500 },
  );
});

test('sound has the price of sound in every tier, and that of text where it has none', () => {
  const base = { input_per_million: '2.50', output_per_million: '10' };
  const tier = { min_input_tokens: 2_001, input_per_million: '5' };
  const priced = (card: PriceCard, audioInputTokens: number, inputTokens = 1_000) => {
    const usage = { ...zeroUsage, inputTokens, audioInputTokens };
    return charge(compileCard(card, '100'), usage).chargeMicros;
  };
  const dear = { ...base, audio_input: '40', pricing_tiers: [tier] };
  assert.equal(priced(dear, 300), (700n * 262_500n) / 1_000n + (300n * 4_200_000n) / 1_000n);
  assert.equal(priced(dear, 300, 3_000), (2_700n * 525_000n + 300n * 4_200_000n) / 1_000n);
  assert.equal(priced({ ...base, audio_input: '1' }, 1_000), 105_000n, 'or cheaper');
  assert.equal(priced({ ...base, audio_input: '0' }, 1_000), 0n, 'a price of zero is one');
  assert.equal(priced(base, 300), 262_500n, 'as text');
});

test('what a cache keeps for an hour has its own price, dearer with the tier of its writes', () => {
  const base = {
    input_per_million: '3',
    cache_write_per_million: '3.75',
    output_per_million: '15',
  };
  const tier = { min_input_tokens: 1_001, input_per_million: '6', cache_write_per_million: '7.50' };
  const hour = { cache_write_1h_per_million: '6.00' };
  const priced = (card: PriceCard, tokens: number) => {
    const usage = { ...zeroUsage, cacheWriteTokens: tokens, cacheWrite1hTokens: tokens };
    return charge(compileCard(card, '100'), usage).chargeMicros;
  };
  assert.equal(priced({ ...base, ...hour, pricing_tiers: [tier] }, 1_000), 630_000n);
  assert.equal(priced({ ...base, ...hour, pricing_tiers: [tier] }, 2_000), 2n * 2n * 630_000n);
  assert.equal(priced({ ...base, pricing_tiers: [tier] }, 1_000), 393_750n, 'like any write');
  assert.equal(priced({ ...base, pricing_tiers: [tier] }, 2_000), 2n * 2n * 393_750n);
  assert.equal(priced({ ...hour, output_per_million: '1' }, 1_000), 630_000n, 'without a base');
});
