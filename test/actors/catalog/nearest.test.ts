// The alias that was probably meant, and that finding it is bounded work.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestAlias } from '../../../actors/catalog/nearest.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';

const aliases = [
  'svc-sim-chat',
  'svc-sim-responses',
  'svc-tts',
  'vendorA-mini-transcribe',
  'openai-gpt-4.1-mini',
  'openai-gpt-4.1',
  'anthropic-claude-sonnet-4-5',
  'local-qwen3-8b',
  'svc-intelligent',
];

test('a vendor’s own name, a typing error, another case and a date lead to the alias', () => {
  const cases = [
    ['gpt-4o', 'openai-gpt-4.1'],
    ['gpt-4.1', 'openai-gpt-4.1'],
    ['gpt-4.1-mini', 'openai-gpt-4.1-mini'],
    ['openai/gpt-4.1', 'openai-gpt-4.1'],
    ['claude-sonnet-4-5-20250929', 'anthropic-claude-sonnet-4-5'],
    ['claude-3-5-sonnet-latest', 'anthropic-claude-sonnet-4-5'],
    ['SVC-SIM-CHAT', 'svc-sim-chat'],
    ['svc-inteligent', 'svc-intelligent'],
    ['qwen3:8b', 'local-qwen3-8b'],
    ['tts', 'svc-tts'],
    ['mini-transcribe', 'vendorA-mini-transcribe'],
  ] as const;
  for (const [asked, expected] of cases)
    assert.equal(nearestAlias(asked, aliases), expected, asked);
});

test('what is like none of them leads nowhere', () => {
  for (const asked of ['', 'x', 'nope', 'banana', '模型', '\ud800', '__proto__', '9'.repeat(100)]) {
    assert.equal(nearestAlias(asked, aliases), null, asked);
  }
  assert.equal(nearestAlias('gpt-4o', []), null);
});

test('a long name among very many aliases takes a few milliseconds', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `${'model-'.repeat(12)}${index}`);
  nearestAlias('warm', many);
  const watch = startStopwatch();
  assert.ok(many.includes(nearestAlias('model-'.repeat(16), many) ?? ''));
  watch.assertWithin(50, 'the nearest of 100,000');
});
