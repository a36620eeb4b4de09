// PATCH /api/admin/{kind}/{name}: members replace those of the same name; every shard serves the
// changed record when this is answered.
import type { Definition } from '../../../actors/catalog/kinds.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { revisionAdvice, revisionHeader } from '../revision.ts';
import { changeRecord } from './change-record.ts';
import { changedAdvice } from './declaration.ts';
import { jsonBody, nameParams } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';
import type { Resource } from './resource.ts';

export function updateRoute(resource: Resource): AppRoute {
  return defineRoute({
    method: 'PATCH',
    path: `${resource.path}/{name}`,
    operationId: `updateAdmin${resource.title}`,
    summary: `Change ${resource.noun} of the catalog`,
    description:
      'A member that is given replaces the whole member of the record, null removes an optional ' +
      `one, an absent one stays. ${revisionAdvice} ${changedAdvice} ${resource.description}`,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    headers: revisionHeader,
    params: nameParams,
    body: jsonBody(resource.updateSchema),
    replies: { 200: recordReply(resource, 'The record as it is now.') },
    problems: ['not_found', 'conflict', 'dependency_unavailable'],
    async handle({ params, body, caller, services, exchange }) {
      const { revision, ...patch } = body as Definition & { revision?: number };
      const call = { services, caller, exchange, body: { revision } };
      const reply = await changeRecord(resource, params.name, { verb: 'update', patch }, call);
      return recordAnswer(200, resource, reply.record, reply.contentVersion, services);
    },
  });
}
