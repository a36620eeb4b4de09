// What a voice session costs: sums, exact units, holds and estimates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addReport,
  billingUnits,
  chargeOf,
  estimated,
  holdMicros,
  noUsage,
  publicUsage,
} from '../../../actors/voice/tariff.ts';
import { compileCard } from '../../../actors/wallet/price.ts';
import { fc } from '../../harness/properties.ts';

const card = compileCard(
  {
    audio_input: '32.00',
    text_input: '4.00',
    audio_output: '64.00',
    text_output: '16.00',
    per_search_call: '0.005',
  },
  '100',
);
const perSecond = { audioInput: 20, textInput: 10, audioOutput: 20, textOutput: 20 };

test('reports are summed, and the charge is that of the sum, rounded once', () => {
  const usage = { ...noUsage };
  const report = {
    inputSpeechTokens: 10,
    inputTextTokens: 3,
    outputSpeechTokens: 20,
    outputTextTokens: 1,
  };
  for (let time = 0; time < 3; time += 1) addReport(usage, report);
  // (30 x 32 + 9 x 4 + 60 x 64 + 3 x 16) dollars a million, x 100 credits x 10^6 micros, x 1.05
  const expected = BigInt((30 * 32 + 9 * 4 + 60 * 64 + 3 * 16) * 105);
  assert.equal(chargeOf(card, usage).chargeMicros, expected);
  usage.searchCalls = 2;
  assert.equal(chargeOf(card, usage).chargeMicros, expected + 1_050_000n);
  assert.deepEqual(publicUsage(usage), {
    input_speech_tokens: 30,
    input_text_tokens: 9,
    output_speech_tokens: 60,
    output_text_tokens: 3,
    total_input_tokens: 39,
    total_output_tokens: 63,
  });
});

test('billing units are exact decimals of millions, without the zero ones', () => {
  assert.deepEqual(billingUnits({ ...noUsage }), {});
  const usage = { ...noUsage, inputSpeechTokens: 1_234, inputTextTokens: 1_500_000 };
  assert.deepEqual(billingUnits({ ...usage, outputSpeechTokens: 10_000_000, searchCalls: 3 }), {
    audio_input_million_tokens: '0.001234',
    text_input_million_tokens: '1.5',
    audio_output_million_tokens: '10',
  });
  const tokens = fc.integer({ min: 1, max: 2_000_000_000 });
  fc.assert(
    fc.property(tokens, (count) => {
      const units = billingUnits({ ...noUsage, inputSpeechTokens: count });
      const text = units.audio_input_million_tokens ?? '';
      assert.match(text, /^\d+(\.\d*[1-9])?$/);
      const [whole = '', fraction = ''] = text.split('.');
      assert.equal(BigInt(whole + fraction.padEnd(6, '0')), BigInt(count));
    }),
  );
});

test('a hold covers every second at the declared rates, and never less than a shorter one', () => {
  const tariff = { card, perSecond };
  const second = BigInt((20 * 32 + 10 * 4 + 20 * 64 + 20 * 16) * 105);
  assert.equal(holdMicros(tariff, 1_000), second);
  assert.equal(holdMicros(tariff, 450_000), 450n * second);
  assert.equal(holdMicros(tariff, -5), 0n);
  const duration = fc.integer({ min: 0, max: 450_000 });
  fc.assert(
    fc.property(duration, duration, (a, b) => {
      const [short, long] = a < b ? [a, b] : [b, a];
      assert.ok(holdMicros(tariff, short) <= holdMicros(tariff, long));
    }),
  );
});

test('sound without a report is estimated by the clock', () => {
  assert.deepEqual(estimated(perSecond, 1_500, 2_000), {
    inputSpeechTokens: 30,
    inputTextTokens: 0,
    outputSpeechTokens: 40,
    outputTextTokens: 0,
  });
});
