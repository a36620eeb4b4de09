// POST /api/enterprise/organizations/{organization_id}/keys: a key of the organization itself. Its
// token is in this reply and nowhere else, ever.
import * as v from 'valibot';
import { organizationLimits } from '../../../actors/organization/limits.ts';
import { createKeyWithin, findKey } from '../../../db/keys.ts';
import { setSpendLimit } from '../../../db/spend/limit.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { newKey } from '../../keys/new-key.ts';
import { newKeyEntries } from '../../keys/schema.ts';
import { requireOwnersRates, toldTerms } from '../../keys/terms.ts';
import { memberAct, personRecord } from '../act.ts';
import { organizationParams } from '../schema.ts';
import { contextKeyBody, createdContextKey } from './schema.ts';

const { keysMax } = organizationLimits;

export const createOrganizationKey = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/keys',
  operationId: 'createOrganizationKey',
  summary: 'Create an API key of an organization',
  description:
    'Owners and admins. It acts as the organization, and pays with its wallet. `raw_token` is ' +
    `returned once. An organization has at most ${keysMax} active keys: another one is 409 ` +
    '`conflict`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { label: 'build server' },
    schema: v.strictObject(newKeyEntries),
  },
  replies: { 201: { description: 'The key and its token.', schema: createdContextKey } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    requireOwnersRates(body, services.limits.keys);
    const order = { caller, organizationId, right: 'keys.write' } as const;
    const { token, row } = await memberAct(services, order, async (transaction, seat) => {
      const { accountId, walletId } = seat.organization;
      const made = newKey(body, { accountId, walletId }, services);
      let row = await createKeyWithin(transaction, made.key, keysMax);
      if (row === null) {
        const message = `The organization has ${keysMax} active keys. Revoke one first.`;
        throw new Problem('conflict', { message, details: { reason: 'keys' } });
      }
      if (made.spendLimit !== null) {
        await setSpendLimit(transaction, row, made.spendLimit, Date.now());
        row = (await findKey(transaction, accountId, row.id)) ?? row;
      }
      const { id, prefix, scopes } = row;
      const details = { prefix, scopes, ...toldTerms(row) };
      const record = personRecord(seat.userId, 'key.create', { type: 'key', id }, details);
      return { result: { token: made.token, row }, records: [record], fences: true };
    });
    return {
      status: 201,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, raw_token: token, api_key: contextKeyBody(row, { userId: null }) },
    };
  },
});
