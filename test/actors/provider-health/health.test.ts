// The health of provider routes against a clock of the test's own: what a failure, a pause and a
// broken provider do to the order and to who may be called; and, under random histories, that a
// half-open breaker lets one probe through at a time and that nothing stays shut for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProbe } from '../../../actors/provider-health/breaker.ts';
import { createRouteHealth, type RouteHealth } from '../../../actors/provider-health/health.ts';
import type { UnpaidRoute } from '../../../actors/provider-health/unpaid.ts';
import type { UpstreamFailure } from '../../../media/model/events.ts';
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import { fc } from '../../harness/properties.ts';
import { testSeed } from '../../harness/seed.ts';

const seed = testSeed;

function target(routeId: string): UpstreamTarget {
  return { routeId, family: 'any', baseUrl: 'http://x', apiKey: null, upstreamModel: 'm' };
}

function failure(
  kind: UpstreamFailure['kind'] = 'failed',
  retryAfterMs: number | null = null,
): UpstreamFailure {
  return { kind, status: null, retryAfterMs, detail: '' };
}

function orderOf(health: RouteHealth, nowMs: number, ...routeIds: string[]): string[] {
  return health.order(routeIds.map(target), nowMs).map(({ routeId }) => routeId);
}

/** Fails a route until its breaker opens; returns the moment. */
function open(health: RouteHealth, routeId: string, nowMs: number): number {
  for (let count = 0; count < 5; count += 1) health.failed(routeId, failure(), nowMs);
  assert.equal(health.allows(routeId, nowMs), false);
  return nowMs;
}

test('a route that just failed is tried last, for ten seconds or until it succeeds', () => {
  const health = createRouteHealth();
  assert.deepEqual(orderOf(health, 0, 'a', 'b'), ['a', 'b']);
  health.failed('a', failure(), 0);
  assert.deepEqual(orderOf(health, 9_999, 'a', 'b'), ['b', 'a']);
  assert.equal(health.allows('a', 1), true, 'one failure shuts nothing');
  assert.deepEqual(orderOf(health, 10_000, 'a', 'b'), ['a', 'b']);
  health.failed('a', failure(), 20_000);
  health.succeeded('a', 20_001);
  assert.deepEqual(orderOf(health, 20_002, 'a', 'b'), ['a', 'b']);
});

test('a request that is at fault says nothing against the route', () => {
  const health = createRouteHealth();
  for (let count = 0; count < 50; count += 1) health.failed('a', failure('rejected'), count);
  assert.equal(health.allows('a', 50), true);
  assert.deepEqual(orderOf(health, 50, 'a', 'b'), ['a', 'b']);
  assert.equal(health.stats('a', 50).successRate, 1);
});

test('calls that waited for ourselves say nothing of the route, and give its probe back', () => {
  const health = createRouteHealth();
  for (let count = 0; count < 50; count += 1) health.failed('a', failure('overloaded'), count);
  assert.deepEqual(orderOf(health, 50, 'a', 'b'), ['a', 'b']);
  assert.equal(health.stats('a', 50).successRate, 1);
  const openedMs = open(health, 'a', 100);
  const laterMs = openedMs + 3_600_000;
  const probe = health.started('a', laterMs);
  assert.ok(probe !== null);
  assert.equal(health.started('a', laterMs), null);
  health.failed('a', failure('overloaded'), laterMs, { probe, startedMs: laterMs });
  assert.notEqual(health.started('a', laterMs), null, 'the probe is free again');
});

test('a provider that is busy rests as long as it asks, at most a minute, whoever succeeds', () => {
  const health = createRouteHealth();
  health.failed('a', failure('busy', 7_000), 0);
  health.succeeded('a', 1_000);
  assert.equal(health.allows('a', 6_999), false);
  assert.equal(health.started('a', 6_999), null);
  assert.deepEqual(orderOf(health, 6_999, 'a', 'b'), ['b', 'a']);
  assert.equal(health.allows('a', 7_000), true);
  health.failed('a', failure('busy', 3_600_000), 10_000);
  assert.equal(health.allows('a', 69_999), false);
  assert.equal(health.allows('a', 70_000), true);
  health.failed('a', failure('busy', 1_000), 70_000);
  health.failed('a', failure('busy', 30_000), 70_000);
  health.failed('a', failure('busy', 1_000), 70_000);
  assert.equal(health.allows('a', 99_999), false, 'the longest wish counts');
});

