// GET /api/admin/status: the live view of the supervision tree, shard by shard.
import * as v from 'valibot';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const shardSchema = v.strictObject({
  id: count,
  status: v.picklist(['ok', 'starting', 'unresponsive']),
  actors: count,
  sockets: count,
});
const unpaidSchema = v.strictObject({
  route: v.pipe(v.string(), v.description('The provider, and the name that the model has there')),
  until: v.pipe(v.string(), v.description('It is tried last until then, or until a call succeeds')),
});
const downSchema = v.strictObject({
  route: v.pipe(v.string(), v.description('The provider, and the surface or model that it serves')),
  since: v.pipe(v.string(), v.description('Of the first refusal')),
});
const kindSchema = v.strictObject({
  node: count,
  kind: v.string(),
  parent: v.string(),
  alive: count,
  mailbox_length: count,
  messages_handled: count,
  crashes: count,
  refused: count,
});

export const adminStatus = defineRoute({
  method: 'GET',
  path: '/api/admin/status',
  operationId: 'getAdminStatus',
  summary: 'Read the live state of shards and actors',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  replies: {
    200: {
      description: 'The tree as it is declared, and what lives in it now.',
      schema: v.strictObject({
        ok: v.literal(true),
        detached_generations: count,
        shards: v.array(shardSchema),
        tree: v.array(
          v.strictObject({
            kind: v.string(),
            parent: v.string(),
            placement: v.picklist(['local', 'hashed', 'main']),
            strategy: v.picklist(['restart', 'resume', 'stop']),
            crashes_max: count,
            within_ms: count,
            idle_timeout_ms: v.nullable(count),
          }),
        ),
        actors: v.array(kindSchema),
        unpaid_routes: v.pipe(
          v.array(unpaidSchema),
          v.description('Routes whose provider says that the account there is not paid for'),
        ),
        down_routes: v.pipe(
          v.array(downSchema),
          v.description(
            'Routes whose provider refuses the credential: nothing is asked there until the ' +
              'record of the provider changes, or a test of it succeeds',
          ),
        ),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ services }) {
    const monitor = services.monitor.actor();
    const answer = await monitor.ask('tree', null, 2_000);
    if (!answer.ok) throw new Problem('dependency_unavailable');
    const actors = answer.value.kinds.map((kind) => ({
      node: kind.node,
      kind: kind.kind,
      parent: kind.parent,
      alive: kind.alive,
      mailbox_length: kind.mailboxLength,
      messages_handled: kind.messagesHandled,
      crashes: kind.crashes,
      refused: kind.refused,
    }));
    const { shards, unpaid, down } = answer.value;
    const detached = services.access.limiter.detachedCount();
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        detached_generations: detached,
        shards,
        tree: services.monitor.tree,
        actors,
        unpaid_routes: unpaid.map(({ routeId, untilMs }) => ({
          route: routeId,
          until: new Date(untilMs).toISOString(),
        })),
        down_routes: down.map(({ routeId, sinceMs }) => ({
          route: routeId,
          since: new Date(sinceMs).toISOString(),
        })),
      },
    };
  },
});
