// POST /api/me/api-keys/revoke: the key stops working on every shard before this is answered.
import * as v from 'valibot';
import { lineOfText } from '../../runtime/http/text.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { revokeAuditedKey } from './audited.ts';
import { apiKeyBody, apiKeySchema } from './schema.ts';

export const revokeKey = defineRoute({
  method: 'POST',
  path: '/api/me/api-keys/revoke',
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description:
    'Final. Running voice sessions of the key end, and are settled. Revoking a key that is ' +
    'already revoked is answered with its state.',
  tag: 'Keys',
  documents: ['account'],
  access: { kind: 'user', isForSuspended: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({ api_key_id: lineOfText(100) }),
  },
  replies: {
    200: {
      description: 'The key, revoked.',
      schema: v.strictObject({ ok: v.literal(true), api_key: apiKeySchema }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { accountId } = caller;
    const keyId = body.api_key_id;
    const row = await revokeAuditedKey(services, { accountId, keyId, actor: caller.personId });
    return { status: 200, json: { ok: true, api_key: apiKeyBody(row) } };
  },
});
