// POST /api/me/rewards/redeem: a code for credits, once an account.
import * as v from 'valibot';
import type { PromotionRecord } from '../../actors/catalog/document.ts';
import { codeOf } from '../../actors/catalog/promotions/faults.ts';
import { grantClaimed } from '../../actors/promotions/grant.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { claimCode, hasHadCode } from '../../db/promotions/codes.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { newId } from '../../runtime/ids.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { amount } from '../billing/amounts.ts';
import { exact, micros } from '../billing/micros.ts';
import { defineRoute } from '../define.ts';
import { requireEligible, requireTry } from './eligible.ts';
import { noStore } from './schema.ts';

const microsPerCredit = 1_000_000n;
const msPerDay = 86_400_000;

export const redeemCode = defineRoute({
  method: 'POST',
  path: '/api/me/rewards/redeem',
  operationId: 'redeemCode',
  summary: 'Redeem a code',
  description:
    'In any case of letters. 404: there is no such code, or it is over. 409: the account has had ' +
    'it. `granted` false: the credits come within seconds. An account tries 10 an hour. For ' +
    'verified, unrestricted accounts: else 403 with the reason `unverified` or ' +
    '`billing_restricted`.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { code: 'WELCOME' },
    schema: v.strictObject({ code: lineOfText(100) }),
  },
  replies: {
    200: {
      description: 'What the code gave.',
      schema: v.strictObject({
        ok: v.literal(true),
        redemption: v.strictObject({
          id: v.string(),
          code: v.string(),
          credits: v.number(),
          amount_microcredits: micros,
          amount_exact: exact,
          expires_at: v.nullable(v.string()),
          granted: v.boolean(),
        }),
      }),
    },
  },
  problems: ['forbidden', 'not_found', 'conflict', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, catalog, limits, system } = services;
    const { accountId, walletId } = caller;
    await requireEligible(services, accountId);
    await requireTry(services, accountId, 'code');
    const code = body.code.trim().toLowerCase();
    const promotion = catalog.current().snapshot.promotions.find((each) => codeOf(each) === code);
    if (promotion === undefined) throw unknownCode();
    const now = new Date();
    if (!isOpen(promotion, now)) {
      const hadIt = await withDeadline(hasHadCode(sql, accountId, promotion.name));
      throw hadIt ? hadCode() : unknownCode();
    }
    const claim = {
      id: newId('code', system.node),
      promotion: promotion.name,
      accountId,
      walletId,
      micros: BigInt(promotion.credits) * microsPerCredit,
      creditsUntil: endOfCredits(promotion, now),
    };
    const claimed = await withDeadline(claimCode(sql, claim, promotion.redemptions_max));
    if (claimed !== 'claimed') throw claimed === 'had' ? hadCode() : unknownCode();
    const wallet = services.wallet(walletId);
    const granted = await grantClaimed(sql, wallet, 'code', claim.id, limits.promotions.grantMs);
    const redemption = {
      id: claim.id,
      code: promotion.code ?? promotion.name,
      credits: promotion.credits,
      ...amount('amount', claim.micros),
      expires_at: claim.creditsUntil?.toISOString() ?? null,
      granted: granted === 'granted',
    };
    return { status: 200, headers: noStore, json: { ok: true, redemption } };
  },
});

function isOpen({ enabled, starts_at: from, ends_at: to }: PromotionRecord, now: Date): boolean {
  const ms = now.getTime();
  return (
    enabled &&
    (from === undefined || ms >= Date.parse(from)) &&
    (to === undefined || ms < Date.parse(to))
  );
}

function endOfCredits({ credits_days: days }: PromotionRecord, now: Date): Date | null {
  return days === undefined ? null : new Date(now.getTime() + days * msPerDay);
}

function unknownCode(): Problem {
  return new Problem('not_found', { message: 'There is no such code.', param: 'code' });
}

function hadCode(): Problem {
  return new Problem('conflict', { message: 'The account has had this code.', param: 'code' });
}
