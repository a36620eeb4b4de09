// POST /api/me/api-keys: a new key. Its token is in this reply and nowhere else, ever.
import * as v from 'valibot';
import { keyLimits } from '../../actors/credentials/limits.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireAllowedBy } from '../policy.ts';
import { createAuditedKey } from './audited.ts';
import { newKey } from './new-key.ts';
import { apiKeyBody, createdKeySchema, defaultScopesText, newKeyEntries } from './schema.ts';
import { requireOwnersRates } from './terms.ts';

const { activeMax } = keyLimits;

export const createKey = defineRoute({
  method: 'POST',
  path: '/api/me/api-keys',
  operationId: 'createApiKey',
  summary: 'Create an API key',
  description:
    '`raw_token` is returned once. Without `scopes` the key may list and call models, and read ' +
    `the wallet: ${defaultScopesText}. An account has at most ${activeMax} active keys; another ` +
    'one is 409 `conflict` until one is revoked. A key that an app makes ends with what the app ' +
    'was authorized to do.',
  tag: 'Keys',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { label: 'laptop' },
    schema: v.strictObject(newKeyEntries),
  },
  replies: { 201: { description: 'The key and its token.', schema: createdKeySchema } },
  problems: ['invalid_request', 'policy_blocked', 'conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    requireAllowedBy(caller, { kind: 'key.create' });
    requireOwnersRates(body, services.limits.keys);
    const { token, key, spendLimit } = newKey(body, caller, services);
    const { by, id } = caller.signedIn;
    const authorizationId = by === 'bearer' ? id : null;
    const made = { ...key, authorizationId };
    const row = await createAuditedKey(services, { key: made, spendLimit }, caller.personId);
    return {
      status: 201,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, raw_token: token, api_key: apiKeyBody(row) },
    };
  },
});
