// POST /api/me/api-keys/update: other terms for a key. They hold on every shard before this is
// answered.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { updateAuditedKey } from './change.ts';
import { apiKeyBody, changedKeyEntries, keyIdEntry, keyReplySchema } from './schema.ts';
import { requireOwnersRates } from './terms.ts';

export const updateKey = defineRoute({
  method: 'POST',
  path: '/api/me/api-keys/update',
  operationId: 'updateApiKey',
  summary: 'Change an API key',
  description:
    'What is left out stays; null takes a limit, an end or a list of models away. A disabled key ' +
    'is 401 until it is enabled again, and its voice sessions end. A new `spend_limit` counts ' +
    'what the key was charged in this period before, and holds for what runs. A revoked key is ' +
    '409 `invalid_state`.',
  tag: 'Keys',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: {
      api_key_id: 'key_019ab2c3d4e5f60718293a4b',
      spend_limit: { amount_microcredits: 5_000_000, period: 'day' },
    },
    schema: v.strictObject({ ...keyIdEntry, ...changedKeyEntries }),
  },
  replies: { 200: { description: 'The key as it is now.', schema: keyReplySchema } },
  problems: ['invalid_request', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { api_key_id: keyId, ...change } = body;
    const { accountId } = caller;
    requireOwnersRates(change, services.limits.keys);
    const order = { accountId, keyId, actor: caller.personId };
    const row = await updateAuditedKey(services, order, change);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, api_key: apiKeyBody(row) },
    };
  },
});
