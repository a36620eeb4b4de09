// DELETE /api/admin/{kind}/{name}: only what no other record needs. Receipts and the ledger keep
// what they say of it: they hold no reference to the catalog.
import * as v from 'valibot';
import { type AppRoute, defineRoute } from '../../define.ts';
import { revisionHeader } from '../revision.ts';
import { changeRecord } from './change-record.ts';
import { declarationMember, declarationSchema, deletedAdvice } from './declaration.ts';
import { nameParams } from './members.ts';
import type { Resource } from './resource.ts';

export function deleteRoute(resource: Resource): AppRoute {
  return defineRoute({
    method: 'DELETE',
    path: `${resource.path}/{name}`,
    operationId: `deleteAdmin${resource.title}`,
    summary: `Delete ${resource.noun} from the catalog`,
    description:
      'Refused with 409 `conflict` while another record needs it (`details.needed_by`). ' +
      deletedAdvice,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    headers: revisionHeader,
    params: nameParams,
    replies: {
      200: {
        description: 'It is gone.',
        schema: v.strictObject({
          ok: v.literal(true),
          content_version: v.string(),
          deleted: v.string(),
          declaration: declarationSchema,
        }),
      },
    },
    problems: ['not_found', 'conflict', 'dependency_unavailable'],
    async handle({ params, caller, services, exchange }) {
      const call = { services, caller, exchange };
      const reply = await changeRecord(resource, params.name, { verb: 'delete' }, call);
      const { contentVersion, record } = reply;
      const named = { content_version: contentVersion, deleted: params.name };
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        json: { ok: true, ...named, declaration: declarationMember(record) },
      };
    },
  });
}
