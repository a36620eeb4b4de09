// POST /api/admin/users/{account_id}/billing: whether an account may buy and be given credits.
import * as v from 'valibot';
import { audited } from '../../../db/audit-events.ts';
import { findStanding, restrictBilling as restrict } from '../../../db/billing/settings.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { accountParams } from './schema.ts';

export const restrictBilling = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/billing',
  operationId: 'restrictBilling',
  summary: 'Restrict what an account may buy',
  description:
    'A restricted account buys nothing, is charged for nothing by itself, and is given no ' +
    'promotional credit. What it has it may spend. A lost dispute restricts by itself.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({ restricted: v.boolean(), reason: lineOfText(500) }),
  },
  replies: {
    200: {
      description: 'How it stands now.',
      schema: v.strictObject({
        ok: v.literal(true),
        restricted: v.boolean(),
        reason: v.nullable(v.string()),
        restricted_at: v.nullable(v.string()),
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { account_id: accountId } = params;
    const { sql, system } = services;
    const { restricted, reason } = body;
    const changed = audited(sql, async (transaction) => {
      const isChanged = await restrict(transaction, accountId, restricted ? reason : null);
      const result = await findStanding(transaction, accountId);
      if (!isChanged) return { result, event: null };
      const event = {
        id: newAuditId(system.node),
        accountId,
        actor: caller.accountId,
        action: restricted ? 'account.restrict_billing' : 'account.allow_billing',
        subject: `account:${accountId}`,
        details: { reason },
      };
      return { result, event };
    });
    const standing = await withDeadline(changed);
    if (standing === null) throw new Problem('not_found', { param: 'account_id' });
    const json = {
      ok: true,
      restricted: standing.restrictedAt !== null,
      reason: standing.restrictedReason,
      restricted_at: standing.restrictedAt?.toISOString() ?? null,
    };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
