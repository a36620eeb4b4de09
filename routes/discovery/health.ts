// GET /api/health: whether the process serves and its database answers within a second.
import * as v from 'valibot';
import { databaseAnswers } from '../../db/driver/health.ts';
import { defineRoute } from '../define.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const healthSchema = v.strictObject({
  ok: v.boolean(),
  status: v.picklist(['ok', 'unavailable']),
  version: v.string(),
  uptime_seconds: count,
  database: v.strictObject({
    status: v.picklist(['ok', 'unavailable']),
    latency_ms: v.nullable(v.number()),
  }),
  shards: v.array(
    v.strictObject({
      id: count,
      status: v.picklist(['ok', 'starting', 'unresponsive']),
      actors: count,
      sockets: count,
    }),
  ),
});

export const health = defineRoute({
  method: 'GET',
  path: '/api/health',
  operationId: 'getHealth',
  summary: 'Check the health of the service',
  tag: 'Discovery',
  documents: ['account', 'model'],
  access: { kind: 'none' },
  cors: 'public',
  replies: {
    200: { description: 'The service and its database answer.', schema: healthSchema },
    503: { description: 'The database does not answer within 1 s.', schema: healthSchema },
  },
  problems: [],
  async handle({ services }) {
    const monitor = services.monitor.actor();
    const [latencyMs, shards] = await Promise.all([
      databaseAnswers(services.sql, services.limits.database.healthTimeoutMs),
      monitor.ask('shards', null, 1_000),
    ]);
    const ok = latencyMs !== null;
    const status = ok ? 'ok' : 'unavailable';
    return {
      status: ok ? 200 : 503,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok,
        status,
        version: services.version,
        uptime_seconds: Math.floor(process.uptime()),
        database: { status, latency_ms: latencyMs },
        shards: shards.ok ? shards.value : [],
      },
    };
  },
});
