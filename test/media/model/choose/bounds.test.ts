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
import { candidate, input, route } from './pool.ts';

type More = Partial<Candidate> & { route?: Partial<CandidateRoute> };

function model(alias: string, { route: more, ...rest }: More): Candidate {
  return candidate(alias, { quality: 80, routes: [route(`p/${alias}`, more)], ...rest });
}

/** The order in which models are tried. */
function order(pool: Candidate[], more: Partial<ChooseInput> = {}): string {
  const decision = chooseModel(input(pool, more));
  assert.ok(decision.status === 'chosen');
  return decision.candidates.map(({ alias }) => alias).join(' ');
}

test('five points below the best is as good, and a little more is not', () => {
  const best = model('best', { costMicros: 200 });
  assert.equal(order([best, model('cheap', { quality: 75 })]), 'cheap best');
  assert.equal(order([best, model('cheap', { quality: 74.9 })]), 'best cheap');
});

test('a tenth above the cheapest is as cheap, and a little more is not', () => {
  const cheap = model('cheap', { costMicros: 1_000, route: { firstEventMs: 900 } });
  const at = (costMicros: number) => model('quick', { costMicros, route: { firstEventMs: 1 } });
  assert.equal(order([cheap, at(1_100)]), 'quick cheap');
  assert.equal(order([cheap, at(1_101)]), 'cheap quick');
});

test('the smaller premium counts, whether the route or the policy has it', () => {
  const pool = [model('dear', { quality: 90, costMicros: 150 }), model('cheap', { quality: 50 })];
  const loose = { ...openPolicy, costPremiumMax: 1 };
  assert.equal(order(pool, { policy: loose }), 'dear cheap');
  assert.equal(order(pool, { policy: loose, costPremiumMax: 0.1 }), 'cheap');
});

test('a premium is measured from the cheapest that is well', () => {
  const pool = [
    model('dear', { quality: 90, costMicros: 150 }),
    model('fair', { quality: 70 }),
    model('ill', { quality: 50, costMicros: 1, route: { healthy: false } }),
  ];
  assert.equal(order(pool, { costPremiumMax: 0.5 }), 'dear fair');
});

test('of others as good the cheaper is tried first', () => {
  const pool = [
    model('dear', { quality: 50, costMicros: 300 }),
    model('cheap', { quality: 50 }),
    model('best', {}),
  ];
  assert.equal(order(pool), 'best cheap dear');
});

test('who answers as quickly but fails more is the slower one', () => {
  const pool = [
    model('unsure', { quality: 83, route: { firstEventMs: 100, successRate: 0.96 } }),
    model('sure', { route: { firstEventMs: 101 } }),
  ];
  assert.equal(order(pool), 'sure unsure');
});

test('a model succeeds as often as the best of its routes', () => {
  const two = model('two', {});
  const [first] = two.routes;
  assert.ok(first !== undefined);
  const routes = [first, { ...first, routeId: 'q/two', successRate: 0.1 }];
  assert.equal(order([{ ...two, routes }, model('one', { quality: 60 })]), 'two one');
});
