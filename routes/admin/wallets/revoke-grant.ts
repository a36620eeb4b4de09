// POST /api/admin/wallets/{wallet_id}/grants/{grant_id}/revoke: takes a promotion back, once.
import * as v from 'valibot';
import { type RevocationReply, revokePromotion } from '../../../actors/wallet/take-back.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { amount } from '../../billing/amounts.ts';
import { exact, micros } from '../../billing/micros.ts';
import { defineRoute } from '../../define.ts';
import { walletParams } from './schema.ts';

export const revokeGrant = defineRoute({
  method: 'POST',
  path: '/api/admin/wallets/{wallet_id}/grants/{grant_id}/revoke',
  operationId: 'revokeGrant',
  summary: 'Take a promotion back',
  description:
    'Takes what the promotion has free, in the operation `<grant_id>.revoke`. Reservations keep ' +
    'what they have of it and may be charged to it; what they give back is taken back too, when ' +
    'it comes. Asked again, the answer is the same, and the first reason is kept. A purchase is ' +
    '409 `invalid_state`, reason `use_refund`. Of a promotion that is spent or expired nothing ' +
    'is left to take: 0.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: v.strictObject({ ...walletParams.entries, grant_id: lineOfText(100) }),
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { reason: 'given twice' },
    schema: v.strictObject({ reason: lineOfText(500) }),
  },
  replies: {
    200: {
      description: 'What was taken, also when it was before.',
      schema: v.strictObject({
        ok: v.literal(true),
        revocation: v.strictObject({
          operation_id: v.string(),
          grant_id: v.string(),
          amount_microcredits: micros,
          amount_exact: exact,
        }),
      }),
    },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { wallet_id: walletId, grant_id: grantId } = params;
    const reply = await revokePromotion(services.sql, services.wallet(walletId), {
      eventId: newAuditId(services.system.node),
      actor: caller.accountId,
      walletId,
      grantId,
      reason: body.reason,
    });
    const revocation = {
      operation_id: `${grantId}.revoke`,
      grant_id: grantId,
      ...amount('amount', requireRevoked(reply)),
    };
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: { ok: true, revocation } };
  },
});

function requireRevoked(reply: RevocationReply): bigint {
  switch (reply.status) {
    case 'revoked':
      return reply.revokedMicros;
    case 'wallet_not_found':
      throw new Problem('not_found', { param: 'wallet_id' });
    case 'grant_not_found':
      throw new Problem('not_found', { param: 'grant_id' });
    case 'not_a_promotion':
      throw new Problem('invalid_state', {
        message: 'A purchase is not revoked: its money is refunded.',
        details: { reason: 'use_refund' },
      });
    case 'unavailable':
      throw new Problem('dependency_unavailable');
  }
}
