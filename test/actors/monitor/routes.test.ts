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

test('a route that nobody has paid for does not work, and no provider is named', () => {
  const targets = [{ routeId: 'first/m' }, { routeId: 'second/m' }];
  const models = [{ alias: 'two', targets }];
  const both = { ...catalog, models } as unknown as CatalogSnapshot;
  // The list of models is free: a probe says nothing of the bill, nor do calls from before.
  const probed = new Map(targets.map(({ routeId }) => [routeId, true]));
  const before = [{ ...seen(900, 1), routeId: 'first/m' }];
  const [one] = modelStatuses(both, probed, before, new Set(['first/m']));
  assert.deepEqual([one?.status, one?.routes_operational], ['degraded', 1]);
  assert.match(one?.reason ?? '', /provider\.unpaid/);
  const [none] = modelStatuses(both, probed, before, new Set(['first/m', 'second/m']));
  assert.equal(none?.status, 'unavailable');
  assert.match(none?.reason ?? '', /provider\.unpaid/);
  assert.doesNotMatch(JSON.stringify([one, none]), /first|second/);
});
