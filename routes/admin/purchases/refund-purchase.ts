// POST /api/admin/purchases/{purchase_id}/refund: credits are taken first, then money is sent.
import * as v from 'valibot';
import type { RefundOutcome } from '../../../actors/payments/protocol.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { findRefund } from '../../../db/purchases/refunds.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { purchaseParams } from '../../purchases/schema.ts';
import { newOperationId } from '../wallets/schema.ts';
import { refundBody, refundPrefix, refundSchema } from './schema.ts';

export const refundPurchase = defineRoute({
  method: 'POST',
  path: '/api/admin/purchases/{purchase_id}/refund',
  operationId: 'refundPurchase',
  summary: 'Refund a purchase',
  description:
    'Once for each `operation_id`. Without `amount_cents` it is all that is left, with taxes. ' +
    'The credits of that part are taken from the wallet, then the money is sent; a refund that ' +
    'the provider refuses gives the credits back. 409 with the reason `credits_spent` where the ' +
    'wallet has not so much free: with `force` what is missing becomes debt. 409 `disputed` ' +
    'while a dispute is open.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: purchaseParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      operation_id: newOperationId,
      amount_cents: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER)),
      ),
      reason: lineOfText(500),
      force: v.optional(v.boolean(), false),
    }),
  },
  replies: {
    200: {
      description: 'The refund as it is now.',
      schema: v.strictObject({ ok: v.literal(true), refund: refundSchema }),
    },
  },
  problems: ['not_found', 'conflict', 'idempotency_key_reused', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { payments, sql } = services;
    const request = {
      purchaseId: params.purchase_id,
      operationId: `${refundPrefix}${body.operation_id}`,
      amountCents: body.amount_cents ?? null,
      reason: body.reason,
      actor: caller.accountId,
      force: body.force,
    };
    const answer = await payments.desk().ask('refund', request, payments.limits.askMs);
    const id = requireRefund(answer.ok ? answer.value : { status: 'unavailable' });
    const refund = await withDeadline(findRefund(sql, id));
    if (refund === null) throw new Problem('dependency_unavailable');
    const json = { ok: true, refund: refundBody(refund) };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});

function requireRefund(outcome: RefundOutcome): string {
  switch (outcome.status) {
    case 'asked':
      return outcome.refundId;
    case 'not_found':
      throw new Problem('not_found', { param: 'purchase_id' });
    case 'reused':
      throw new Problem('idempotency_key_reused', { param: 'operation_id' });
    case 'too_much':
      throw fieldProblem('amount_cents', `No more than ${outcome.leftCents} can be refunded.`);
    case 'not_refundable':
      throw conflict('not_refundable', 'Only a completed purchase with a price is refunded.');
    case 'disputed':
      throw conflict('disputed', 'A dispute is open: answer it at the provider.');
    case 'credits_spent':
      throw conflict('credits_spent', 'The wallet has not so many credits free.', {
        missing_microcredits: outcome.missingMicros.toString(),
      });
    case 'unavailable':
      throw new Problem('dependency_unavailable', {
        message: 'Repeat it with the same operation_id.',
      });
  }
}

function conflict(reason: string, message: string, more: Record<string, string> = {}): Problem {
  return new Problem('conflict', { message, details: { reason, ...more } });
}
