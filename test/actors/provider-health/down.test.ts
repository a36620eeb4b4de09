// Routes whose credential is refused: they rest for that credential alone, until a probe succeeds
// or the record is another one, and every thread knows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDownRoutes, type DownRoute } from '../../../actors/provider-health/down.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { searchTarget } from '../../harness/search-surface.ts';

const { upstream: target } = searchTarget('one/web_search');
const renewed = { ...target, apiKey: 'key-2' };

test('a refused credential is told once, and rests until it is accepted', () => {
  const told: DownRoute[] = [];
  const down = createDownRoutes((found) => told.push(found));
  assert.equal(down.isDown(target), false);
  down.refused(target);
  down.refused(target);
  assert.equal(down.isDown(target), true);
  assert.equal(told.length, 1);
  down.accepted(target);
  assert.equal(down.isDown(target), false);
  assert.deepEqual(
    told.map(({ isDown }) => isDown),
    [true, false],
  );
});

test('another credential or address is not down, whatever is still told of the one before', () => {
  const down = createDownRoutes(() => {});
  down.refused(target);
  for (const other of [renewed, { ...target, baseUrl: 'http://b.test' }]) {
    assert.equal(down.isDown(other), false);
  }
  down.forget(target.routeId);
  assert.equal(down.isDown(target), false);
  down.refused(target);
  assert.equal(down.isDown(renewed), false, 'a call with the old key has ended late');
  down.accepted(renewed);
  assert.equal(down.isDown(target), true, 'the old key is as refused as it was');
});

test('what one thread finds the others know', () => {
  const threads: ReturnType<typeof createRouteHealth>[] = [];
  const publish = (found: DownRoute) => {
    for (const health of threads) health.down.heard(found);
  };
  for (let thread = 0; thread < 3; thread += 1) {
    threads.push(createRouteHealth(undefined, publish));
  }
  const rests = () => threads.map((health) => health.restOf(target, 0)?.why ?? null);
  threads[0]?.down.refused(target);
  assert.deepEqual(rests(), ['down', 'down', 'down']);
  // Who probes may be a thread that has heard of nothing.
  threads[2]?.forget(target.routeId);
  threads[2]?.down.accepted(target);
  assert.deepEqual(rests(), [null, null, null]);
});

test('a route that is down comes last, and is not forgotten for being unused', () => {
  const health = createRouteHealth();
  const other = { ...target, routeId: 'two/web_search' };
  health.down.refused(target);
  const order = () => health.order([target, other], 0).map(({ routeId }) => routeId);
  assert.deepEqual(order(), ['two/web_search', 'one/web_search']);
  health.records(10 * 86_400_000);
  assert.deepEqual(order(), ['two/web_search', 'one/web_search']);
  health.forget(target.routeId);
  assert.deepEqual(order(), ['one/web_search', 'two/web_search']);
});

test('why a route rests is told, with its end', () => {
  const health = createRouteHealth();
  assert.equal(health.restOf(target, 0), null);
  const failure = { status: null, retryAfterMs: 3_000, detail: '' };
  health.failed(target.routeId, { ...failure, kind: 'busy' }, 1_000);
  assert.deepEqual(health.restOf(target, 2_000), { why: 'busy', untilMs: 4_000 });
  health.failed(target.routeId, { ...failure, kind: 'unpaid' }, 2_000);
  assert.deepEqual(health.restOf(target, 2_000), { why: 'unpaid', untilMs: 602_000 });
  health.down.refused(target);
  assert.deepEqual(health.restOf(target, 2_000), { why: 'down', untilMs: null });
  health.down.accepted(target);
  assert.equal(health.restOf(target, 602_000), null);
  for (let call = 0; call < 5; call += 1) {
    health.failed(target.routeId, { ...failure, retryAfterMs: null, kind: 'cut' }, 700_000);
  }
  assert.deepEqual(health.restOf(target, 701_000), { why: 'open', untilMs: 705_000 });
  assert.equal(health.restOf(target, 705_000), null);
});