test('being busy opens no breaker', () => {
  const health = createRouteHealth();
  for (let count = 0; count < 20; count += 1) health.failed('a', failure('busy', 0), count);
  assert.equal(health.stats('a', 20).state, 'closed');
  assert.equal(health.allows('a', 20), true);
});

test('five failures in a row open the breaker, and one probe closes it', () => {
  const health = createRouteHealth();
  for (let count = 0; count < 4; count += 1) health.failed('a', failure(), 0);
  health.succeeded('a', 0);
  for (let count = 0; count < 4; count += 1) health.failed('a', failure(), 0);
  assert.equal(health.allows('a', 0), true, 'a success between: not in a row');
  health.failed('a', failure(), 0);
  assert.equal(health.stats('a', 0).state, 'open');
  assert.equal(health.started('a', 4_999), null);
  assert.equal(health.stats('a', 5_000).state, 'half-open');
  assert.equal(health.started('a', 5_000), 1, 'the probe');
  assert.equal(health.started('a', 5_001), null, 'no second one');
  assert.equal(health.allows('a', 5_001), false);
  health.firstEvent('a', 100, 5_100);
  assert.equal(health.allows('a', 5_101), true, 'others follow its first event');
  health.succeeded('a', 6_000);
  assert.equal(health.stats('a', 6_000).state, 'closed');
});

test('half of ten calls failing opens the breaker though none follow each other', () => {
  const health = createRouteHealth();
  let calls = 0;
  while (health.allows('a', 0) && calls < 100) {
    if (calls % 2 === 0) health.succeeded('a', 0);
    else health.failed('a', failure(), 0);
    calls += 1;
  }
  assert.equal(calls, 10);
});

test('a probe that begins and breaks opens the breaker again, for longer each time', () => {
  const health = createRouteHealth();
  let nowMs = open(health, 'a', 0);
  const times: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const openedMs = nowMs;
    while (health.started('a', nowMs) === null) nowMs += 500;
    times.push(nowMs - openedMs);
    if (round % 2 === 0) health.firstEvent('a', 10, nowMs + 10);
    nowMs += 20;
    health.failed('a', failure('cut'), nowMs);
    assert.equal(health.allows('a', nowMs), false);
  }
  assert.deepEqual(times, [5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000, 120_000]);
});

test('a provider that fails and names a pause is left alone for it, whoever succeeds', () => {
  const health = createRouteHealth();
  health.failed('a', failure('failed', 30_000), 0);
  health.succeeded('a', 1);
  assert.equal(health.allows('a', 29_999), false);
  assert.equal(health.started('a', 29_999), null);
  assert.equal(health.allows('a', 30_000), true);
});

test('a probe that succeeds ends the growth of the time for which a breaker opens', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  health.started('a', 5_000);
  health.failed('a', failure(), 5_000);
  assert.equal(health.allows('a', 14_999), false, 'ten seconds the second time');
  health.started('a', 15_000);
  health.succeeded('a', 15_000);
  open(health, 'a', 16_000);
  assert.equal(health.allows('a', 21_000), true, 'five seconds again');
});

test('a probe whose request is refused shows that the provider is there', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  health.started('a', 5_000);
  health.failed('a', failure('rejected'), 5_000);
  assert.equal(health.stats('a', 5_000).state, 'closed');
  assert.equal(health.started('a', 5_001), noProbe);
});

test('after a recovery the failures of before count no more', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  assert.equal(health.started('a', 5_000), 1);
  health.firstEvent('a', 10, 5_010);
  health.succeeded('a', 5_020);
  for (let count = 0; count < 4; count += 1) {
    health.failed('a', failure(), 5_030);
    assert.equal(health.allows('a', 5_030), true);
  }
});

test('a call from before the breaker opened closes nothing', () => {
  const health = createRouteHealth();
  open(health, 'a', 10_000);
  health.firstEvent('a', 5_000, 11_000);
  health.succeeded('a', 12_000);
  assert.equal(health.allows('a', 12_000), false);
});

test('a probe without a verdict gives its place back, a lost one after half a minute', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  assert.equal(health.started('a', 5_000), 1);
  health.abandoned('a', 1);
  assert.equal(health.started('a', 5_001), 2, 'given back');
  assert.equal(health.allows('a', 35_000), false);
  assert.equal(health.started('a', 35_001), 3, 'lost');
  health.abandoned('a', 2);
  assert.equal(health.allows('a', 35_002), false, 'the lost one gives back its own only');
});

