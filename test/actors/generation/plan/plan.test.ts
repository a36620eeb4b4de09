// From a request and a managed route to the attempts: what the request's content demands, what each
// model would cost, how the provider routes are doing; and the order that comes of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../../actors/catalog/document.ts';
import type { ManagedRoute } from '../../../../actors/catalog/managed.ts';
import { buildSnapshot } from '../../../../actors/catalog/snapshot.ts';
import { type Plan, type PlanInput, planRoute } from '../../../../actors/generation/plan/plan.ts';
import { createRouteHealth } from '../../../../actors/provider-health/health.ts';
import { needsOf } from '../../../../media/model/choose/needs.ts';
import {
  narrowPolicy,
  openPolicy,
  policyVersion,
  readRoutingPolicy,
} from '../../../../media/model/choose/policy.ts';
import { noControls } from '../../../../media/model/request.ts';
import { neutralRequest, userMessage } from '../../../harness/request.ts';

function model(alias: string, providers: string[], more: Record<string, unknown> = {}) {
  return {
    alias,
    routes: providers.map((provider) => ({ provider, upstream_model: `up/${alias}` })),
    price: { input_per_million: '1', output_per_million: '2' },
    ...more,
  };
}

const price = { input_per_million: '2', output_per_million: '4' };
const document = {
  providers: ['one', 'two'].map((name) => ({
    name,
    family: 'openai-chat',
    base_url: 'http://127.0.0.1:9/v1',
  })),
  models: [
    model('plain', ['one', 'two']),
    model('coder', ['two'], { price, capabilities: ['chat', 'tools'] }),
    model('seeing', ['one'], { capabilities: ['chat', 'vision'], context_window: 5_000 }),
  ],
  routes: [
    {
      alias: 'auto',
      pool: [
        { model: 'plain', quality: 70 },
        { model: 'coder', quality: 50, qualities: { code: 95 } },
        { model: 'seeing', quality: 30 },
      ],
    },
  ],
};

function routeOf(change: Record<string, unknown> = {}): ManagedRoute {
  const [record] = document.routes;
  const routes = [{ ...record, ...change }];
  const [route] = buildSnapshot(
    v.parse(catalogDocumentSchema, { ...document, routes }),
    () => 0,
  ).routes;
  assert.ok(route !== undefined);
  return route;
}

const chat = neutralRequest({ messages: [userMessage('Hello! How are you?')] });
const coding = neutralRequest({
  messages: [userMessage('Write a Python function that reverses a linked list.')],
});

function plan(change: Partial<PlanInput> = {}): Plan {
  return planRoute({
    route: routeOf(),
    request: chat,
    inputTokens: 100,
    policy: openPolicy,
    stickyAlias: null,
    extraCapabilities: [],
    health: createRouteHealth(),
    formatOf: () => 'chat',
    nowMs: 0,
    random: () => 0,
    ...change,
  });
}

function shown(made: Plan): string {
  if (made.status === 'none') return made.reason;
  const { category } = made.decision;
  return `${made.attempts.map(({ target }) => target.routeId).join(' ')}: ${category}`;
}

test('attempts are every provider route of the best model, then those of the next', () => {
  assert.equal(
    shown(plan()),
    'one/up/plain two/up/plain two/up/coder one/up/seeing: quality',
    'the names that models have upstream may have slashes',
  );
  const made = plan({ request: coding });
  assert.ok(made.status === 'planned');
  assert.equal(made.attempts[0].model.alias, 'coder');
  assert.equal(made.decision.task.category, 'code');
});

test('a provider that is not well is not tried, while others are', () => {
  const health = createRouteHealth();
  const failure = { kind: 'failed', status: 500, retryAfterMs: null, detail: '' } as const;
  for (let count = 0; count < 5; count += 1) health.failed('one/up/plain', failure, 0);
  assert.equal(
    shown(plan({ health })),
    'two/up/plain two/up/coder one/up/seeing: quality',
    'the model itself is well through its other provider',
  );
  for (let count = 0; count < 5; count += 1) health.failed('two/up/plain', failure, 0);
  assert.equal(shown(plan({ health })), 'two/up/coder one/up/seeing: fallback');
});

