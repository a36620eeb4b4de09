// Who brought whom, and what both get for it. A referral is due with a purchase; the claims of both
// sides are made in one transaction, and a reversal of the purchase ends them.
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';
import { isEligible } from './eligible.ts';

/** In the transaction that makes the referee's account. */
export async function recordReferral(
  transaction: Transaction,
  { id, refereeId, referrerId }: { id: string; refereeId: string; referrerId: string },
): Promise<void> {
  await transaction`
    INSERT INTO referrals (id, referee_id, referrer_id)
    VALUES (${id}, ${refereeId}, ${referrerId})`;
}

export interface ReferralTerms {
  refereeMicros: bigint;
  referrerMicros: bigint;
  minPurchaseMicros: bigint;
  holdDays: number;
  perReferrerMax: number;
  creditsDays: number | null;
}

/**
 * Completed purchases that may make a referral due, the oldest first. All others among those that
 * were not looked at are marked: they are of nobody who was brought.
 */
export async function listReferredPurchases(sql: Sql, limit: number): Promise<string[]> {
  await sql`
    UPDATE purchases SET referral_seen = true WHERE id IN (
      SELECT p.id FROM purchases p
      WHERE NOT p.referral_seen AND p.status = 'completed' AND NOT EXISTS (
        SELECT FROM referrals r WHERE r.referee_id = p.account_id AND r.purchase_id IS NULL)
      ORDER BY p.completed_at LIMIT ${limit})`;
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM purchases WHERE NOT referral_seen AND status = 'completed'
    ORDER BY completed_at LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

type Due = {
  referral_id: string;
  referee_id: string;
  referee_wallet: string;
  referrer_id: string;
  referrer_wallet: string;
};

/** Looks at one of them, once. True: it made a referral due. Null terms: nothing is given. */
export function judgePurchase(
  sql: Sql,
  purchaseId: string,
  terms: ReferralTerms | null,
): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [purchase] = await transaction<{ account_id: string }[]>`
      UPDATE purchases SET referral_seen = true
      WHERE id = ${purchaseId} AND NOT referral_seen AND status = 'completed'
      RETURNING account_id`;
    if (purchase === undefined || terms === null) return false;
    const due = await findDue(transaction, purchaseId, terms);
    if (due === null) return false;
    await transaction`
      UPDATE referrals SET purchase_id = ${purchaseId}, due_at = now()
      WHERE id = ${due.referral_id}`;
    await claimBoth(transaction, purchaseId, due, terms);
    return true;
  });
}

/** The referral that the purchase makes due, by the rules. Its row waits for this transaction. */
async function findDue(
  transaction: Transaction,
  purchaseId: string,
  { minPurchaseMicros }: ReferralTerms,
): Promise<Due | null> {
  const wallet = (account: string) => transaction`(
    SELECT w.id FROM wallets w WHERE w.account_id = ${transaction.unsafe(account)}
      AND w.type = 'personal' ORDER BY w.created_at, w.id LIMIT 1)`;
  const [row] = await transaction<Due[]>`
    SELECT r.id AS referral_id, r.referee_id, ${wallet('r.referee_id')} AS referee_wallet,
      r.referrer_id, ${wallet('r.referrer_id')} AS referrer_wallet
    FROM purchases p
    JOIN referrals r ON r.referee_id = p.account_id
    JOIN accounts a ON a.id = r.referee_id
    WHERE p.id = ${purchaseId} AND r.purchase_id IS NULL
      AND p.kind <> 'free' AND p.paid_at IS NOT NULL AND p.target_micros = 0
      AND p.credits_micros >= ${minPurchaseMicros.toString()}::bigint
      AND ${transaction.unsafe(isEligible('a'))}
      AND NOT ${transaction.unsafe(isOfReferrer('r.referrer_id', 'p.purse'))}
    FOR UPDATE OF r`;
  return row ?? null;
}

/** The referrer has paid with it as well. */
function isOfReferrer(referrer: string, purse: string): string {
  return `EXISTS (SELECT FROM purchases q
    WHERE q.account_id = ${referrer} AND q.purse IS NOT NULL AND q.purse = ${purse})`;
}

