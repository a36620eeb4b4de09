// GET /api/admin/{kind}/{name}: one record, with its revision as the ETag.
import { findRecord } from '../../../db/catalog.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { nameParams } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';
import type { Resource } from './resource.ts';

export function getRoute(resource: Resource): AppRoute {
  return defineRoute({
    method: 'GET',
    path: `${resource.path}/{name}`,
    operationId: `getAdmin${resource.title}`,
    summary: `Read ${resource.noun} of the catalog`,
    description: resource.description,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    params: nameParams,
    replies: { 200: recordReply(resource, 'The record.') },
    problems: ['not_found', 'dependency_unavailable'],
    async handle({ params, services }) {
      const record = await withDeadline(findRecord(services.sql, resource.kind, params.name));
      if (record === null) throw new Problem('not_found', { param: 'name' });
      const { contentVersion } = services.catalog.current().snapshot;
      return recordAnswer(200, resource, record, contentVersion, services);
    },
  });
}
