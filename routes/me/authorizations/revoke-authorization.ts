// POST /api/me/authorizations/revoke: an app acts for the account no more. Its tokens and the keys
// that it made work on no shard when this is answered.
import * as v from 'valibot';
import { audited } from '../../../db/audit-events.ts';
import { endAuthorizations, knowsClient } from '../../../db/authorizations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';

const clientIdMax = 2_048;
const count = v.pipe(v.number(), v.integer());

export const revokeAuthorization = defineRoute({
  method: 'POST',
  path: '/api/me/authorizations/revoke',
  operationId: 'revokeAuthorization',
  summary: 'Cut an app off',
  description:
    'All its authorizations end with their tokens, and so do the keys that were made through ' +
    'them; their voice sessions end. Cutting an app off twice changes nothing.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { client_id: 'svc-cli' },
    schema: v.strictObject({ client_id: lineOfText(clientIdMax) }),
  },
  replies: {
    200: {
      description: 'How many ended.',
      schema: v.strictObject({ ok: v.literal(true), authorizations: count, api_keys: count }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, bus, system } = services;
    const { accountId } = caller;
    const client = body.client_id;
    const ended = await withDeadline(
      audited<string[] | null>(sql, async (transaction) => {
        const result = await endAuthorizations(transaction, { accountId, client }, 'user');
        if (result.length === 0) {
          const isKnown = await knowsClient(transaction, accountId, client);
          return { result: isKnown ? result : null, event: null };
        }
        const event = {
          id: newAuditId(system.node),
          accountId,
          actor: accountId,
          action: 'authorization.revoke',
          subject: `oauth_client:${client}`,
          details: { ended: result },
        };
        return { result, event };
      }),
    );
    if (ended === null) throw new Problem('not_found', { param: 'client_id' });
    await tellChange(bus, ended, { isWithdrawn: true });
    const countOf = (prefix: string) => ended.filter((id) => id.startsWith(prefix)).length;
    const json = { ok: true, authorizations: countOf('auth_'), api_keys: countOf('key_') };
    return { status: 200, json };
  },
});
