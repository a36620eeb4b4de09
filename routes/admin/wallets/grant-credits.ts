// POST /api/admin/wallets/{wallet_id}/grants: promotional credits, granted once per operation id.
import * as v from 'valibot';
import { grantPromotion, type PromotionReply } from '../../../actors/wallet/promotion.ts';
import { momentOf } from '../../../runtime/http/moment.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { amount } from '../../billing/amounts.ts';
import { exact, micros } from '../../billing/micros.ts';
import { defineRoute } from '../../define.ts';
import { givenMicros, newOperationId, walletParams } from './schema.ts';

const bodySchema = v.strictObject({
  operation_id: newOperationId,
  amount_microcredits: givenMicros,
  note: lineOfText(500),
  expires_at: v.optional(
    v.nullable(
      v.pipe(v.string(), v.isoTimestamp('expected an ISO 8601 time with seconds and a zone')),
    ),
  ),
});

export const grantCredits = defineRoute({
  method: 'POST',
  path: '/api/admin/wallets/{wallet_id}/grants',
  operationId: 'grantCredits',
  summary: 'Grant promotional credits',
  description:
    'Exact and once: the same `operation_id` again answers with the same grant; with another ' +
    'body, or for another wallet, it is 422 `idempotency_key_reused`: an operation id names one ' +
    'grant or debit of the whole service, such as `welcome.acc_…`. Without `expires_at` the ' +
    'credits do not expire.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: walletParams,
  body: { kind: 'json', bytesMax: fixedLimits.body.jsonBytesMax, schema: bodySchema },
  replies: {
    201: {
      description: 'The grant, and what the wallet has available now.',
      schema: v.strictObject({
        ok: v.literal(true),
        grant: v.strictObject({
          id: v.string(),
          operation_id: v.string(),
          kind: v.literal('promotion'),
          note: v.string(),
          amount_microcredits: micros,
          amount_exact: exact,
          expires_at: v.nullable(v.string()),
        }),
        available_microcredits: micros,
        available_exact: exact,
      }),
    },
  },
  problems: ['not_found', 'invalid_state', 'idempotency_key_reused', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { wallet_id: walletId } = params;
    const expiresAt = body.expires_at == null ? null : requireMoment(body.expires_at);
    const amountMicros = BigInt(body.amount_microcredits);
    const reply = await grantPromotion(services.sql, services.wallet(walletId), {
      eventId: newAuditId(services.system.node),
      actor: caller.accountId,
      walletId,
      operationId: `admin.${body.operation_id}`,
      amountMicros,
      expiresAtMs: expiresAt?.getTime() ?? null,
      note: body.note,
    });
    const { grantId, availableMicros } = requireGrant(reply);
    const grant = {
      id: grantId,
      operation_id: body.operation_id,
      kind: 'promotion',
      note: body.note,
      ...amount('amount', amountMicros),
      expires_at: expiresAt?.toISOString() ?? null,
    };
    const json = { ok: true, grant, ...amount('available', availableMicros) };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  },
});

function requireMoment(text: string): Date {
  const moment = momentOf(text);
  if (moment !== null) return moment;
  const message = 'expires_at is no ISO 8601 time with seconds and a zone.';
  throw new Problem('invalid_request', { message, param: 'expires_at' });
}

function requireGrant(reply: PromotionReply): PromotionReply & { status: 'granted' } {
  switch (reply.status) {
    case 'granted':
      return reply;
    case 'wallet_not_found':
      throw new Problem('not_found', { param: 'wallet_id' });
    case 'reused':
      throw new Problem('idempotency_key_reused', {
        message: 'The operation id was used for another grant, of this or another wallet.',
        param: 'operation_id',
      });
    case 'expired':
      throw new Problem('invalid_request', {
        message: 'expires_at is in the past.',
        param: 'expires_at',
      });
    case 'too_much':
      throw new Problem('invalid_state', { message: 'A wallet cannot hold that much.' });
    case 'unavailable':
      throw new Problem('dependency_unavailable');
  }
}
