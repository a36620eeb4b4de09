// POST /api/me/api-keys/rotate: another token for the same key. It is in this reply and nowhere
// else, ever.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { rotateAuditedKey } from './change.ts';
import { apiKeyBody, createdKeySchema, rotateEntries } from './schema.ts';

export const rotateKey = defineRoute({
  method: 'POST',
  path: '/api/me/api-keys/rotate',
  operationId: 'rotateApiKey',
  summary: 'Give an API key another token',
  description:
    '`raw_token` is returned once. The key keeps its id, its limits and what was counted. The ' +
    'former token works for `grace_seconds` more, and one before it no longer. A revoked key is ' +
    '409 `invalid_state`.',
  tag: 'Keys',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { api_key_id: 'key_019ab2c3d4e5f60718293a4b', grace_seconds: 3_600 },
    schema: v.strictObject(rotateEntries),
  },
  replies: { 200: { description: 'The key and its new token.', schema: createdKeySchema } },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { accountId } = caller;
    const order = { accountId, keyId: body.api_key_id, actor: caller.personId };
    const { token, key } = await rotateAuditedKey(services, order, body.grace_seconds);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, raw_token: token, api_key: apiKeyBody(key) },
    };
  },
});