async function claimBoth(
  transaction: Transaction,
  purchaseId: string,
  due: Due,
  { refereeMicros, referrerMicros, holdDays, perReferrerMax, creditsDays }: ReferralTerms,
): Promise<void> {
  const { referral_id: id, referrer_id: referrerId } = due;
  await transaction`
    INSERT INTO referral_credits (id, referral_id, side, account_id, wallet_id, micros,
      credits_days, due_at)
    VALUES (${`${id}.referee`}, ${id}, 'referee', ${due.referee_id}, ${due.referee_wallet},
      ${refereeMicros.toString()}::bigint, ${creditsDays}, now())`;
  // Credits of one referrer are counted one after the other.
  const lock = `referrals of ${referrerId}`;
  await transaction`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`;
  await transaction`
    INSERT INTO referral_credits (id, referral_id, side, account_id, wallet_id, micros,
      credits_days, due_at)
    SELECT ${`${id}.referrer`}, ${id}, 'referrer', ${referrerId}, ${due.referrer_wallet},
      ${referrerMicros.toString()}::bigint, ${creditsDays}::integer,
      p.paid_at + ${holdDays}::integer * interval '1 day'
    FROM purchases p
    WHERE p.id = ${purchaseId} AND ${perReferrerMax} > (
      SELECT count(*) FROM referral_credits c
      WHERE c.account_id = ${referrerId} AND c.side = 'referrer'
        AND (c.granted_at IS NOT NULL OR c.ended_at IS NULL))`;
}

/**
 * Ends what must not be given any more: of purchases that were reversed meanwhile, and of referrers
 * who have paid with the referee's purse since.
 */
export async function endReferrals(sql: Sql, limit: number): Promise<void> {
  await sql`
    WITH steps AS (
      SELECT purchase_id, step FROM purchase_steps
      WHERE NOT referral_seen ORDER BY created_at LIMIT ${limit}),
    ended AS (
      UPDATE referrals r SET reversed_at = now() FROM purchases p
      WHERE p.id = r.purchase_id AND p.target_micros > 0 AND r.reversed_at IS NULL
        AND r.purchase_id IN (SELECT purchase_id FROM steps)
      RETURNING r.id),
    credits AS (
      UPDATE referral_credits c SET ended_at = now() FROM ended
      WHERE c.referral_id = ended.id AND c.ended_at IS NULL)
    UPDATE purchase_steps s SET referral_seen = true FROM steps
    WHERE s.purchase_id = steps.purchase_id AND s.step = steps.step`;
  await sql`
    UPDATE referral_credits c SET ended_at = now() FROM referrals r, purchases p
    WHERE r.id = c.referral_id AND p.id = r.purchase_id AND c.side = 'referrer'
      AND c.due_at <= now() AND c.granted_at IS NULL AND c.ended_at IS NULL
      AND ${sql.unsafe(isOfReferrer('c.account_id', 'p.purse'))}`;
}

/** Credits that were given and have to be taken back. */
export interface TakenBack {
  id: string;
  accountId: string;
  walletId: string;
  grantId: string;
  purchaseId: string;
}

export function listTakenBack(sql: Queryable, limit: number): Promise<TakenBack[]> {
  return sql<TakenBack[]>`
    SELECT c.id, c.account_id AS "accountId", c.wallet_id AS "walletId", g.id AS "grantId",
      r.purchase_id AS "purchaseId"
    FROM referral_credits c
    JOIN referrals r ON r.id = c.referral_id
    JOIN grants g ON g.operation_id = 'referral.' || c.id
    WHERE c.ended_at IS NOT NULL AND c.granted_at IS NOT NULL AND c.taken_micros IS NULL
    ORDER BY c.ended_at LIMIT ${limit}`;
}

export async function noteTaken(sql: Queryable, id: string, takenMicros: bigint): Promise<void> {
  await sql`
    UPDATE referral_credits SET taken_micros = ${takenMicros.toString()}::bigint
    WHERE id = ${id} AND taken_micros IS NULL`;
}

export interface ReferralCounts {
  /** Accounts that signed up with the code. */
  signedUp: number;
  /** How many of them have bought what made it due. */
  bought: number;
  /** What is not given yet, and what was. */
  waiting: number;
  granted: number;
  earnedMicros: bigint;
}

export async function readReferralCounts(
  sql: Queryable,
  accountId: string,
): Promise<ReferralCounts> {
  const [row] = await sql<
    Record<'signed_up' | 'bought' | 'waiting' | 'granted', number>[] &
      {
        earned: string;
      }[]
  >`
    SELECT r.*, c.* FROM (
      SELECT count(*)::integer AS signed_up, count(purchase_id)::integer AS bought
      FROM referrals WHERE referrer_id = ${accountId}) AS r, (
      SELECT count(*) FILTER (WHERE granted_at IS NULL AND ended_at IS NULL)::integer AS waiting,
        count(granted_at)::integer AS granted,
        coalesce(sum(micros - coalesce(taken_micros, 0))
          FILTER (WHERE granted_at IS NOT NULL), 0)::text AS earned
      FROM referral_credits WHERE account_id = ${accountId} AND side = 'referrer') AS c`;
  return {
    signedUp: row?.signed_up ?? 0,
    bought: row?.bought ?? 0,
    waiting: row?.waiting ?? 0,
    granted: row?.granted ?? 0,
    earnedMicros: BigInt(row?.earned ?? 0),
  };
}
