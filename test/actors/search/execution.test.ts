// The answer that is written from what was found: its time, its failures, and who has left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import type { Answerer } from '../../../actors/search/answering.ts';
import { realClock } from '../../../actors/search/clock.ts';
import { type ExecutionDeps, runSearch } from '../../../actors/search/execution.ts';
import { Problem } from '../../../runtime/problem.ts';
import {
  noSearchMetrics,
  searchAsk,
  searchSurface,
  searchTarget,
} from '../../harness/search-surface.ts';
import { fakeClient, fakeClock, outcome, type State } from './fakes.ts';

const grounded = { text: 'A [1].', citations: [], grounded: true, model: 'm', removed: 0 };
const order = {
  surface: searchSurface([searchTarget('one/web_search')], { name: 'web_answer' }),
  ask: searchAsk('secret penguins'),
  accountId: 'acc_1',
  maxAgeSeconds: 0,
  answer: { model: 'm', rules: null },
};

function stage(answer: Answerer['answer'], state: State = 'found') {
  const lines: string[] = [];
  const note = (details: object, text: string) => void lines.push(JSON.stringify([text, details]));
  const clock = fakeClock();
  const deps: ExecutionDeps = {
    client: fakeClient(() => outcome(state)),
    health: createRouteHealth(),
    isScoring: () => false,
    metrics: noSearchMetrics,
    log: { warn: note, error: note },
    clock,
    answerer: { answer },
    node: () => 3,
  };
  return { deps, lines, clock };
}

const { signal } = new AbortController();

test('an answer is written from the items, under an id of its own', async () => {
  const asked: Parameters<Answerer['answer']>[0][] = [];
  const { deps } = stage(async (input) => {
    asked.push(input);
    return grounded;
  });
  const result = await runSearch(deps, order, signal);
  assert.deepEqual([result.state, result.answer], ['found', grounded]);
  assert.deepEqual(asked[0]?.items, result.items);
  assert.match(asked[0]?.exchangeId ?? '', /^req_[0-9a-f]{24}$/);
  assert.deepEqual([asked[0]?.query, asked[0]?.order], ['secret penguins', order.answer]);
});

test('nothing is written where nothing was found or no answer is wanted', async () => {
  for (const [state, wanted] of [
    ['empty', order.answer],
    ['failed', order.answer],
    ['found', null],
  ] as const) {
    const { deps } = stage(() => assert.fail('nobody writes'), state);
    const result = await runSearch(deps, { ...order, answer: wanted }, signal);
    assert.deepEqual([result.state, 'answer' in result], [state, false]);
  }
});

test('what cannot be answered is partial, and the items stay', async () => {
  const failures: Answerer['answer'][] = [
    async () => null,
    async () => {
      throw new Error('it quotes secret penguins');
    },
    async () => {
      throw new Problem('rate_limited');
    },
  ];
  for (const answer of failures) {
    const { deps, lines } = stage(answer);
    const result = await runSearch(deps, order, signal);
    assert.deepEqual([result.state, result.answer, result.items.length], ['partial', null, 1]);
    assert.ok(!lines.join().includes('penguins'), lines.join());
  }
});

test('where the house has no funds there is no route', async () => {
  const { deps } = stage(async () => {
    throw new Problem('no_route_available');
  });
  const result = await runSearch(deps, order, signal);
  assert.deepEqual([result.state, result.failure?.kind], ['failed', 'no_route']);
  assert.equal(result.items.length, 0);
});

test('who leaves while it is written is told that it was given up', async () => {
  for (const isThrown of [true, false]) {
    const control = new AbortController();
    const { deps } = stage(
      (_input, given) =>
        new Promise((resolve, reject) => {
          given.addEventListener('abort', () => (isThrown ? reject(new Error()) : resolve(null)));
          control.abort();
        }),
    );
    const result = await runSearch(deps, order, control.signal);
    assert.deepEqual([result.state, result.failure?.kind], ['failed', 'aborted']);
  }
});

test('all of it has 45 seconds', async () => {
  const clock = fakeClock();
  const { deps } = stage(
    (_input, given) =>
      new Promise((resolve) => {
        given.addEventListener('abort', () => resolve(null));
      }),
  );
  // The search has taken all but a twentieth of a second.
  const client = fakeClient(() => {
    clock.pass(44_950);
    return outcome('found');
  });
  const begunMs = performance.now();
  const result = await runSearch({ ...deps, clock, client }, order, signal);
  assert.deepEqual([result.state, result.answer], ['partial', null]);
  assert.ok(performance.now() - begunMs < 5_000);
});

test('a bug of ours is a failure, and its words stay out of the log', async () => {
  const { deps, lines } = stage(async () => grounded);
  const client = {
    search: async () => {
      throw new TypeError('secret penguins');
    },
  };
  const result = await runSearch({ ...deps, client }, order, signal);
  assert.deepEqual([result.state, result.failure?.kind], ['failed', 'failed']);
  assert.match(lines.join(), /search crashed/);
  assert.match(lines.join(), /TypeError/);
  assert.ok(!lines.join().includes('penguins'), lines.join());
});

test('a pause ends with its time or with its signal', async () => {
  const begunMs = performance.now();
  await realClock.pause(20, signal);
  assert.ok(performance.now() - begunMs >= 19);
  const control = new AbortController();
  const paused = realClock.pause(60_000, control.signal);
  control.abort();
  await paused;
  await realClock.pause(60_000, control.signal);
});
