// The arithmetic of slices against random price cards and wallets: what is held always covers the
// tokens that may be delivered, and a wallet that gives less is dry.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addSlice,
  ceilingMicros,
  covers,
  firstHold,
  isOver,
  nextSlice,
  sliceDue,
} from '../../../actors/generation/funds.ts';
import { charge, compileCard } from '../../../actors/wallet/price.ts';
import { zeroUsage } from '../../../media/model/usage.ts';
import { fc } from '../../harness/properties.ts';
import { testSeed } from '../../harness/seed.ts';

const seed = testSeed;
process.stdout.write(`seed ${seed}\n`);

const rate = fc.integer({ min: 0, max: 200_000 }).map((value) => (value / 1_000).toFixed(3));
const tier = fc.record({ input_per_million: rate, output_per_million: rate });
const card = fc
  .record({
    input_per_million: rate,
    output_per_million: rate,
    reasoning_per_million: fc.option(rate, { nil: undefined }),
    cache_write_per_million: fc.option(rate, { nil: '0' }),
    cache_write_1h_per_million: fc.option(rate, { nil: '0' }),
    audio_input: fc.option(rate, { nil: undefined }),
    per_search_call: rate,
    per_tool_call: fc.record({ code_interpreter: rate }),
    tier: fc.option(tier, { nil: undefined }),
    from: fc.integer({ min: 1, max: 5_000 }),
    creditsPerUsd: fc.constantFrom('1', '100', '997'),
  })
  .map(
    ({
      tier: dearer,
      from,
      creditsPerUsd,
      reasoning_per_million: reasoning,
      audio_input,
      ...rates
    }) =>
      compileCard(
        {
          ...rates,
          ...(audio_input === undefined ? {} : { audio_input }),
          ...(reasoning === undefined ? {} : { reasoning_per_million: reasoning }),
          ...(dearer === undefined
            ? {}
            : { pricing_tiers: [{ min_input_tokens: from, ...dearer }] }),
        },
        creditsPerUsd,
      ),
  );

const scenario = fc.record({
  cards: fc.array(card, { minLength: 1, maxLength: 3 }),
  searchCalls: fc.nat(2),
  toolCalls: fc.constantFrom(undefined, { code_interpreter: 2 }),
  cacheLife: fc.constantFrom('none' as const, '5m' as const, '1h' as const),
  inputTokens: fc.integer({ min: 0, max: 10_000 }),
  ceilingTokens: fc.integer({ min: 1, max: 5_000 }),
  sliceTokens: fc.integer({ min: 1, max: 1_024 }),
  walletMicros: fc.bigInt({ min: 0n, max: 20_000_000n }),
  steps: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 }),
});

function lesser(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}

test('what is held always covers what may be delivered, as output or as reasoning', () => {
  fc.assert(
    fc.property(scenario, ({ cards, inputTokens, ceilingTokens, ...rest }) => {
      const { sliceTokens, steps, searchCalls, toolCalls, cacheLife } = rest;
      const soundTokens = Math.floor(inputTokens / 3);
      const calls = { searchCalls, toolCalls };
      const need = { inputTokens, soundTokens, ceilingTokens, ...calls, cacheLife };
      let walletMicros = rest.walletMicros;
      const funds = firstHold(cards, need, sliceTokens);
      if (funds.heldMicros > walletMicros) return;
      walletMicros -= funds.heldMicros;
      let delivered = 0;
      for (const wanted of steps) {
        for (let token = 0; token < wanted && delivered < ceilingTokens; token += 1) {
          if (!covers(funds, delivered)) break;
          delivered += 1;
        }
        const used = toolCalls === undefined ? { searchCalls } : { searchCalls, toolCalls };
        for (const prices of cards) {
          const as = (members: object) =>
            charge(prices, { ...zeroUsage, inputTokens, ...used, ...members }).chargeMicros;
          assert.ok(as({ outputTokens: delivered }) <= funds.heldMicros);
          assert.ok(as({ reasoningTokens: delivered }) <= funds.heldMicros);
          const sound = { audioInputTokens: soundTokens, outputTokens: delivered };
          assert.ok(as(sound) <= funds.heldMicros);
          if (cacheLife === 'none') continue;
          const written = { inputTokens: 0, cacheWriteTokens: inputTokens };
          assert.ok(as({ ...written, outputTokens: delivered }) <= funds.heldMicros);
          const rest = { cacheWriteTokens: inputTokens - soundTokens, inputTokens: soundTokens };
          assert.ok(as({ ...rest, ...sound }) <= funds.heldMicros, 'sound beside what is written');
          if (cacheLife === '5m') continue;
          const hour = { ...written, cacheWrite1hTokens: inputTokens };
          assert.ok(as({ ...hour, reasoningTokens: delivered }) <= funds.heldMicros);
        }
        assert.ok(funds.heldTokens <= ceilingTokens);
        assert.ok(ceilingMicros(cards, need, funds.heldTokens) <= funds.heldMicros);
        if (!covers(funds, delivered) && !isOver(funds)) {
          assert.ok(sliceDue(funds, delivered, sliceTokens), 'nobody waits for ever');
        }
        if (!sliceDue(funds, delivered, sliceTokens)) continue;
        funds.usedUp = !covers(funds, delivered);
        const { amountMicros, minimumMicros } = nextSlice(cards, funds, sliceTokens);
        assert.ok(minimumMicros >= 0n && minimumMicros <= amountMicros, 'the wallet accepts it');
        // As the wallet decides: as far as funds go, at least the minimum.
        const added = lesser(walletMicros, amountMicros);
        if (added < minimumMicros) {
          funds.dry = true;
          continue;
        }
        const before = funds.heldTokens;
        walletMicros -= added;
        addSlice(cards, funds, added, sliceTokens);
        assert.ok(funds.heldTokens >= before);
        if (added === amountMicros) {
          const whole = Math.min(ceilingTokens, before + sliceTokens);
          assert.equal(funds.heldTokens, whole);
          assert.ok(!funds.dry);
        }
      }
      assert.ok(walletMicros >= 0n);
    }),
    { seed, numRuns: 500 },
  );
});

test('the first hold is the input and a slice, or less when less may be answered', () => {
  const prices = compileCard({ input_per_million: '2.50', output_per_million: '10.00' }, '100');
  const hold = (ceilingTokens: number, searchCalls = 0) =>
    firstHold(
      [prices],
      {
        inputTokens: 1_000,
        soundTokens: 0,
        ceilingTokens,
        searchCalls,
        toolCalls: undefined,
        cacheLife: 'none',
      },
      1_024,
    );
  assert.equal(hold(4_096).heldMicros, 262_500n + 1_024n * 1_050n);
  assert.equal(hold(10).heldMicros, 262_500n + 10n * 1_050n);
  assert.equal(hold(10).heldTokens, 10);
});
