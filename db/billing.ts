// What an account may know about its money, read in one snapshot. Nothing here changes anything.
import { firstIdAt } from '../runtime/ids.ts';
import type { Sql, Transaction } from './driver/sql.ts';
import type { GrantKind } from './wallets.ts';

export interface BillingGrant {
  id: string;
  kind: GrantKind;
  note: string;
  amountMicros: bigint;
  remainingMicros: bigint;
  heldMicros: bigint;
  expiresAt: Date | null;
  createdAt: Date;
}

export interface ActiveReservation {
  id: string;
  ownerId: string;
  amountMicros: bigint;
  createdAt: Date;
  expiresAt: Date;
}

export interface ReleasedReservation {
  id: string;
  amountMicros: bigint;
  reason: string;
  releasedAt: Date;
}

/** Settled usage of one model in the last 30 days. */
export interface ModelUsage {
  model: string;
  requests: bigint;
  inputTokens: bigint;
  cachedInputTokens: bigint;
  cacheWriteTokens: bigint;
  outputTokens: bigint;
  reasoningTokens: bigint;
  chargeMicros: bigint;
}

export interface BillingPurchase {
  id: string;
  packageId: string;
  status: 'pending' | 'completed' | 'failed';
  creditsMicros: bigint;
  priceCents: bigint;
  currency: string;
  createdAt: Date;
}

/** What a wallet has and what of it is spoken for. */
export interface WalletState {
  wallet: {
    id: string;
    accountId: string;
    type: 'personal' | 'organization';
    availableMicros: bigint;
    heldMicros: bigint;
    createdAt: Date;
  };
  /** Not yet spent, in spending order. */
  grants: BillingGrant[];
  /** The newest first, at most `listLengthMax` of each. */
  active: ActiveReservation[];
}

export interface BillingSummary extends WalletState {
  released: ReleasedReservation[];
  usage: ModelUsage[];
  purchases: BillingPurchase[];
}

const listLengthMax = 100;
/** Which model made a video is told to nobody. */
const videoModel = 'svc-video';
/** More than the days of usage, by as much as clocks may differ and a start may take. */
const usageIdsMs = 31 * 86_400_000;

/** One wallet with its grants and holds; null when there is none. */
export async function readWalletState(sql: Sql, walletId: string): Promise<WalletState | null> {
  return sql.begin('isolation level repeatable read read only', (transaction) =>
    readState(transaction, walletId),
  );
}

async function readState(transaction: Transaction, walletId: string): Promise<WalletState | null> {
  const [wallet] = await transaction<WalletState['wallet'][]>`
    SELECT id, account_id AS "accountId", type, wallet_micros AS "availableMicros",
      held_micros AS "heldMicros", created_at AS "createdAt"
    FROM wallets WHERE id = ${walletId}`;
  if (wallet === undefined) return null;
  const grants = await transaction<BillingGrant[]>`
    SELECT id, kind, note, amount_micros AS "amountMicros",
      remaining_micros AS "remainingMicros", held_micros AS "heldMicros",
      expires_at AS "expiresAt", created_at AS "createdAt"
    FROM grants WHERE wallet_id = ${walletId} AND NOT spent
    ORDER BY kind = 'purchase', expires_at NULLS LAST, created_at, id`;
  const active = await transaction<ActiveReservation[]>`
    SELECT id, owner_id AS "ownerId", amount_micros AS "amountMicros",
      created_at AS "createdAt", expires_at AS "expiresAt"
    FROM holds WHERE wallet_id = ${walletId} AND NOT expired
    ORDER BY id DESC LIMIT ${listLengthMax}`;
  return { wallet, grants: [...grants], active: [...active] };
}

/** The summary of one wallet; null when there is none. Expired credits may still be counted. */
export async function readBillingSummary(
  sql: Sql,
  accountId: string,
  walletId: string,
): Promise<BillingSummary | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const state = await readState(transaction, walletId);
    if (state === null) return null;
    const released = await transaction<ReleasedReservation[]>`
      SELECT split_part(operation_id, '.', 1) AS id, -held_micros AS "amountMicros",
        coalesce(reason, 'failed') AS reason, at AS "releasedAt"
      FROM ledger WHERE wallet_id = ${walletId} AND kind = 'release'
      ORDER BY at DESC LIMIT ${listLengthMax}`;
    const usage = await readUsage(transaction, accountId, walletId);
    const purchases = await transaction<BillingPurchase[]>`
      SELECT id, package_id AS "packageId", status, credits_micros AS "creditsMicros",
        price_cents AS "priceCents", currency, created_at AS "createdAt"
      FROM purchases WHERE account_id = ${accountId} AND wallet_id = ${walletId}
      ORDER BY created_at DESC, id DESC LIMIT ${listLengthMax}`;
    return {
      ...state,
      released: [...released],
      usage,
      purchases: [...purchases],
    };
  });
}

/**
 * A voice session is one request; its speech and text tokens are counted together. Indexes know an
 * account's rows by their ids, which are ordered by time: without a bound for those, all that it
 * ever did is read.
 */
async function readUsage(
  transaction: Transaction,
  accountId: string,
  walletId: string,
): Promise<ModelUsage[]> {
  const sinceMs = Date.now() - usageIdsMs;
  const rows = await transaction<ModelUsage[]>`
    SELECT model, count(*) AS requests,
      sum(input)::bigint AS "inputTokens", sum(cached)::bigint AS "cachedInputTokens",
      sum(cache_write)::bigint AS "cacheWriteTokens", sum(output)::bigint AS "outputTokens",
      sum(reasoning)::bigint AS "reasoningTokens", sum(charge_micros)::bigint AS "chargeMicros"
    FROM (
      SELECT model, charge_micros,
        coalesce((usage ->> 'input_tokens')::bigint, 0) AS input,
        coalesce((usage ->> 'cached_input_tokens')::bigint, 0) AS cached,
        coalesce((usage ->> 'cache_write_tokens')::bigint, 0) AS cache_write,
        coalesce((usage ->> 'output_tokens')::bigint, 0) AS output,
        coalesce((usage ->> 'reasoning_tokens')::bigint, 0) AS reasoning
      FROM generations
      WHERE account_id = ${accountId} AND wallet_id = ${walletId} AND charge_micros IS NOT NULL
        AND id >= ${firstIdAt('req', sinceMs)} AND created_at > now() - interval '30 days'
      UNION ALL
      SELECT model, charge_micros, input_speech_tokens + input_text_tokens, 0, 0,
        output_speech_tokens + output_text_tokens, 0
      FROM voice_sessions
      WHERE account_id = ${accountId} AND wallet_id = ${walletId} AND charge_micros IS NOT NULL
        AND id >= ${firstIdAt('vs', sinceMs)} AND created_at > now() - interval '30 days'
      UNION ALL
      SELECT ${videoModel}, charge_micros, 0, 0, 0,
        coalesce((usage ->> 'completion_tokens')::bigint, 0), 0
      FROM video_jobs
      WHERE account_id = ${accountId} AND wallet_id = ${walletId} AND charge_micros IS NOT NULL
        AND id >= ${firstIdAt('vjob', sinceMs)} AND created_at > now() - interval '30 days'
    ) AS charged
    GROUP BY model ORDER BY model`;
  return [...rows];
}