test('who has no probe gives none back, by leaving or by being told to wait', () => {
  const health = createRouteHealth();
  assert.equal(health.started('a', 0), noProbe);
  open(health, 'a', 0);
  assert.equal(health.started('a', 5_000), 1);
  health.abandoned('a', noProbe);
  assert.equal(health.allows('a', 5_001), false);
  health.failed('a', failure('busy', 0), 5_002);
  assert.equal(health.allows('a', 5_003), false);
  health.failed('a', failure('busy', 0), 5_004, { probe: 1, startedMs: 5_000 });
  assert.equal(health.allows('a', 5_005), true, 'the probe itself was told to wait');
});

test('who calls without asking still closes and opens the breaker once its time is over', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  health.failed('a', failure(), 5_000);
  assert.equal(health.allows('a', 14_999), false, 'for ten seconds this time');
  health.succeeded('a', 15_000);
  assert.equal(health.stats('a', 15_000).state, 'closed');
});

test('a clock that is set back keeps no route shut for as long as it was ahead', () => {
  const aheadMs = 86_400_000;
  const health = createRouteHealth();
  open(health, 'open', aheadMs);
  health.failed('busy', failure('busy', 60_000), aheadMs);
  open(health, 'probed', aheadMs);
  assert.ok(health.started('probed', aheadMs + 5_000) !== null);
  for (const route of ['open', 'busy', 'probed']) {
    assert.equal(health.allows(route, aheadMs + 4_999), false, route);
    assert.equal(health.allows(route, 1_000), true, route);
    assert.deepEqual(orderOf(health, 1_000, route, 'b'), [route, 'b']);
    assert.ok(health.started(route, 1_000) !== null, route);
  }
  assert.equal(health.started('probed', 1_001), null, 'one probe');
});

test('where every route is shut the order is still all of them', () => {
  const health = createRouteHealth();
  open(health, 'a', 0);
  open(health, 'b', 0);
  assert.deepEqual(orderOf(health, 1, 'a', 'b', 'c'), ['c', 'a', 'b']);
  assert.deepEqual(orderOf(health, 1, 'a', 'b'), ['a', 'b']);
});

test('figures are decaying averages, and are forgotten', () => {
  const health = createRouteHealth();
  const unknown = {
    state: 'closed',
    successRate: 1,
    firstEventMs: null,
    tokensPerSecond: null,
  };
  assert.deepEqual(health.stats('a', 0), unknown);
  health.firstEvent('a', 100, 0);
  health.firstEvent('a', 300, 0);
  health.succeeded('a', 0, { tokens: 100, durationMs: 2_000 });
  health.failed('a', failure(), 0);
  assert.equal(health.stats('a', 0).firstEventMs, 200);
  assert.equal(health.stats('a', 0).tokensPerSecond, 50);
  assert.equal(health.stats('a', 0).successRate, 2 / 3);
  health.firstEvent('a', 1_000, 300_000);
  const later = health.stats('a', 300_000);
  assert.equal(later.firstEventMs, 600, 'two of 200 ms are one after a half-life');
  assert.ok(later.successRate > 0.96);
  assert.equal(health.records(300_000).length, 1);
  assert.deepEqual(health.records(86_400_000), [], 'nothing is kept of what is over');
  assert.deepEqual(health.stats('a', 86_400_000), unknown);
});

test('the monitor sees what it saw: counts by route, decayed, and the longest rest', () => {
  const health = createRouteHealth();
  health.succeeded('a', 0);
  health.succeeded('a', 0);
  health.failed('b', failure('busy', 5_000), 0);
  const [a, b] = health.records(60_000);
  assert.deepEqual([a?.routeId, a?.successes, a?.failures], ['a', 1, 0]);
  assert.deepEqual([b?.routeId, b?.failures, b?.restUntilMs], ['b', 0.5, 5_000]);
});

const step = fc.oneof(
  fc.record({ do: fc.constant('start' as const) }),
  fc.record({ do: fc.constantFrom('succeed' as const, 'event' as const) }),
  fc.record({ do: fc.constant('abandon' as const), own: fc.boolean() }),
  fc.record({
    do: fc.constant('fail' as const),
    kind: fc.constantFrom<UpstreamFailure['kind']>('failed', 'timeout', 'cut', 'busy', 'rejected'),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 500_000 })),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 40_000 }) }),
);

