// Calls that outlive the opening of their route's breaker: a provider that let them hang, and is
// well again, is not judged by how they end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProbe } from '../../../actors/provider-health/breaker.ts';
import { createRouteHealth, type RouteHealth } from '../../../actors/provider-health/health.ts';
import { plainFailure } from '../../../media/transport/refusal.ts';

const targets = ['a', 'b'].map((routeId) => {
  return { routeId, family: 'any', baseUrl: 'http://x', apiKey: null, upstreamModel: 'm' };
});
const late = plainFailure('timeout', 'nothing came');
const openedMs = 60_000;

/** Route a, whose first five calls hung for a minute; many more began before they ended. */
function opened(): RouteHealth {
  const health = createRouteHealth();
  for (let startedMs = 0; startedMs < 5; startedMs += 1) {
    health.failed('a', late, openedMs, { probe: noProbe, startedMs });
  }
  assert.equal(health.allows('a', openedMs + 4_999), false);
  return health;
}

/** The others end as well, one after the other. */
function endOld(health: RouteHealth, fromMs: number, untilMs: number): void {
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += 500) {
    health.failed('a', late, nowMs, { probe: noProbe, startedMs: nowMs - 60_000 });
  }
}

test('calls that hung before it opened do not shut a route that has recovered', () => {
  const health = opened();
  assert.equal(health.started('a', 65_000), 1);
  const probe = { probe: 1, startedMs: 65_000 };
  health.firstEvent('a', 100, 65_100);
  endOld(health, 65_200, 66_000);
  assert.equal(health.allows('a', 66_000), true, 'on probation');
  health.succeeded('a', 66_000, null, probe);
  endOld(health, 66_001, 120_000);
  assert.equal(health.allows('a', 120_000), true, 'closed');
  assert.equal(health.order(targets, 120_000)[0]?.routeId, 'a', 'nor is it tried last');
});

test('while the probe is under way they decide nothing, for better or worse', () => {
  const health = opened();
  assert.equal(health.started('a', 65_000), 1);
  endOld(health, 65_001, 80_000);
  assert.equal(health.stats('a', 80_000).state, 'half-open');
  health.succeeded('a', 80_000, null, { probe: noProbe, startedMs: 30_000 });
  assert.equal(health.started('a', 80_001), null, 'the probe is the only one');
  health.failed('a', late, 81_000, { probe: 1, startedMs: 65_000 });
  assert.equal(health.allows('a', 90_999), false, 'for ten seconds: it had opened before');
  assert.equal(health.allows('a', 91_000), true);
});

test('calls that began since do shut it again', () => {
  const health = opened();
  const probe = health.started('a', 65_000) ?? assert.fail('a probe');
  health.succeeded('a', 65_100, null, { probe, startedMs: 65_000 });
  for (let count = 0; count < 5; count += 1) {
    assert.equal(health.allows('a', 126_000), true);
    health.failed('a', late, 126_000, { probe: noProbe, startedMs: 66_000 });
  }
  assert.equal(health.allows('a', 126_001), false);
});

test('a pause that a provider asks for counts, whenever the call began', () => {
  const health = opened();
  const busy = { ...plainFailure('busy', ''), retryAfterMs: 20_000 };
  health.failed('a', busy, 70_000, { probe: noProbe, startedMs: 10_000 });
  assert.equal(health.allows('a', 89_999), false);
  assert.equal(health.allows('a', 90_000), true);
});

test('after a clock was set back every call is one of now', () => {
  const health = opened();
  const call = { probe: noProbe, startedMs: 1_000 };
  health.succeeded('a', 2_000, null, call);
  assert.equal(health.stats('a', 2_000).state, 'open', 'for as long as it may be open');
  const far = createRouteHealth();
  for (let count = 0; count < 5; count += 1) far.failed('a', late, 86_400_000);
  far.succeeded('a', 2_000, null, call);
  assert.equal(far.stats('a', 2_000).state, 'closed');
  for (let count = 0; count < 5; count += 1) far.failed('a', late, 3_000, call);
  assert.equal(far.allows('a', 3_000), false);
});
