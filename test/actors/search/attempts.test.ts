// One search from target to target, on a clock of the test's own. Each outcome leads somewhere with
// one target and with two, and means something for the target.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { type AttemptDeps, askTargets } from '../../../actors/search/attempts.ts';
import type { SearchOrder, SearchResult } from '../../../actors/search/contract.ts';
import type { ServedSurface } from '../../../media/search/surfaces.ts';
import {
  noSearchMetrics,
  searchAsk,
  searchSurface,
  searchTarget,
} from '../../harness/search-surface.ts';
import { fakeClient, fakeClock, outcome, type State } from './fakes.ts';

const first = searchTarget('one/web_search');
const second = searchTarget('two/web_search', { family: 'tavily' });
const third = searchTarget('three/web_search');
const { signal } = new AbortController();

interface Trial {
  /** What each call answers, in their order. */
  answers: readonly (State | ReturnType<typeof outcome>)[];
  targets?: readonly (typeof first)[];
  surface?: ServedSurface;
  /** What passes in each call. */
  tookMs?: number;
  isLastResort?: true;
}

function trialOf({ answers, targets = [first], surface = 'web_search', ...rest }: Trial) {
  const clock = fakeClock();
  const client = fakeClient((_routeId, call, { deadlineMs }) => {
    clock.pass(Math.min(rest.tookMs ?? 10, deadlineMs));
    const answer = answers[call - 1] ?? 'failed';
    return typeof answer === 'string' ? outcome(answer) : answer;
  });
  const health = createRouteHealth();
  const lines: object[] = [];
  const deps: AttemptDeps = {
    client,
    health,
    clock,
    isScoring: (family) => family === 'tavily',
    metrics: noSearchMetrics,
    log: { warn: (details) => void lines.push(details) },
  };
  const order: SearchOrder = {
    surface: searchSurface(targets),
    ask: searchAsk('who secretly won', { surface }),
    accountId: 'acc_1',
    maxAgeSeconds: 0,
    answer: null,
    ...(rest.isLastResort === undefined ? {} : { isLastResort: true }),
  };
  const run = () => askTargets(deps, order, signal);
  return { run, client, health, clock, lines };
}

const told = ({ state, failure }: SearchResult) =>
  failure === null ? state : `${state} ${failure.kind}`;
const engines = (result: SearchResult) =>
  result.engines.map(({ name, state }) => `${name} ${state}`).join(', ');

const failing: readonly State[] = [
  'refused',
  'busy',
  'exhausted',
  'credential',
  'failed',
  'timeout',
];

test('one target: each outcome is told as what it is', async () => {
  const expected: Record<State, string> = {
    found: 'found',
    partial: 'partial',
    empty: 'empty',
    refused: 'failed refused',
    busy: 'failed busy',
    exhausted: 'failed failed',
    credential: 'failed failed',
    failed: 'failed failed',
    timeout: 'failed timeout',
    aborted: 'failed aborted',
  };
  for (const [state, result] of Object.entries(expected) as [State, string][]) {
    const { run, client } = trialOf({ answers: [state, state] });
    const made = await run();
    assert.equal(told(made), result, state);
    assert.equal(client.asked.length, state === 'empty' ? 2 : 1, state);
    assert.equal(made.isAsked, true);
    const isFound = state === 'found' || state === 'partial';
    assert.equal(made.items.length, isFound ? 1 : 0, state);
    assert.equal(made.costMicros, isFound || state === 'empty' ? 7n : 0n, state);
  }
});

test('two targets: where one fails the other is asked, and both are told as one', async () => {
  const targets = [first, second];
  for (const one of failing) {
    for (const other of [...failing, 'found', 'partial'] as const) {
      const { run, client } = trialOf({ answers: [one, other], targets });
      const made = await run();
      const named = `${one}, ${other}`;
      assert.deepEqual(
        client.asked.map(({ routeId }) => routeId),
        ['one/web_search', 'two/web_search'],
        named,
      );
      if (other === 'found' || other === 'partial') {
        assert.deepEqual([told(made), made.routeId], [other, 'two/web_search'], named);
        continue;
      }
      const isSame = one === other && ['refused', 'busy', 'timeout'].includes(one);
      assert.equal(told(made), `failed ${isSame ? one : 'failed'}`, named);
    }
  }
});

test('what is empty is asked once more: of the next target, or of the same', async () => {
  const cases: [Trial['answers'], number, string, string][] = [
    [['empty', 'found'], 1, 'found', 'r1 empty, r1 found'],
    [['empty', 'empty'], 1, 'empty', 'r1 empty, r1 empty'],
    [['empty', 'failed'], 1, 'empty', 'r1 empty, r1 failed'],
    [['empty', 'partial'], 2, 'partial', 'r1 empty, r2 partial'],
    [['empty', 'empty'], 2, 'empty', 'r1 empty, r2 empty'],
    [['empty', 'empty', 'found'], 3, 'empty', 'r1 empty, r2 empty'],
    [['empty', 'failed', 'found'], 2, 'found', 'r1 empty, r2 failed, r1 found'],
    [['failed', 'empty', 'found'], 2, 'found', 'r1 failed, r2 empty, r2 found'],
    [['failed', 'empty', 'found'], 3, 'found', 'r1 failed, r2 empty, r3 found'],
    [['failed', 'failed', 'empty', 'found'], 3, 'empty', 'r1 failed, r2 failed, r3 empty'],
    [['failed', 'busy', 'refused', 'found'], 3, 'failed failed', 'r1 failed, r2 busy, r3 failed'],
  ];
  for (const [answers, count, result, tries] of cases) {
    const { run, clock } = trialOf({ answers, targets: [first, second, third].slice(0, count) });
    const begunMs = clock.awakeMs();
    const made = await run();
    assert.equal(told(made), result, tries);
    assert.equal(engines(made), tries);
    const names = made.engines.map(({ name }) => name);
    const isSame = new Set(names).size < names.length;
    assert.equal(clock.awakeMs() - begunMs, 10 * names.length + (isSame ? 300 : 0), tries);
  }
});

