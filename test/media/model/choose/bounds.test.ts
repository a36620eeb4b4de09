// Where the bands and bounds of a managed route's decision lie, to the point: a band that is one
// point narrower, or a bound beside the wrong model, chooses another model and another price.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Candidate,
  type CandidateRoute,
  type ChooseInput,
  chooseModel,
} from '../../../../media/model/choose/choose.ts';
import { openPolicy } from '../../../../media/model/choose/policy.ts';

type More = Partial<Candidate> & { route?: Partial<CandidateRoute> };

function candidate(alias: string, { route, ...more }: More): Candidate {
  const known = { provider: 'p', format: 'chat', healthy: true, successRate: 1 } as const;
  return {
    alias,
    capabilities: [],
    contextWindow: 10_000,
    outputTokensMax: 1_000,
    quality: 80,
    qualities: {},
    costMicros: 100,
    routes: [{ ...known, routeId: `p/${alias}`, firstEventMs: null, ...route }],
    ...more,
  };
}

/** The order in which models are tried; without a `random` the first two of peers are drawn. */
function order(pool: Candidate[], more: Partial<ChooseInput> = {}): string {
  const decision = chooseModel({
    pool,
    needs: { capabilities: [], preferred: [], format: null, inputTokens: 1, outputTokensMax: 1 },
    task: { category: 'chat', confidence: 1 },
    policy: openPolicy,
    costPremiumMax: null,
    stickyAlias: null,
    reroute: false,
    random: () => 0,
    ...more,
  });
  assert.ok(decision.status === 'chosen');
  return decision.candidates.map(({ alias }) => alias).join(' ');
}

test('five points below the best is as good, and a little more is not', () => {
  const best = candidate('best', { costMicros: 200 });
  assert.equal(order([best, candidate('cheap', { quality: 75 })]), 'cheap best');
  assert.equal(order([best, candidate('cheap', { quality: 74.9 })]), 'best cheap');
});

test('a tenth above the cheapest is as cheap, and a little more is not', () => {
  const cheap = candidate('cheap', { costMicros: 1_000, route: { firstEventMs: 900 } });
  const at = (costMicros: number) => candidate('quick', { costMicros, route: { firstEventMs: 1 } });
  assert.equal(order([cheap, at(1_100)]), 'quick cheap');
  assert.equal(order([cheap, at(1_101)]), 'cheap quick');
});

test('the smaller premium counts, whether the route or the policy has it', () => {
  const pool = [
    candidate('dear', { quality: 90, costMicros: 150 }),
    candidate('cheap', { quality: 50 }),
  ];
  const loose = { ...openPolicy, costPremiumMax: 1 };
  assert.equal(order(pool, { policy: loose }), 'dear cheap');
  assert.equal(order(pool, { policy: loose, costPremiumMax: 0.1 }), 'cheap');
});

test('a premium is measured from the cheapest that is well', () => {
  const pool = [
    candidate('dear', { quality: 90, costMicros: 150 }),
    candidate('fair', { quality: 70 }),
    candidate('ill', { quality: 50, costMicros: 1, route: { healthy: false } }),
  ];
  assert.equal(order(pool, { costPremiumMax: 0.5 }), 'dear fair');
});

test('of others as good the cheaper is tried first', () => {
  const pool = [
    candidate('dear', { quality: 50, costMicros: 300 }),
    candidate('cheap', { quality: 50 }),
    candidate('best', {}),
  ];
  assert.equal(order(pool), 'best cheap dear');
});

test('who answers as quickly but fails more is the slower one', () => {
  const pool = [
    candidate('unsure', { quality: 83, route: { firstEventMs: 100, successRate: 0.96 } }),
    candidate('sure', { route: { firstEventMs: 101 } }),
  ];
  assert.equal(order(pool), 'sure unsure');
});

test('a model succeeds as often as the best of its routes', () => {
  const two = candidate('two', {});
  const [route] = two.routes;
  assert.ok(route !== undefined);
  const routes = [route, { ...route, routeId: 'q/two', successRate: 0.1 }];
  assert.equal(order([{ ...two, routes }, candidate('one', { quality: 60 })]), 'two one');
});
