// POST /api/admin/users/{account_id}/keys/{api_key_id}/update: other terms for any account's key,
// with rates beyond what its owner may give.
import * as v from 'valibot';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { updateAuditedKey } from '../../keys/change.ts';
import { apiKeyBody, changedKeyEntries, keyReplySchema } from '../../keys/schema.ts';
import { accountParams } from './schema.ts';

export const updateUserKey = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/keys/{api_key_id}/update',
  operationId: 'updateUserKey',
  summary: 'Change an API key of an account',
  description:
    'As its owner may, and beyond the usual `requests_per_minute` and `concurrency_max`. What is ' +
    'left out stays. A revoked key is 409 `invalid_state`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: v.strictObject({ ...accountParams.entries, api_key_id: lineOfText(100) }),
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject(changedKeyEntries),
  },
  replies: { 200: { description: 'The key as it is now.', schema: keyReplySchema } },
  problems: ['invalid_request', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { account_id: accountId, api_key_id: keyId } = params;
    const order = { accountId, keyId, actor: caller.accountId };
    const row = await updateAuditedKey(services, order, body);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, api_key: apiKeyBody(row) },
    };
  },
});
