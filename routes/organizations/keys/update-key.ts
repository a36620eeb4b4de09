// POST /api/enterprise/organizations/{organization_id}/keys/update: other terms for a key of the
// organization.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { applyChange } from '../../keys/change.ts';
import { changedKeyEntries, keyIdEntry } from '../../keys/schema.ts';
import { requireOwnersRates } from '../../keys/terms.ts';
import { memberAct, personRecord } from '../act.ts';
import { organizationParams } from '../schema.ts';
import { lockOwnKey } from './own-key.ts';
import { contextKeyBody, contextKeyReply } from './schema.ts';

export const updateOrganizationKey = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/keys/update',
  operationId: 'updateOrganizationKey',
  summary: 'Change an API key of an organization',
  description:
    'Owners and admins. As `updateApiKey`. The key of a member is 403: it may only be revoked.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { api_key_id: 'key_019ab2c3d4e5f60718293a4b', disabled: true },
    schema: v.strictObject({ ...keyIdEntry, ...changedKeyEntries }),
  },
  replies: { 200: { description: 'The key as it is now.', schema: contextKeyReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const { api_key_id: keyId, ...change } = body;
    requireOwnersRates(change, services.limits.keys);
    const order = { caller, organizationId, right: 'keys.write' } as const;
    const row = await memberAct(services, order, async (transaction, seat) => {
      const before = await lockOwnKey(transaction, seat.organization.id, keyId);
      const { after, told } = await applyChange(transaction, before, change);
      const target = { type: 'key', id: keyId };
      const details = { prefix: after.prefix, ...told };
      const record = personRecord(seat.userId, 'key.update', target, details);
      const isEnded = after.status !== 'active' && before.status === 'active';
      const ids = [keyId];
      const changes = isEnded ? { withdrawn: ids } : { changed: ids };
      return { result: after, records: [record], fences: true, ...changes };
    });
    const json = { ok: true, api_key: contextKeyBody(row, { userId: null }) };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
