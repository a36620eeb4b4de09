// What traffic and probes say of a model together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { modelStatuses } from '../../../actors/monitor/routes.ts';
import type { RouteRecord } from '../../../actors/provider-health/health.ts';

const catalog = {
  models: [{ alias: 'one', targets: [{ routeId: 'r' }] }],
  routes: [],
} as unknown as CatalogSnapshot;

function seen(successes: number, failures: number, state: RouteRecord['state'] = 'closed') {
  return { routeId: 'r', successes, failures, state, restUntilMs: 0, lastChangeMs: 0 };
}

function statusOf(probe: boolean | null, observed: RouteRecord[]): string | undefined {
  const probed = new Map(probe === null ? [] : [['r', probe]]);
  return modelStatuses(catalog, probed, observed)[0]?.status;
}

test('a route whose probe fails works all the same for those that it serves', () => {
  assert.equal(statusOf(false, []), 'unavailable');
  assert.equal(statusOf(false, [seen(3, 0), seen(2, 0)]), 'operational');
  assert.equal(statusOf(null, [seen(5, 0)]), 'operational');
  // Too few calls say nothing, and neither do those of before its breaker opened.
  assert.equal(statusOf(false, [seen(4, 0)]), 'unavailable');
  assert.equal(statusOf(false, [seen(900, 5, 'open')]), 'unavailable');
  assert.equal(statusOf(true, [seen(900, 5, 'open')]), 'operational');
});

test('a route whose calls fail does not work, whatever its probe says', () => {
  assert.equal(statusOf(true, [seen(2, 1), seen(0, 4)]), 'unavailable');
  assert.equal(statusOf(true, [seen(0, 4)]), 'operational');
  assert.equal(statusOf(null, []), 'unknown');
});

test('a model whose every provider is disabled is unavailable, unasked', () => {
  const models = [{ alias: 'none', targets: [] }];
  const disabled = { ...catalog, models } as unknown as CatalogSnapshot;
  const [status] = modelStatuses(disabled, new Map(), []);
  assert.equal(status?.status, 'unavailable');
  assert.deepEqual([status?.routes_total, status?.routes_operational], [0, 0]);
});
