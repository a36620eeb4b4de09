// GET /api/enterprise/organizations/{organization_id}/keys: all keys that act in the organization.
import { type Queryable, withDeadline } from '../../../db/driver/sql.ts';
import { findKey } from '../../../db/keys.ts';
import { type ContextKey, listContextKeys } from '../../../db/organizations/keys.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { requireRight } from '../access.ts';
import { organizationParams } from '../schema.ts';
import { contextKeyBody, contextKeySchema } from './schema.ts';

export const listOrganizationKeys = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/keys',
  operationId: 'listOrganizationKeys',
  summary: 'List the API keys of an organization',
  description: 'Owners, admins and the billing role. Those of members in it, too; newest first.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of keys.', schema: pageSchema(contextKeySchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const id = params.organization_id;
    const { organization } = await requireRight(caller, id, 'keys.read', services);
    const { limit, afterId } = pageRequest(query);
    const { sql } = services;
    const page = await withDeadline(listContextKeys(sql, organization.id, limit, afterId));
    const bodies = await withDeadline(Promise.all(page.keys.map((key) => bodyOf(sql, key))));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(bodies.flat(), page.nextCursor) },
    };
  },
});

/** Nothing when it is gone meanwhile. */
async function bodyOf(sql: Queryable, key: ContextKey) {
  const row = await findKey(sql, key.accountId, key.id);
  return row === null ? [] : [contextKeyBody(row, key)];
}
