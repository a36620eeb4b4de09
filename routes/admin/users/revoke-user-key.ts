// POST /api/admin/users/{account_id}/keys/{api_key_id}/revoke: the key works on no shard any more
// when this is answered.
import * as v from 'valibot';
import { audited } from '../../../db/audit-events.ts';
import { lockKey, revokeKey } from '../../../db/keys.ts';
import { withDeadline } from '../../../db/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { credentialTopic } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { apiKeyBody, apiKeySchema } from '../../keys/schema.ts';
import { requireAccount } from '../../require.ts';
import { accountParams } from './schema.ts';

export const revokeUserKey = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/keys/{api_key_id}/revoke',
  operationId: 'revokeUserKey',
  summary: 'Revoke an API key of an account',
  description: 'Final. Revoking a key that is already revoked is answered with its state.',
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
    const actor = requireAccount(caller).accountId;
    const { account_id: accountId, api_key_id: keyId } = params;
    const revoked = audited(services.sql, async (transaction) => {
      const before = await lockKey(transaction, accountId, keyId);
      const result = await revokeKey(transaction, accountId, keyId);
      if (before?.status !== 'active') return { result, event: null };
      const { label, prefix } = before;
      const id = newId('aud', services.system.node);
      const subject = `key:${keyId}`;
      const event = { id, accountId, actor, action: 'key.revoke', subject };
      return { result, event: { ...event, details: { label, prefix } } };
    });
    const row = await withDeadline(revoked);
    if (row === null) throw new Problem('not_found', { param: 'api_key_id' });
    await services.bus.publish(credentialTopic, { keyId: row.id });
    return { status: 200, json: { ok: true, api_key: apiKeyBody(row) } };
  },
});
