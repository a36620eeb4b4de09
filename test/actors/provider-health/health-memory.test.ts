// What a route's health keeps of the past, and what it has to forget: counts from before an
// opening, a pause that another call's success does not end, a breaker that nobody has probed yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteHealth, type RouteHealth } from '../../../actors/provider-health/health.ts';
import { plainFailure } from '../../../media/transport/refusal.ts';

const failure = plainFailure('failed', '');

function fail(health: RouteHealth, nowMs: number, count = 1): void {
  for (let done = 0; done < count; done += 1) health.failed('a', failure, nowMs);
}

function succeed(health: RouteHealth, nowMs: number, count = 1): void {
  for (let done = 0; done < count; done += 1) health.succeeded('a', nowMs);
}

/** Route a, whose breaker opened at 0 for five seconds. */
function opened(): RouteHealth {
  const health = createRouteHealth();
  fail(health, 0, 5);
  assert.equal(health.allows('a', 4_999), false);
  return health;
}

test('a route that is well again is not judged by failures from before it opened', () => {
  const health = opened();
  assert.equal(health.started('a', 5_000), 1);
  succeed(health, 5_000, 5);
  fail(health, 5_000);
  assert.equal(health.allows('a', 5_000), true);
});

test('last resorts that fail while a breaker is open keep it open for no longer', () => {
  const health = opened();
  fail(health, 1_000, 5);
  assert.equal(health.allows('a', 5_000), true);
});

test('an open breaker is tried last after the rest of its last failure is over', () => {
  const health = opened();
  for (const nowMs of [5_000, 15_000]) {
    assert.notEqual(health.started('a', nowMs), null);
    fail(health, nowMs);
  }
  const targets = ['a', 'b'].map((routeId) => {
    return { routeId, family: 'any', baseUrl: 'http://x', apiKey: null, upstreamModel: 'm' };
  });
  const order = (nowMs: number) => health.order(targets, nowMs).map(({ routeId }) => routeId);
  assert.deepEqual(order(34_999), ['b', 'a']);
  assert.deepEqual(order(35_000), ['a', 'b']);
});

test('a breaker that opened is remembered until a probe has closed it', () => {
  const health = opened();
  assert.equal(health.records(3_600_000)[0]?.state, 'half-open');
  assert.equal(health.started('a', 3_600_000), 1, 'the next call is a probe');
  succeed(health, 3_600_000);
  assert.deepEqual(health.records(7_200_000), []);
});

test('failures of ten minutes ago open nothing', () => {
  const health = createRouteHealth();
  for (let round = 0; round < 4; round += 1) {
    fail(health, 0);
    succeed(health, 0);
  }
  fail(health, 600_000, 2);
  assert.equal(health.allows('a', 600_000), true);
});

test('a record tells the pause that a provider asked for, whoever succeeded since', () => {
  const health = createRouteHealth();
  health.failed('a', { ...plainFailure('busy', ''), retryAfterMs: 20_000 }, 0);
  succeed(health, 1);
  assert.equal(health.records(2)[0]?.restUntilMs, 20_000);
});

test('a clock that is set back makes nothing of the past weigh more', () => {
  const health = createRouteHealth();
  fail(health, 100_000);
  succeed(health, 100_000);
  assert.equal(health.stats('a', 0).successRate, 2 / 3);
});

test('an answer of one token has no speed', () => {
  const health = createRouteHealth();
  health.succeeded('a', 0, { tokens: 1, durationMs: 10 });
  assert.equal(health.stats('a', 0).tokensPerSecond, null);
  health.succeeded('a', 0, { tokens: 2, durationMs: 10 });
  assert.equal(health.stats('a', 0).tokensPerSecond, 200);
});
