// POST /api/admin/{kind}: a new record; every shard serves it when this is answered.
import { type Definition, nameOf } from '../../../actors/catalog/kinds.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { changeRecord } from './change-record.ts';
import { jsonBody } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';
import type { Resource } from './resource.ts';

export function createRoute(resource: Resource): AppRoute {
  return defineRoute({
    method: 'POST',
    path: resource.path,
    operationId: `createAdmin${resource.title}`,
    summary: `Add ${resource.noun} to the catalog`,
    description: `A name that is taken is 409 \`conflict\`. ${resource.description}`,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    body: jsonBody(resource.createSchema),
    replies: { 201: recordReply(resource, 'The record.') },
    problems: ['conflict', 'dependency_unavailable'],
    async handle({ body, caller, services, exchange }) {
      const definition = body as Definition;
      const name = nameOf(resource.kind, definition);
      const call = { services, caller, exchange };
      const reply = await changeRecord(resource, name, { verb: 'create', definition }, call);
      return recordAnswer(201, resource, reply.record, reply.contentVersion, services);
    },
  });
}
