// DELETE /api/me/account: the account is erased in 14 days, unless it is restored.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { expireSessionCookie } from '../../identity/cookies.ts';
import { requireFresh } from '../../identity/sign-in.ts';
import { deleteAndTell } from './deletion.ts';

export const deleteAccount = defineRoute({
  method: 'DELETE',
  path: '/api/me/account',
  operationId: 'deleteAccount',
  summary: 'Delete your account',
  description:
    'Needs a sign-in within the last 10 minutes, else 403 with the reason `reauthenticate`. ' +
    '`confirm` is the address of the account; of one without address, its id. Sessions, apps and ' +
    'API keys end at once and stay ended. Until `restorable_until` a code with `restore` undoes ' +
    'the rest; then everything personal is erased. Ledger, purchases and audit stay under the ' +
    'id. 409 `invalid_state` has the reason `last_administrator`, `organization_owner` or ' +
    '`legal_hold`.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({ confirm: lineOfText(254) }),
  },
  replies: {
    202: {
      description: 'It is to be erased.',
      schema: v.strictObject({
        ok: v.literal(true),
        status: v.literal('deleting'),
        restorable_until: v.string(),
      }),
    },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ body, caller, exchange, services }) {
    requireFresh(caller);
    const { accountId } = caller;
    const person = await withDeadline(findPerson(services.sql, accountId));
    const typed = person?.email == null ? body.confirm : parseAddress(body.confirm);
    if (typed !== (person?.email ?? accountId)) {
      throw fieldProblem('confirm', 'Type the address of the account.');
    }
    const until = await deleteAndTell(services, { accountId, actor: accountId });
    expireSessionCookie(exchange, services.config);
    return {
      status: 202,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, status: 'deleting', restorable_until: until.toISOString() },
    };
  },
});
