// POST /api/enterprise/organizations/{organization_id}/keys/rotate: another token for a key of the
// organization. It is in this reply and nowhere else, ever.
import * as v from 'valibot';
import { displayPrefix, newKeyToken, tokenHash } from '../../../actors/credentials/token.ts';
import { findKey, rotateKey } from '../../../db/keys.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { rotateEntries } from '../../keys/schema.ts';
import { memberAct, personRecord } from '../act.ts';
import { organizationParams } from '../schema.ts';
import { lockOwnKey } from './own-key.ts';
import { contextKeyBody, createdContextKey } from './schema.ts';

export const rotateOrganizationKey = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/keys/rotate',
  operationId: 'rotateOrganizationKey',
  summary: 'Give an API key of an organization another token',
  description:
    'Owners and admins. As `rotateApiKey`. The key of a member is 403: it may only be revoked.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { api_key_id: 'key_019ab2c3d4e5f60718293a4b', grace_seconds: 3_600 },
    schema: v.strictObject(rotateEntries),
  },
  replies: { 200: { description: 'The key and its new token.', schema: createdContextKey } },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { api_key_id: keyId, grace_seconds: graceSeconds } = body;
    const order = { caller, organizationId, right: 'keys.write' } as const;
    const { token, row } = await memberAct(services, order, async (transaction, seat) => {
      const before = await lockOwnKey(transaction, seat.organization.id, keyId);
      const token = newKeyToken(before.environment);
      const made = { tokenHash: tokenHash(token), prefix: displayPrefix(token) };
      await rotateKey(transaction, keyId, made, graceSeconds);
      const row = (await findKey(transaction, before.accountId, keyId)) ?? before;
      const details = { prefix: [before.prefix, row.prefix], grace_seconds: graceSeconds };
      const target = { type: 'key', id: keyId };
      const record = personRecord(seat.userId, 'key.rotate', target, details);
      return { result: { token, row }, records: [record], fences: true, changed: [keyId] };
    });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, raw_token: token, api_key: contextKeyBody(row, { userId: null }) },
    };
  },
});
