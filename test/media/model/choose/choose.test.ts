// The decision of a managed route, rule by rule, and properties that hold for any pool: a decision
// keeps every rule, is the same for the same numbers, and never loses a candidate without a reason.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Candidate,
  type ChooseInput,
  chooseModel,
  type Decision,
} from '../../../../media/model/choose/choose.ts';
import {
  narrowPolicy,
  openPolicy,
  type RoutingPolicy,
  readRoutingPolicy,
} from '../../../../media/model/choose/policy.ts';
import { fc } from '../../../harness/properties.ts';
import { candidate, input, needs, route } from './pool.ts';

function policy(value: unknown): RoutingPolicy {
  const result = readRoutingPolicy(value);
  assert.ok(result.ok);
  return result.policy;
}

/** Order and category of a decision, or why there is none. */
function decide(pool: Candidate[], more: Partial<ChooseInput> = {}): string {
  return shown(chooseModel(input(pool, more)));
}

function shown(decision: Decision): string {
  if (decision.status === 'none') return `none: ${decision.reason}`;
  return `${decision.candidates.map(({ alias }) => alias).join(' ')}: ${decision.category}`;
}

test('the best for the task is chosen, and the others follow by merit', () => {
  const pool = [
    candidate('fair', { quality: 60 }),
    candidate('coder', { quality: 50, qualities: { code: 95 } }),
    candidate('good', { quality: 80 }),
  ];
  assert.equal(decide(pool), 'good fair coder: quality');
  const code = { category: 'code', confidence: 1 } as const;
  assert.equal(decide(pool, { task: code }), 'coder good fair: quality');
  const unsure = { category: 'code', confidence: 0.2 } as const;
  assert.equal(decide(pool, { task: unsure }), 'good fair coder: quality', 'a guess counts less');
});

test('a model without what the request needs is left out', () => {
  const pool = [
    candidate('best', { quality: 90 }),
    candidate('seeing', { capabilities: ['chat', 'vision'] }),
  ];
  const seeing = { ...needs, capabilities: ['vision'] };
  assert.equal(decide(pool, { needs: seeing }), 'seeing: capability');
  const hearing = { ...needs, capabilities: ['vision', 'audio'] };
  assert.equal(decide(pool, { needs: hearing }), 'none: capability');
});

test('a provider’s own tools need a route of their format', () => {
  const pool = [
    candidate('chat', { quality: 90 }),
    candidate('both', {
      routes: [route('p/both'), route('q/both', { format: 'responses' })],
    }),
  ];
  const decision = chooseModel(input(pool, { needs: { ...needs, format: 'responses' } }));
  assert.ok(decision.status === 'chosen');
  assert.deepEqual(decision.candidates, [{ alias: 'both', routeIds: ['q/both'] }]);
  assert.equal(decision.category, 'capability');
});

test('what is only better to have goes first where there is one', () => {
  const thinking = candidate('thinking', { capabilities: ['reasoning'], quality: 10 });
  const more = { needs: { ...needs, preferred: ['reasoning'] } };
  assert.equal(decide([candidate('best'), thinking], more), 'thinking: capability');
  assert.equal(decide([candidate('best')], more), 'best: quality');
});

test('input and ceiling must fit the window', () => {
  const pool = [
    candidate('small', { quality: 90, contextWindow: 2_000 }),
    candidate('large', { contextWindow: 9_000 }),
  ];
  const at = (inputTokens: number, outputTokensMax: number | null) =>
    decide(pool, { needs: { ...needs, inputTokens, outputTokensMax } });
  assert.equal(at(1_000, 1_000), 'small large: quality');
  assert.equal(at(1_001, 1_000), 'large: capability');
  assert.equal(at(1_000, 50_000), 'small large: quality', 'no model gives more than its ceiling');
  assert.equal(at(1_500, null), 'small large: quality', 'a quarter is left for the answer');
  assert.equal(at(1_501, null), 'large: capability');
  assert.equal(at(8_999, 2), 'none: context');
});

