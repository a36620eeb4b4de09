// POST /api/admin/users/{account_id}/keys: a new key for any account, with limits of its own if
// wanted. Its token is in this reply and nowhere else, ever.
import * as v from 'valibot';
import { keyLimits } from '../../../actors/credentials/limits.ts';
import { findAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { createAuditedKey } from '../../keys/audited.ts';
import { newKey } from '../../keys/new-key.ts';
import {
  apiKeyBody,
  createdKeySchema,
  defaultScopesText,
  newKeyEntries,
} from '../../keys/schema.ts';
import { accountParams } from './schema.ts';

export const createUserKey = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/keys',
  operationId: 'createUserKey',
  summary: 'Create an API key for an account',
  description:
    '`raw_token` is returned once. Without `scopes` the key may list and call models, and read ' +
    `the wallet: ${defaultScopesText}. Without limits it has the usual ones. An account has at ` +
    `most ${keyLimits.activeMax} active keys; another one is 409 \`conflict\` until one is ` +
    'revoked.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject(newKeyEntries),
  },
  replies: { 201: { description: 'The key and its token.', schema: createdKeySchema } },
  problems: ['invalid_request', 'not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { account_id: accountId } = params;
    const account = await withDeadline(findAccount(services.sql, accountId));
    const walletId = account?.walletId ?? null;
    if (walletId === null) throw new Problem('not_found', { param: 'account_id' });
    const made = newKey(body, { accountId, walletId }, services);
    const row = await createAuditedKey(services, made, caller.accountId);
    const json = { ok: true, raw_token: made.token, api_key: apiKeyBody(row) };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  },
});
