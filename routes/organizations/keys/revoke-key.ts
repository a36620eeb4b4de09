// POST /api/enterprise/organizations/{organization_id}/keys/revoke: a key of the organization, or
// of a member in it, stops working on every shard before this is answered.
import * as v from 'valibot';
import { revokeKey } from '../../../db/keys.ts';
import { findContextKey } from '../../../db/organizations/keys.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { keyIdEntry } from '../../keys/schema.ts';
import { memberAct, personRecord } from '../act.ts';
import { organizationParams } from '../schema.ts';
import { contextKeyBody, contextKeyReply, noKey } from './schema.ts';

export const revokeOrganizationKey = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/keys/revoke',
  operationId: 'revokeOrganizationKey',
  summary: 'Revoke an API key of an organization',
  description: 'Owners and admins. Final, as `revokeApiKey`; also the key of a member there.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { api_key_id: 'key_019ab2c3d4e5f60718293a4b' },
    schema: v.strictObject(keyIdEntry),
  },
  replies: { 200: { description: 'The key, revoked.', schema: contextKeyReply } },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { api_key_id: keyId } = body;
    const order = { caller, organizationId, right: 'keys.revoke' } as const;
    const { row, userId } = await memberAct(services, order, async (transaction, seat) => {
      const known = await findContextKey(transaction, seat.organization.id, keyId);
      if (known === null) throw noKey();
      const { userId } = known;
      const row = await revokeKey(transaction, known.accountId, keyId);
      if (row === null) throw noKey();
      const { label, prefix } = row;
      const details = { label, prefix, user_id: userId };
      const target = { type: 'key', id: keyId };
      const record = personRecord(seat.userId, 'key.revoke', target, details);
      return { result: { row, userId }, records: [record], fences: true, withdrawn: [keyId] };
    });
    const json = { ok: true, api_key: contextKeyBody(row, { userId }) };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
