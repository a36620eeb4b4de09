// POST /api/admin/wallets/{wallet_id}/debits: takes an amount of promotions, once an operation id.
import * as v from 'valibot';
import type { DebitReply } from '../../../actors/wallet/protocol.ts';
import { debitPromotions } from '../../../actors/wallet/take-back.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { amount } from '../../billing/amounts.ts';
import { exact, micros } from '../../billing/micros.ts';
import { defineRoute } from '../../define.ts';
import { givenMicros, newOperationId, walletParams } from './schema.ts';

export const debitWallet = defineRoute({
  method: 'POST',
  path: '/api/admin/wallets/{wallet_id}/debits',
  operationId: 'debitWallet',
  summary: 'Take an amount of promotional credits',
  description:
    'Takes it from what promotions have free, the newest first; purchases and what is reserved ' +
    'are not touched. More than that is 409 `invalid_state`, and nothing is taken. Exact and ' +
    'once: the same `operation_id` again answers with the same debit; with another body, for ' +
    'another wallet or as that of a grant it is 422 `idempotency_key_reused`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: walletParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      operation_id: newOperationId,
      amount_microcredits: givenMicros,
      note: lineOfText(500),
    }),
  },
  replies: {
    201: {
      description: 'The debit, and what the wallet has available now.',
      schema: v.strictObject({
        ok: v.literal(true),
        debit: v.strictObject({
          operation_id: v.string(),
          amount_microcredits: micros,
          amount_exact: exact,
          note: v.string(),
        }),
        available_microcredits: micros,
        available_exact: exact,
      }),
    },
  },
  problems: ['not_found', 'invalid_state', 'idempotency_key_reused', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { wallet_id: walletId } = params;
    const { operation_id, note } = body;
    const amountMicros = BigInt(body.amount_microcredits);
    const reply = await debitPromotions(services.sql, services.wallet(walletId), {
      eventId: newAuditId(services.system.node),
      actor: caller.accountId,
      walletId,
      operationId: `admin.${operation_id}`,
      amountMicros,
      note,
    });
    const availableMicros = requireDebited(reply);
    const debit = { operation_id, ...amount('amount', amountMicros), note };
    const json = { ok: true, debit, ...amount('available', availableMicros) };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  },
});

function requireDebited(reply: DebitReply): bigint {
  switch (reply.status) {
    case 'debited':
      return reply.availableMicros;
    case 'insufficient':
      throw new Problem('invalid_state', {
        message: `The promotions of the wallet have ${reply.freeMicros} microcredits free.`,
      });
    case 'reused':
      throw new Problem('idempotency_key_reused', {
        message: 'The operation id was used for something else, of this or another wallet.',
        param: 'operation_id',
      });
    case 'wallet_not_found':
      throw new Problem('not_found', { param: 'wallet_id' });
    case 'unavailable':
      throw new Problem('dependency_unavailable');
  }
}
