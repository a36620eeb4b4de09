// GET /api/public/model-status: the last published snapshot. Reading never contacts a provider.
import * as v from 'valibot';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const modelStatus = defineRoute({
  method: 'GET',
  path: '/api/public/model-status',
  operationId: 'getModelStatus',
  summary: 'Read the availability of every public model',
  description:
    'Published every five minutes, first 10 s after the start; 503 before that. `reason` is for ' +
    'people. `provider.unpaid` in it says that a bill of the service itself is open: it is ' +
    'published at once, and does not go away by waiting.',
  tag: 'Discovery',
  documents: ['account', 'model'],
  access: { kind: 'none' },
  cors: 'public',
  replies: {
    200: {
      description: 'The last snapshot.',
      schema: v.strictObject({
        ok: v.literal(true),
        generated_at: v.string(),
        next_refresh_at: v.string(),
        models: v.array(
          v.strictObject({
            alias: v.string(),
            status: v.picklist(['operational', 'degraded', 'unavailable', 'unknown']),
            routes_total: count,
            routes_operational: count,
            reason: v.string(),
          }),
        ),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ services }) {
    const monitor = services.monitor.actor();
    const answer = await monitor.ask('modelStatus', null, 1_000);
    if (!answer.ok || answer.value === null) {
      throw new Problem('dependency_unavailable', {
        message: 'The first status snapshot is not published yet.',
        headers: { 'retry-after': '10' },
      });
    }
    const headers = { 'cache-control': 'public, max-age=300' };
    return { status: 200, headers, json: { ok: true, ...answer.value } };
  },
});
