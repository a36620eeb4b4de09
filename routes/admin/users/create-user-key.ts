// POST /api/admin/users/{account_id}/keys: a new key for any account, with limits of its own if
// wanted. Its token is in this reply and nowhere else, ever.
import * as v from 'valibot';
import { findAccount } from '../../../db/accounts.ts';
import { audited } from '../../../db/audit-events.ts';
import { createKeyWithin } from '../../../db/keys.ts';
import { withDeadline } from '../../../db/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { newKey, tooManyKeys } from '../../keys/new-key.ts';
import { apiKeyBody, createdKeySchema, newKeyEntries } from '../../keys/schema.ts';
import { requireAccount } from '../../require.ts';
import { accountParams } from './schema.ts';

const bound = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));

export const createUserKey = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/keys',
  operationId: 'createUserKey',
  summary: 'Create an API key for an account',
  description:
    '`raw_token` is returned once. Without `scopes` the key may list and call models; without ' +
    `limits it has the usual ones. An account has at most ${fixedLimits.keys.activeMax} active ` +
    'keys; another one is 409 `conflict` until one is revoked.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      ...newKeyEntries,
      requests_per_minute: v.optional(bound(1_000_000)),
      concurrency_max: v.optional(bound(100_000)),
    }),
  },
  replies: { 201: { description: 'The key and its token.', schema: createdKeySchema } },
  problems: ['not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { account_id: accountId } = params;
    const account = await withDeadline(findAccount(services.sql, accountId));
    const walletId = account?.walletId ?? null;
    if (walletId === null) throw new Problem('not_found', { param: 'account_id' });
    const { token, key } = newKey(body, { accountId, walletId }, services);
    const made = audited(services.sql, async (transaction) => {
      const result = await createKeyWithin(transaction, key, fixedLimits.keys.activeMax);
      if (result === null) return { result, event: null };
      const id = newId('aud', services.system.node);
      const { label, scopes, prefix, environment } = result;
      const limits = {
        requests_per_minute: result.requestsPerMinute,
        concurrency_max: result.concurrencyMax,
      };
      const details = { label, environment, scopes, prefix, ...limits };
      const actor = requireAccount(caller).accountId;
      const event = { id, accountId, actor, action: 'key.create', subject: `key:${result.id}` };
      return { result, event: { ...event, details } };
    });
    const row = await withDeadline(made);
    if (row === null) throw tooManyKeys();
    const json = { ok: true, raw_token: token, api_key: apiKeyBody(row) };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  },
});
