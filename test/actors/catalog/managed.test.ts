// Managed routes in the catalog: resolved over enabled models, and public without a lie about
// rates that depend on which model is chosen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';
import {
  buildSnapshot,
  type CatalogSnapshot,
  publicEntries,
} from '../../../actors/catalog/snapshot.ts';
import { modelStatuses } from '../../../actors/monitor/routes.ts';

const providers = [
  { name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', simulated: true },
  { name: 'two', family: 'openai-chat', base_url: 'http://127.0.0.1:8/v1' },
];

function model(alias: string, more: Record<string, unknown> = {}) {
  return {
    alias,
    routes: [{ provider: 'one', upstream_model: alias }],
    price: { input_per_million: '1', output_per_million: '2' },
    ...more,
  };
}

function snapshotOf(models: unknown[], routes: unknown[]): CatalogSnapshot {
  const document = v.parse(catalogDocumentSchema, { providers, models, routes });
  assert.deepEqual(documentFaults(document), []);
  return buildSnapshot(document, () => 0);
}

test('a route has its models resolved, with defaults for what is not said', () => {
  const { routes } = snapshotOf(
    [model('a'), model('b')],
    [
      {
        alias: 'auto',
        pool: [{ model: 'b', quality: 80, qualities: { code: 90 } }, { model: 'a' }],
        cost_guard: { max_cost_premium_percent: 50 },
      },
    ],
  );
  const [route] = routes;
  assert.deepEqual(
    route?.pool.map(({ model: { alias }, ...rest }) => ({ alias, ...rest })),
    [
      { alias: 'b', quality: 80, qualities: { code: 90 } },
      { alias: 'a', quality: 50, qualities: {} },
    ],
  );
  assert.equal(route?.optimizer, 'never');
  assert.equal(route?.costPremiumMax, 0.5);
  assert.equal(route?.simulated, true);
});

test('a public entry has all capabilities, the largest window, and shared rates only', () => {
  const snapshot = snapshotOf(
    [
      model('a', { capabilities: ['chat', 'tools'], context_window: 1_000 }),
      model('b', {
        capabilities: ['chat', 'vision'],
        context_window: 9_000,
        price: {
          input_per_million: '1',
          output_per_million: '3',
          pricing_tiers: [{ min_input_tokens: 500, input_per_million: '4' }],
        },
      }),
    ],
    [{ alias: 'auto', display_name: 'Automatic', pool: [{ model: 'a' }, { model: 'b' }] }],
  );
  assert.deepEqual(publicEntries(snapshot).at(-1), {
    alias: 'auto',
    display_name: 'Automatic',
    provider: 'svc',
    available: true,
    supports_streaming: true,
    credits_per_million_input: 105,
    credits_per_million_cached_input: 105,
    credits_per_million_output: null,
    pricing_tiers: [
      {
        min_input_tokens: 500,
        credits_per_million_input: null,
        credits_per_million_cached_input: null,
        credits_per_million_output: null,
      },
    ],
    capabilities: ['chat', 'tools', 'vision'],
    context_window: 9_000,
  });
});

test('a pool of one model has that model’s rates, tiers included', () => {
  const price = {
    input_per_million: '1',
    output_per_million: '3',
    pricing_tiers: [{ min_input_tokens: 500, input_per_million: '4' }],
  };
  const { models, routes } = snapshotOf(
    [model('a', { price })],
    [{ alias: 'auto', pool: [{ model: 'a' }] }],
  );
  const { alias: _a, display_name: _b, ...exact } = models[0]?.public ?? assert.fail('no model');
  const { alias: _c, display_name: _d, ...managed } = routes[0]?.public ?? assert.fail('no route');
  assert.deepEqual(managed, exact);
});

test('disabled models leave the pool, and a route without a model leaves the catalog', () => {
  const models = [model('a'), model('b', { enabled: false })];
  const routes = [
    { alias: 'both', pool: [{ model: 'a' }, { model: 'b' }] },
    { alias: 'none', pool: [{ model: 'b' }] },
    { alias: 'off', pool: [{ model: 'a' }], enabled: false },
  ];
  const snapshot = snapshotOf(models, routes);
  assert.deepEqual(
    snapshot.routes.map(({ alias, pool }) => [alias, pool.length]),
    [['both', 1]],
  );
});

test('a route moves the content version', () => {
  const without = snapshotOf([model('a')], []);
  const after = snapshotOf([model('a')], [{ alias: 'auto', pool: [{ model: 'a' }] }]);
  assert.notEqual(after.contentVersion, without.contentVersion);
});

test('the status of a route is that of the provider routes of its pool, each once', () => {
  const both = [
    { provider: 'one', upstream_model: 'x' },
    { provider: 'two', upstream_model: 'x' },
  ];
  const snapshot = snapshotOf(
    [model('a', { routes: both }), model('b', { routes: both.slice(1) })],
    [{ alias: 'auto', pool: [{ model: 'a' }, { model: 'b' }] }],
  );
  const probed = new Map([
    ['one/x', true],
    ['two/x', false],
  ]);
  const status = modelStatuses(snapshot, probed, []).find(({ alias }) => alias === 'auto');
  assert.equal(status?.status, 'degraded');
  assert.equal(status?.routes_total, 2);
  assert.equal(status?.routes_operational, 1);
});
