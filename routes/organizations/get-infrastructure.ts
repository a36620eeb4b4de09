// GET /api/enterprise/organizations/{organization_id}/infrastructure: where an organization is
// kept, and what keeps it.
import * as v from 'valibot';
import { organizationRounds } from '../../actors/organization/rounds.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findHead } from '../../db/organization-audit/head.ts';
import { defineRoute } from '../define.ts';
import { requireRight } from './access.ts';

const replySchema = v.strictObject({
  ok: v.literal(true),
  region: v.pipe(
    v.nullable(v.picklist(['us', 'eu', 'in', 'apac'])),
    v.description('Where this service runs; null: it does not say.'),
  ),
  store: v.pipe(
    v.picklist(['disk', 's3']),
    v.description('Where files are: sealed, on the disk of the service or in an object store.'),
  ),
  audit: v.pipe(
    v.strictObject({ seq: v.pipe(v.number(), v.integer()) }),
    v.description('The newest record of its audit.'),
  ),
  rounds: v.array(
    v.strictObject({ name: v.string(), every_seconds: v.pipe(v.number(), v.integer()) }),
  ),
});

export const getInfrastructure = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/infrastructure',
  operationId: 'getOrganizationInfrastructure',
  summary: 'Read where an organization is kept',
  description:
    'The region of the service, its store of files, and the rounds that keep organizations. For ' +
    'owners, administrators and managers.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: v.strictObject({ organization_id: v.string() }),
  replies: { 200: { description: 'The infrastructure.', schema: replySchema } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const id = params.organization_id;
    const { organization } = await requireRight(caller, id, 'infrastructure.read', services);
    const head = await withDeadline(findHead(services.sql, organization.id));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        region: services.config.region,
        store: services.config.blobs === null ? 'disk' : 's3',
        audit: { seq: Number(head?.seq ?? 0) },
        rounds: organizationRounds.map(({ name, everySeconds }) => ({
          name,
          every_seconds: everySeconds,
        })),
      },
    };
  },
});
