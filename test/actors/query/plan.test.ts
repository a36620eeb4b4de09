// What keeps a query from its hold: policy, providers, rates; and what it costs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalog } from '../../../actors/catalog/current.ts';
import type { CatalogSurface, SearchTarget } from '../../../actors/catalog/surface.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { planQuery, type QueryAsked, tallyName } from '../../../actors/query/plan.ts';
import { AnswerTally, createAnswerBuffers } from '../../../runtime/limiter/answers.ts';
import { createLimiterBuffers, Limiter } from '../../../runtime/limiter.ts';
import { Problem } from '../../../runtime/problem.ts';
import { surfaceNamed } from './bed.ts';

const target = {
  upstream: { routeId: 'one/web_search' },
  costMicros: 1n,
  simulated: false,
} as unknown as SearchTarget;

const search = surfaceNamed('web_search', { targets: [target], priceMicros: 1_000_000n });
const answer = surfaceNamed('web_answer', {
  targets: [target],
  priceMicros: 2_000_000n,
  answerModel: 'svc-large',
  searchSurface: 'web_search',
});
const scored = surfaceNamed('ai_search', { targets: [target], answerModel: 'svc-large' });

function catalogOf(surfaces: readonly CatalogSurface[], ruled: object = {}): Catalog {
  return { snapshot: { surfaces }, ...ruled } as unknown as Catalog;
}

function servicesOf() {
  const limiter = new Limiter(createLimiterBuffers(Date.now(), 1, 1_000), 1);
  const tally = new AnswerTally(createAnswerBuffers(Date.now()), 100);
  return { health: createRouteHealth(), limiter, tally };
}

function asked(surface: QueryAsked['surface']): QueryAsked {
  const ask = { surface: 'web_search', query: 'x', parameters: {}, extra: {} };
  return {
    surface,
    ask: ask as unknown as QueryAsked['ask'],
    ignored: [],
    assumed: {},
    maxAgeSeconds: null,
    accountId: 'acc_1',
    rules: null,
  };
}

function refusalOf(plan: () => unknown): Problem {
  try {
    plan();
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
  assert.fail('it was not refused');
}

test('an answer is made of another surface, whose price is the least of it', () => {
  const plan = planQuery(servicesOf(), catalogOf([search, answer]), asked('web_answer'));
  assert.equal(plan.search.ask.surface, 'web_search');
  assert.deepEqual(plan.search.answer, { model: 'svc-large', rules: null });
  assert.deepEqual([plan.priceMicros, plan.unansweredMicros], [2_000_000n, 1_000_000n]);
  const dear = { ...search, priceMicros: 9_000_000n };
  const capped = planQuery(servicesOf(), catalogOf([dear, answer]), asked('web_answer'));
  assert.equal(capped.unansweredMicros, 2_000_000n, 'never more than was held');
});

test('the age is that of the surface unless the caller says another', () => {
  const services = servicesOf();
  const plan = planQuery(services, catalogOf([search]), asked('web_search'));
  assert.equal(plan.search.maxAgeSeconds, 300);
  const anew = { ...asked('web_search'), maxAgeSeconds: 0 };
  assert.equal(planQuery(services, catalogOf([search]), anew).search.maxAgeSeconds, 0);
});

test('what is not offered, or has no target that may be asked, is 503', () => {
  const services = servicesOf();
  const without: CatalogSurface[][] = [
    [],
    [{ ...search, priceMicros: null }],
    [{ ...search, targets: [] }],
  ];
  for (const surfaces of without) {
    const problem = refusalOf(() => planQuery(services, catalogOf(surfaces), asked('web_search')));
    assert.equal(problem.code, 'no_route_available');
  }
  const mute = catalogOf([search, { ...answer, answerModel: null }]);
  assert.equal(refusalOf(() => planQuery(services, mute, asked('web_answer'))).status, 503);
  for (let each = 0; each < 50; each += 1) {
    services.health.failed(
      'one/web_search',
      { kind: 'failed', message: 'x', retryAfterMs: null } as never,
      Date.now(),
    );
  }
  const open = refusalOf(() => planQuery(services, catalogOf([search]), asked('web_search')));
  assert.equal(open.code, 'no_route_available');
});

test('a policy takes the surface, or the model that answers', () => {
  const services = servicesOf();
  const withheldSurfaces = new Map([['web_search', 'data_residency_region']]);
  const noSurface = catalogOf([{ ...search, targets: [] }], {
    withheld: new Map(),
    withheldSurfaces,
  });
  const problem = refusalOf(() => planQuery(services, noSurface, asked('web_search')));
  assert.deepEqual(
    [problem.code, problem.details?.rule],
    ['policy_blocked', 'data_residency_region'],
  );
  const withheld = new Map([['svc-large', { rule: 'routing_policy', kind: 'generation' }]]);
  const noModel = catalogOf([search, answer, scored], { withheld, withheldSurfaces: new Map() });
  const answering = refusalOf(() => planQuery(services, noModel, asked('web_answer')));
  assert.deepEqual([answering.code, answering.details?.model], ['policy_blocked', 'svc-large']);
  assert.equal(planQuery(services, noModel, asked('ai_search')).search.answer, null);
});

test('an account has its queries a minute, on each surface for itself', () => {
  const services = servicesOf();
  const catalog = catalogOf([{ ...search, requestsPerMinute: 2 }, scored]);
  for (let each = 0; each < 2; each += 1) planQuery(services, catalog, asked('web_search'));
  const problem = refusalOf(() => planQuery(services, catalog, asked('web_search')));
  assert.deepEqual([problem.status, problem.code], [429, 'rate_limited']);
  assert.ok(Number(problem.headers['retry-after']) > 0);
  planQuery(services, catalog, asked('ai_search'));
  planQuery(services, catalog, { ...asked('web_search'), accountId: 'acc_2' });
});

test('who has too many unpaid answers is refused on that surface alone', () => {
  const services = servicesOf();
  const catalog = catalogOf([search, scored]);
  for (let each = 0; each < 101; each += 1) {
    services.tally.count(tallyName('acc_1', 'web_search'), 'unpaid', Date.now());
  }
  const problem = refusalOf(() => planQuery(services, catalog, asked('web_search')));
  assert.equal(problem.code, 'rate_limited');
  planQuery(services, catalog, asked('ai_search'));
});
