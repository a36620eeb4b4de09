// The lines about what can be called, which a start prints.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { callableLines } from '../../../actors/catalog/listing.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';

function linesOf(document: Record<string, unknown>): string[] {
  return callableLines(buildSnapshot(v.parse(catalogDocumentSchema, document), () => 0));
}

const provider = (name: string, more: object = {}) => {
  return { name, family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', ...more };
};
const model = (alias: string, providers: string[], more: object = {}) => ({
  alias,
  routes: providers.map((name) => ({ provider: name, upstream_model: `upstream/${alias}` })),
  price: { input_per_million: '1', output_per_million: '2' },
  ...more,
});

test('aliases stand with each provider that runs them, disabled ones nowhere', () => {
  const lines = linesOf({
    providers: [
      ...['sim-a', 'sim-b'].map((name) => provider(name, { simulated: true })),
      ...[provider('one'), provider('two'), provider('off', { enabled: false })],
    ],
    models: [
      ...[model('a', ['sim-a']), model('b', ['sim-b']), model('c', ['one', 'two'])],
      ...[model('d', ['one']), model('e', ['one'], { enabled: false }), model('f', ['off'])],
    ],
    routes: [
      { alias: 'auto', pool: [{ model: 'c' }] },
      { alias: 'none', pool: [{ model: 'f' }] },
    ],
  });
  assert.deepEqual(lines, [
    'models of one: c, d',
    'models of two: c',
    'models of the simulator: a, b',
    'managed routes: auto',
  ]);
});

test('long lists are cut with a count', () => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const lines = linesOf({
    providers: names.map((name) => provider(name)),
    models: names.flatMap((name) => {
      return Array.from({ length: 15 }, (_, index) => model(`${name}-${index}`, [name]));
    }),
  });
  assert.equal(lines.length, 21);
  assert.match(lines[0] ?? '', /^models of p0: p0-0, .*p0-11 and 3 more: GET \/v1\/models$/);
  assert.equal(lines.at(-1), 'and 10 more providers');
});
