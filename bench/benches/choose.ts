// What the decision of a managed route costs: reading the task from the request, a pool of models
// with their prices and health, and the choice. One thread, no I/O.
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../actors/catalog/document.ts';
import type { ManagedRoute } from '../../actors/catalog/managed.ts';
import { buildSnapshot } from '../../actors/catalog/snapshot.ts';
import { planRoute } from '../../actors/generation/plan/plan.ts';
import { createRouteHealth } from '../../actors/provider-health/health.ts';
import { openPolicy } from '../../media/model/choose/policy.ts';
import {
  type GenerationRequest,
  type Message,
  noControls,
  noSampling,
} from '../../media/model/request.ts';
import { median, percentile, rounded } from '../statistics.ts';
import type { Bench } from './bench.ts';

const poolLength = 20;
const decisions = 20_000;
const limitUs = 200;

const texts = {
  short: 'Why do I get "TypeError: x is undefined" when the list is empty?',
  long: 'Summarize this report. The river was wide and the boat was slow, 12 km/h. '.repeat(13_000),
};

function routeOf(): ManagedRoute {
  const indexes = Array.from({ length: poolLength }, (_, index) => index);
  const document = v.parse(catalogDocumentSchema, {
    providers: [{ name: 'one', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' }],
    models: indexes.map((index) => ({
      alias: `m${index}`,
      routes: [{ provider: 'one', upstream_model: `upstream-${index}` }],
      price: { input_per_million: `${1 + (index % 4)}.25`, output_per_million: '10.00' },
    })),
    routes: [
      {
        alias: 'managed',
        pool: indexes.map((index) => ({
          model: `m${index}`,
          quality: 40 + (index % 3) * 20,
          qualities: { debugging: 50 + index },
        })),
        cost_guard: { max_cost_premium_percent: 100 },
      },
    ],
  });
  const [route] = buildSnapshot(document, () => 0).routes;
  if (route === undefined) throw new Error('the document has a route');
  return route;
}

function requestOf(text: string): GenerationRequest {
  const message: Message = {
    role: 'user',
    parts: [{ type: 'text', text }],
    toolCalls: [],
    toolCallId: null,
  };
  return {
    model: 'managed',
    messages: [message],
    tools: [],
    nativeTools: [],
    toolChoice: null,
    parallelToolCalls: null,
    outputFormat: { type: 'text' },
    outputTokensMax: null,
    sampling: noSampling,
    reasoning: null,
    controls: noControls,
    source: { format: 'chat', body: {}, headers: {}, rewritten: false },
  };
}

/** Microseconds of each decision. */
function measure(text: string): number[] {
  const route = routeOf();
  const health = createRouteHealth();
  let nowMs = 1_000_000;
  for (const { model } of route.pool) {
    for (const { routeId } of model.targets) health.firstEvent(routeId, 200, nowMs);
  }
  const request = requestOf(text);
  const samples: number[] = [];
  for (let count = 0; count < decisions; count += 1) {
    nowMs += 1;
    const startedAt = performance.now();
    const plan = planRoute({
      route,
      request,
      inputTokens: 1_000,
      policy: openPolicy,
      stickyAlias: null,
      extraCapabilities: [],
      health,
      formatOf: () => 'chat',
      nowMs,
      random: Math.random,
    });
    samples.push((performance.now() - startedAt) * 1_000);
    if (plan.status === 'none') throw new Error('a pool without needs has a choice');
  }
  // The first ones teach the compiler.
  return samples.slice(decisions / 4);
}

export const choose: Bench = {
  name: 'choose',
  async run({ runs }) {
    const rows = Object.entries(texts).map(([name, text]) => {
      const all = Array.from({ length: runs }, () => measure(text));
      const middles = all.map(median);
      const tails = all.map((samples) => percentile(samples, 0.99));
      return { name, length: text.length, median: median(middles), p99: median(tails) };
    });
    return {
      name: 'choose',
      title: 'Decision of a managed route',
      method: `Median of ${runs} runs of ${decisions} decisions over ${poolLength} models.`,
      columns: ['request', 'characters', 'median', 'p99'],
      rows: rows.map((row) => [
        row.name,
        String(row.length),
        `${rounded(row.median)} µs`,
        `${rounded(row.p99)} µs`,
      ]),
      bars: rows.map((row) => ({
        text: `a decision, ${row.name} request`,
        limit: limitUs,
        measured: row.median,
        unit: 'µs',
        sense: 'most' as const,
      })),
      chart: {
        title: 'Decision of a managed route',
        unit: 'µs',
        rows: rows.map((row) => ({ label: row.name, value: row.median, limit: limitUs })),
      },
      notes: [],
    };
  },
};
