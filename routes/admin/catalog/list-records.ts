// GET /api/admin/{kind}: the records of a kind by name, a page at a time.
import { listRecords } from '../../../db/catalog.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { recordBodies } from './record.ts';
import type { Resource } from './resource.ts';

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

export function listRoute(resource: Resource): AppRoute {
  return defineRoute({
    method: 'GET',
    path: resource.path,
    operationId: `listAdmin${resource.title}s`,
    summary: `List the ${resource.plural} of the catalog`,
    description: `By name, disabled ones too. ${resource.description}`,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    query: pageQuery,
    replies: { 200: { description: 'A page.', schema: pageSchema(resource.recordSchema) } },
    problems: ['dependency_unavailable'],
    async handle({ query, services }) {
      const { limit, afterId } = pageRequest(query, namePattern);
      const listed = listRecords(services.sql, resource.kind, limit, afterId);
      const { records, nextCursor } = await withDeadline(listed);
      const bodies = await withDeadline(recordBodies(resource, records, services));
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        json: { ok: true, ...pageReply(bodies, nextCursor) },
      };
    },
  });
}