test('the guard compares what this request would cost', () => {
  const guarded = routeOf({ cost_guard: { max_cost_premium_percent: 99 } });
  assert.match(shown(plan({ route: guarded, request: coding })), /^one\/up\/plain .*: cost$/);
  const free = routeOf({ cost_guard: { max_cost_premium_percent: 100 } });
  assert.match(shown(plan({ route: free, request: coding })), /^two\/up\/coder .*: quality$/);
});

test('the request may ask to choose anew', () => {
  assert.match(shown(plan({ stickyAlias: 'seeing' })), /^one\/up\/seeing .*: sticky$/);
  const controls = { ...noControls, reroute: true };
  const request = { ...chat, controls };
  assert.match(shown(plan({ stickyAlias: 'seeing', request })), /^one\/up\/plain .*: quality$/);
});

test('what no model of the pool can do is no plan', () => {
  assert.equal(shown(plan({ extraCapabilities: ['web_search'] })), 'capability');
  assert.equal(shown(plan({ inputTokens: 10_000_000 })), 'context');
  const denied = readRoutingPolicy({ allowed_providers: ['three'] });
  assert.ok(denied.ok);
  assert.equal(shown(plan({ policy: denied.policy })), 'policy');
});

test('needs are read from every message, and reasoning is only wished for', () => {
  const image = userMessage('what is this');
  image.parts.push({ type: 'image', url: 'https://x/y.png', detail: null });
  const sound = userMessage('');
  sound.parts = [{ type: 'native', format: 'chat', value: { type: 'input_audio' } }];
  const request = neutralRequest({
    messages: [image, sound, userMessage('and?')],
    tools: [{ name: 'f', description: null, parameters: null, strict: null }],
    outputFormat: { type: 'json_object' },
    nativeTools: [{ format: 'responses', value: { type: 'code_interpreter' }, path: 'tools[0]' }],
    reasoning: { effort: 'high', budgetTokens: null, summary: false },
    outputTokensMax: 7,
  });
  const needs = needsOf(request, 42, ['web_search']);
  assert.deepEqual([...needs.capabilities].sort(), [
    'audio',
    'structured_output',
    'tools',
    'vision',
    'web_search',
  ]);
  assert.deepEqual(
    { ...needs, capabilities: [] },
    {
      capabilities: [],
      preferred: ['reasoning'],
      format: 'responses',
      inputTokens: 42,
      outputTokensMax: 7,
    },
  );
  const plain = needsOf(
    neutralRequest({ reasoning: { effort: 'minimal', budgetTokens: null, summary: true } }),
    1,
  );
  assert.deepEqual(plain.preferred, []);
  assert.deepEqual(plain.capabilities, []);
  const budget = { effort: null, budgetTokens: 1_024, summary: false };
  assert.deepEqual(needsOf(neutralRequest({ reasoning: budget }), 1).preferred, ['reasoning']);
  const value = { type: 'web_search' };
  const nativeTools = [{ format: 'responses' as const, value, path: 'tools[0]', isOptional: true }];
  assert.equal(needsOf(neutralRequest({ nativeTools }), 1).format, null);
  const called = userMessage('go on');
  called.toolCalls.push({ id: 'c', name: 'f', arguments: '{}' });
  const { capabilities } = needsOf(neutralRequest({ messages: [called] }), 1);
  assert.deepEqual(
    capabilities,
    ['tools'],
    'the conversation has calls, though none is offered now',
  );
});

test('a policy’s version is that of what it says, however it is written', () => {
  const version = (value: unknown) => {
    const read = readRoutingPolicy(value);
    assert.ok(read.ok);
    return policyVersion(read.policy);
  };
  assert.equal(policyVersion(openPolicy), '1');
  assert.match(version({ denied_models: ['a', 'b'] }), /^1\.[a-f0-9]{12}$/);
  assert.equal(version({ denied_models: ['a', 'b'] }), version({ denied_models: ['b', 'a'] }));
  assert.notEqual(version({ denied_models: ['a'] }), version({ allowed_models: ['a'] }));
  const premium = (percent: number) => version({ max_cost_premium_percent: percent });
  assert.notEqual(premium(10), premium(20));
  assert.equal(policyVersion(narrowPolicy(openPolicy, openPolicy)), '1');
});