test('an attempt has five seconds, all of them eight; travel has twelve and twenty', async () => {
  const targets = [first, second, third];
  const deadlines = async (surface: ServedSurface) => {
    const { run, client } = trialOf({
      answers: ['timeout', 'timeout'],
      targets,
      surface,
      tookMs: 60_000,
    });
    assert.equal(told(await run()), 'failed timeout');
    return client.asked.map(({ deadlineMs }) => deadlineMs);
  };
  assert.deepEqual(await deadlines('web_search'), [5_000, 3_000]);
  for (const surface of ['engine_flights', 'engine_hotels', 'engine_routes'] as const) {
    assert.deepEqual(await deadlines(surface), [12_000, 8_000], surface);
  }
  const late = trialOf({ answers: ['empty', 'found'], tookMs: 4_990 });
  const [one, two] = [await late.run(), late.client.asked];
  assert.deepEqual([told(one), two.map(({ deadlineMs }) => deadlineMs)], ['found', [5_000, 2_710]]);
  // What is empty at the very end is not asked for again.
  const last = trialOf({ answers: ['failed', 'empty'], targets: [first, second], tookMs: 3_990 });
  assert.equal(told(await last.run()), 'empty');
  assert.equal(last.client.asked.length, 2);
});

test('a target rests as its failure says, and is passed over meanwhile', async () => {
  const cases: [State, number, string, number | null][] = [
    ['busy', 40_000, 'busy', 40_000],
    ['busy', 3_600_000, 'busy', 60_000],
    ['exhausted', 0, 'unpaid', 600_000],
    ['credential', 0, 'down', null],
  ];
  for (const [state, retryAfterMs, why, restMs] of cases) {
    const answer = outcome(state, { retryAfterMs });
    const { run, client, health, clock } = trialOf({ answers: [answer, 'found', 'found'] });
    await run();
    const { upstream } = first;
    const untilMs = restMs === null ? null : clock.nowMs() + restMs;
    assert.deepEqual(health.restOf(upstream, clock.nowMs()), { why, untilMs }, state);
    const skipped = await run();
    assert.equal(client.asked.length, 1, state);
    assert.equal(engines(skipped), 'r1 skipped');
    assert.equal(skipped.isAsked, false);
    assert.equal(told(skipped), state === 'busy' ? 'failed busy' : 'failed no_route');
    if (state === 'busy') assert.equal(skipped.failure?.retryAfterMs, restMs);
    clock.pass(restMs ?? 86_400_000);
    assert.equal(told(await run()), restMs === null ? 'failed no_route' : 'found', state);
  }
});

test('a target does not rest for a request that it refuses, nor for who leaves', async () => {
  for (const state of ['refused', 'aborted'] as const) {
    const { run, client, health, clock } = trialOf({ answers: Array(8).fill(state) });
    for (let round = 0; round < 8; round += 1) await run();
    assert.equal(health.restOf(first.upstream, clock.nowMs()), null);
    assert.equal(client.asked.length, 8);
  }
});

test('five failures open the breaker; only who has no other way asks all the same', async () => {
  for (const isLastResort of [undefined, true] as const) {
    const answers = Array(5).fill('failed');
    const { run, client, clock } = trialOf({
      answers: [...answers, 'found', 'found'],
      ...(isLastResort === undefined ? {} : { isLastResort }),
    });
    for (let round = 0; round < 5; round += 1) await run();
    const open = await run();
    assert.equal(told(open), isLastResort ? 'found' : 'failed no_route');
    assert.equal(client.asked.length, isLastResort ? 6 : 5);
    clock.pass(5_000);
    assert.equal(told(await run()), 'found');
  }
});

test('healthy targets come first, and where pages are scored those that score', async () => {
  const targets = [first, second];
  const failed = trialOf({ answers: ['failed', 'found', 'found'], targets });
  assert.equal(engines(await failed.run()), 'r1 failed, r2 found');
  const again = await failed.run();
  assert.deepEqual([again.routeId, engines(again)], ['two/web_search', 'r1 found']);
  const scored = trialOf({ answers: ['found'], targets, surface: 'ai_search' });
  assert.equal((await scored.run()).routeId, 'two/web_search');
  const plain = trialOf({ answers: ['found'], targets });
  assert.equal((await plain.run()).routeId, 'one/web_search');
});

test('a surface without targets has no route, and nothing of a query is logged', async () => {
  const none = trialOf({ answers: [], targets: [] });
  const made = await none.run();
  assert.deepEqual([told(made), made.isAsked], ['failed no_route', false]);
  const { run, lines } = trialOf({ answers: ['failed'] });
  await run();
  assert.deepEqual(lines, [
    {
      account: 'acc_1',
      surface: 'web_search',
      route: 'one/web_search',
      state: 'failed',
      detail: 'fake failed',
    },
  ]);
});
