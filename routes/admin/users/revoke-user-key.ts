// POST /api/admin/users/{account_id}/keys/{api_key_id}/revoke: the key works on no shard any more
// when this is answered.
import * as v from 'valibot';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { revokeAuditedKey } from '../../keys/audited.ts';
import { apiKeyBody, apiKeySchema } from '../../keys/schema.ts';
import { accountParams } from './schema.ts';

export const revokeUserKey = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/keys/{api_key_id}/revoke',
  operationId: 'revokeUserKey',
  summary: 'Revoke an API key of an account',
  description:
    'Final. Running voice sessions of the key end, and are settled. Revoking a key that is ' +
    'already revoked is answered with its state.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: v.strictObject({
    ...accountParams.entries,
    api_key_id: lineOfText(100),
  }),
  replies: {
    200: {
      description: 'The key, revoked.',
      schema: v.strictObject({ ok: v.literal(true), api_key: apiKeySchema }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const actor = caller.accountId;
    const { account_id: accountId, api_key_id: keyId } = params;
    const row = await revokeAuditedKey(services, { accountId, keyId, actor });
    return { status: 200, json: { ok: true, api_key: apiKeyBody(row) } };
  },
});
