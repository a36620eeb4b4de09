// What is due of promotional credit, by whichever process has the round. Purchases make referrals
// due or end them, and claims are granted. Each part is repeated until it is done.

import { errorFields, type Sql } from '../../db/driver/sql.ts';
import { listOpenClaims } from '../../db/promotions/claims.ts';
import {
  endReferrals,
  judgePurchase,
  listReferredPurchases,
  listTakenBack,
  noteTaken,
  type ReferralTerms,
} from '../../db/promotions/referrals.ts';
import { forgetTries } from '../../db/promotions/tries.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { Logger } from '../../runtime/log.ts';
import type { BillingRecord } from '../catalog/document.ts';
import type { DirectWallet } from '../wallet/direct.ts';
import { grantOf } from './grant.ts';
import type { PromotionLimits } from './limits.ts';

interface RoundDeps {
  sql: Sql;
  wallet: DirectWallet;
  /** As they are now. */
  billing(): BillingRecord;
  limits: PromotionLimits;
  log: Pick<Logger, 'warn'>;
}

/** Who took back what a reversed purchase had brought. */
const actor = 'promotions';
const microsPerCredit = 1_000_000n;

/** What both sides of a referral get; null: nothing. */
export function termsOf({ referral }: BillingRecord): ReferralTerms | null {
  if (referral === null) return null;
  const micros = (credits: number) => BigInt(credits) * microsPerCredit;
  return {
    refereeMicros: micros(referral.referee_credits),
    referrerMicros: micros(referral.referrer_credits),
    minPurchaseMicros: micros(referral.min_purchase_credits),
    holdDays: referral.hold_days,
    perReferrerMax: referral.per_referrer_max,
    creditsDays: referral.credits_days ?? null,
  };
}

/** One round. Rejects when the database cannot be read; the next round does what this did not. */
export async function promotionsRound(deps: RoundDeps): Promise<void> {
  const { sql, limits } = deps;
  // Before anything is granted: what was reversed is not given.
  await endReferrals(sql, limits.roundMax);
  const terms = termsOf(deps.billing());
  for (const id of await listReferredPurchases(sql, limits.roundMax)) {
    await judgePurchase(sql, id, terms);
  }
  await grantClaims(deps);
  await takeBack(deps);
  await forgetTries(sql, limits.triesWithinMs, limits.roundMax);
}

async function grantClaims({ sql, wallet, limits, log }: RoundDeps): Promise<void> {
  for (const claim of await listOpenClaims(sql, limits.roundMax)) {
    const reply = await wallet(claim.walletId, 'grant', grantOf(claim));
    if (reply.status === 'unavailable') return;
    if (reply.status === 'granted') continue;
    log.warn(
      { kind: claim.kind, claim: claim.id, reason: reply.status },
      'a claim cannot be granted',
    );
  }
}

async function takeBack({ sql, wallet, limits, log }: RoundDeps): Promise<void> {
  for (const credit of await listTakenBack(sql, limits.roundMax)) {
    const { id, accountId, walletId, grantId, purchaseId } = credit;
    const event = {
      id: newAuditId(0),
      accountId,
      actor,
      action: 'wallet.revoke',
      subject: `wallet:${walletId}`,
      details: { grant_id: grantId, reason: `the purchase ${purchaseId} was reversed` },
    };
    try {
      const reply = await wallet(walletId, 'revoke', { grantId, event });
      if (reply.status === 'revoked') await noteTaken(sql, id, reply.revokedMicros);
    } catch (error) {
      log.warn(
        { ...errorFields(error), credit: id },
        'credits of a referral wait to be taken back',
      );
    }
  }
}