test('under any history one probe at a time goes through, and no route stays shut', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const health = createRouteHealth();
      let nowMs = 1_000_000;
      let probeSinceMs: number | null = null;
      let probe = noProbe;
      for (const each of steps) {
        if (each.do === 'wait') nowMs += each.ms;
        else if (each.do === 'start') {
          const isProbe = health.stats('a', nowMs).state !== 'closed';
          const allowed = health.allows('a', nowMs);
          const taken = health.started('a', nowMs);
          assert.equal(taken !== null, allowed, 'what is allowed may start');
          if (taken !== null && isProbe) {
            assert.ok(probeSinceMs === null || nowMs - probeSinceMs >= 30_000, 'one probe');
            probeSinceMs = nowMs;
            probe = taken;
          }
        } else {
          if (each.do === 'succeed') health.succeeded('a', nowMs);
          else if (each.do === 'abandon') health.abandoned('a', each.own ? probe : noProbe);
          else if (each.do === 'event') health.firstEvent('a', 0, nowMs);
          else if (each.do === 'fail') {
            health.failed('a', failure(each.kind, each.retryAfterMs), nowMs);
          }
          // Any verdict ends the probe, whoever's it is; others that leave or must wait have none.
          const isBusy = each.do === 'fail' && each.kind === 'busy';
          if (!isBusy && (each.do !== 'abandon' || each.own)) probeSinceMs = null;
        }
        const { successRate } = health.stats('a', nowMs);
        assert.ok(successRate > 0 && successRate <= 1);
      }
      assert.equal(health.allows('a', nowMs + 120_000), true);
      assert.notEqual(health.started('a', nowMs + 120_000), null);
    }),
    { seed, numRuns: 500 },
  );
});

test('a route that nobody has paid for rests ten minutes, and is told of once', () => {
  const told: UnpaidRoute[] = [];
  const health = createRouteHealth((found) => told.push(found));
  health.failed('a', failure('unpaid'), 0);
  health.failed('a', failure('unpaid'), 1_000);
  assert.deepEqual(told, [{ routeId: 'a', untilMs: 600_000 }]);
  for (const nowMs of [1_000, 599_999]) {
    assert.equal(health.allows('a', nowMs), false);
    assert.equal(health.started('a', nowMs), null);
    assert.deepEqual(orderOf(health, nowMs, 'a', 'b'), ['b', 'a']);
  }
  assert.equal(health.stats('a', 1_000).state, 'closed', 'its breaker has nothing to do with it');
  assert.equal(health.allows('a', 600_000), true);
  assert.equal(health.started('a', 600_000), noProbe);
  health.failed('a', failure('unpaid'), 600_001);
  assert.equal(told.length, 2, 'another rest');
});

test('a success ends that rest, but not one of a call from before it', () => {
  const told: UnpaidRoute[] = [];
  const health = createRouteHealth((found) => told.push(found));
  health.failed('a', failure('unpaid'), 10_000);
  health.succeeded('a', 11_000, null, { probe: noProbe, startedMs: 9_999 });
  assert.equal(health.allows('a', 11_000), false);
  health.failed('a', failure('busy', 1_000), 12_000);
  assert.equal(health.allows('a', 14_000), false, 'nor does another failure');
  health.succeeded('a', 19_000, null, { probe: noProbe, startedMs: 15_000, isFree: true });
  assert.equal(health.allows('a', 19_000), false, 'nor does what costs nothing');
  health.succeeded('a', 20_000, null, { probe: noProbe, startedMs: 15_000 });
  assert.equal(health.allows('a', 20_000), true);
  assert.deepEqual(told.at(-1), { routeId: 'a', untilMs: 0 });
});

test('what another shard has found of a bill counts here too', () => {
  const health = createRouteHealth(() => assert.fail('it is told already'));
  health.rest({ routeId: 'a', untilMs: 600_000 }, 0);
  assert.deepEqual(orderOf(health, 1, 'a', 'b'), ['b', 'a']);
  health.failed('a', failure('unpaid'), 2);
  health.rest({ routeId: 'a', untilMs: 0 }, 3);
  assert.deepEqual(orderOf(health, 4, 'a', 'b'), ['a', 'b']);
  health.rest({ routeId: 'a', untilMs: 600_000 }, 5);
  health.forget('a');
  assert.equal(health.allows('a', 6), true, 'it leads elsewhere now');
});