test('a policy allows models and providers; a request only narrows it', () => {
  const pool = [
    candidate('a', { quality: 90, routes: [route('one/a'), route('two/a')] }),
    candidate('b', { quality: 80, routes: [route('two/b')] }),
  ];
  const under = (value: unknown) => decide(pool, { policy: policy(value) });
  assert.equal(under({}), 'a b: quality');
  assert.equal(under({ denied_models: ['a'] }), 'b: policy');
  assert.equal(under({ allowed_models: ['b', 'x'] }), 'b: policy');
  assert.equal(under({ allowed_models: [] }), 'none: policy');
  assert.equal(under({ denied_providers: ['two'] }), 'a: policy');
  assert.equal(under({ allowed_providers: ['three'] }), 'none: policy');
  const decision = chooseModel(input(pool, { policy: policy({ denied_providers: ['one'] }) }));
  assert.ok(decision.status === 'chosen');
  assert.deepEqual(decision.candidates[0], { alias: 'a', routeIds: ['two/a'] });
  const both = narrowPolicy(policy({ allowed_models: ['a'] }), policy({ allowed_models: ['b'] }));
  assert.equal(decide(pool, { policy: both }), 'none: policy');
});

test('a policy that is none is refused with the member that is wrong', () => {
  const wrong: [unknown, string][] = [
    ['all', ''],
    [[], ''],
    [{ allowed: [] }, 'allowed'],
    [{ allowed_models: 'a' }, 'allowed_models'],
    [{ denied_providers: [1] }, 'denied_providers'],
    [{ max_cost_premium_percent: 1.5 }, 'max_cost_premium_percent'],
    [{ max_cost_premium_percent: -1 }, 'max_cost_premium_percent'],
    [{ max_cost_premium_percent: '5' }, 'max_cost_premium_percent'],
  ];
  for (const [value, member] of wrong) {
    assert.deepEqual(readRoutingPolicy(value), { ok: false, member }, JSON.stringify(value));
  }
  assert.equal(policy({ max_cost_premium_percent: 25 }).costPremiumMax, 0.25);
  assert.equal(policy(null), openPolicy);
});

test('who is not well is left out, and comes back when nobody is', () => {
  const ill = (alias: string, quality: number) =>
    candidate(alias, { quality, routes: [route(`p/${alias}`, { healthy: false })] });
  assert.equal(decide([ill('best', 90), candidate('well')]), 'well: fallback');
  assert.equal(decide([ill('best', 90), ill('other', 50)]), 'best other: fallback');
  const half = candidate('half', {
    routes: [route('one/half', { healthy: false }), route('two/half')],
  });
  const decision = chooseModel(input([half]));
  assert.ok(decision.status === 'chosen');
  assert.deepEqual(decision.candidates[0].routeIds, ['two/half']);
});

test('the guard leaves out what is too dear beside the cheapest that can do it', () => {
  const pool = [
    candidate('dear', { quality: 90, costMicros: 151 }),
    candidate('fair', { quality: 70, costMicros: 150 }),
    candidate('cheap', { quality: 50, costMicros: 100 }),
  ];
  assert.equal(decide(pool, { costPremiumMax: 0.51 }), 'dear fair cheap: quality');
  assert.equal(decide(pool, { costPremiumMax: 0.5 }), 'fair cheap: cost');
  const strict = policy({ max_cost_premium_percent: 0 });
  assert.equal(decide(pool, { costPremiumMax: 0.5, policy: strict }), 'cheap: cost');
});

test('of those as good the cheap is chosen', () => {
  const pool = [
    candidate('dear', { quality: 82, costMicros: 200 }),
    candidate('cheap', { quality: 80, costMicros: 100 }),
    candidate('worse', { quality: 60, costMicros: 1 }),
  ];
  assert.equal(decide(pool), 'cheap dear worse: cost');
});

test('a conversation keeps its model while that is allowed and well, unless asked anew', () => {
  const pool = [candidate('best', { quality: 90 }), candidate('usual', { quality: 50 })];
  const stickyAlias = 'usual';
  assert.equal(decide(pool, { stickyAlias }), 'usual best: sticky');
  assert.equal(decide(pool, { stickyAlias, reroute: true }), 'best usual: quality');
  const denied = policy({ denied_models: ['usual'] });
  assert.equal(decide(pool, { stickyAlias, policy: denied }), 'best: policy');
  assert.equal(decide(pool, { stickyAlias: 'gone' }), 'best usual: quality');
  const ill = candidate('usual', { routes: [route('p/usual', { healthy: false })] });
  const [best] = pool;
  assert.ok(best !== undefined);
  assert.equal(decide([best, ill], { stickyAlias }), 'best: fallback');
});

test('of two drawn at random the quicker and surer is chosen', () => {
  const pool = [
    candidate('slow', { routes: [route('p/slow', { firstEventMs: 900 })] }),
    candidate('quick', { routes: [route('p/quick', { firstEventMs: 100 })] }),
    candidate('new'),
  ];
  const counts: Record<string, number> = {};
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let round = 0; round < 3_000; round += 1) {
    const decision = chooseModel(input(pool, { random }));
    assert.ok(decision.status === 'chosen');
    const { alias } = decision.candidates[0];
    counts[alias] = (counts[alias] ?? 0) + 1;
  }
  // Of the three pairs the quickest is in two; who was not measured counts as the usual one.
  assert.equal(counts.slow ?? 0, 0);
  assert.ok(Math.abs((counts.quick ?? 0) - 2_000) < 150, JSON.stringify(counts));
  assert.ok(Math.abs((counts.new ?? 0) - 1_000) < 150, JSON.stringify(counts));
});

test('a model that fails half of its calls loses to one a little worse', () => {
  const unsure = candidate('unsure', {
    quality: 80,
    routes: [route('p/unsure', { successRate: 0.5 })],
  });
  assert.equal(decide([unsure, candidate('sure', { quality: 60 })]), 'sure unsure: quality');
});

const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const anyRoute = fc.record({
  provider: fc.constantFrom('one', 'two', 'three'),
  format: fc.constantFrom('chat' as const, 'responses' as const, null),
  healthy: fc.boolean(),
  successRate: fraction,
  firstEventMs: fc.option(fc.integer({ min: 0, max: 10_000 })),
});
const anyCandidate = fc.record({
  capabilities: fc.subarray(['tools', 'vision', 'reasoning']),
  contextWindow: fc.integer({ min: 10, max: 10_000 }),
  outputTokensMax: fc.integer({ min: 1, max: 5_000 }),
  quality: fc.integer({ min: 0, max: 100 }),
  qualities: fc.record({ code: fc.integer({ min: 0, max: 100 }) }, { requiredKeys: [] }),
  costMicros: fc.integer({ min: 0, max: 1_000 }),
  routes: fc.array(anyRoute, { minLength: 1, maxLength: 3 }),
});
const anyInput = fc.record({
  pool: fc.array(anyCandidate, { minLength: 1, maxLength: 12 }),
  needs: fc.record({
    capabilities: fc.subarray(['tools', 'vision']),
    preferred: fc.subarray(['reasoning']),
    format: fc.constantFrom('chat' as const, 'responses' as const, null),
    inputTokens: fc.integer({ min: 0, max: 5_000 }),
    outputTokensMax: fc.option(fc.integer({ min: 1, max: 5_000 })),
  }),
  denied: fc.subarray(['one', 'two']),
  costPremiumMax: fc.option(fc.double({ min: 0, max: 3, noNaN: true })),
  sticky: fc.option(fc.integer({ min: 0, max: 12 })),
  reroute: fc.boolean(),
  randoms: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 2, maxLength: 2 }),
});

test('any decision keeps every rule, repeats, and accounts for each model of the pool', () => {
  fc.assert(
    fc.property(anyInput, ({ pool: raw, sticky, randoms, denied, ...rest }) => {
      const pool = raw.map((each, index): Candidate => {
        const alias = `m${index}`;
        const routes = each.routes.map((entry, at) => ({ routeId: `${alias}/${at}`, ...entry }));
        return { ...each, alias, routes };
      });
      const asked = { denied_providers: denied };
      const decideOnce = (): Decision => {
        const values = [...randoms];
        return chooseModel(
          input(pool, {
            ...rest,
            policy: policy(asked),
            stickyAlias: sticky === null ? null : `m${sticky}`,
            random: () => values.shift() ?? 0,
          }),
        );
      };
      const decision = decideOnce();
      assert.deepEqual(decideOnce(), decision);
      const left = decision.excluded.map(({ alias }) => alias);
      if (decision.status === 'chosen') left.push(...decision.candidates.map((c) => c.alias));
      assert.deepEqual(left.sort(), pool.map(({ alias }) => alias).sort(), 'each exactly once');
      if (decision.status === 'none') return;
      for (const { alias, routeIds } of decision.candidates) {
        const model = pool.find((each) => each.alias === alias);
        assert.ok(model !== undefined && routeIds.length > 0);
        assert.ok(rest.needs.capabilities.every((name) => model.capabilities.includes(name)));
        for (const { routeId, provider, format } of model.routes) {
          if (!routeIds.includes(routeId)) continue;
          assert.ok(!denied.includes(provider));
          assert.ok(rest.needs.format === null || format === rest.needs.format);
        }
      }
      assert.equal(decision.sticky, decision.category === 'sticky');
    }),
    { numRuns: 1_000 },
  );
});
