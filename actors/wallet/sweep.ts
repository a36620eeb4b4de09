// The sweep: releases holds that have expired, takes back promotions whose time has come, frees old
// idempotency keys, removes old answers, responses, sessions and conversations. Each pass is
// bounded; the next one finds what is left.
import { sweepConversations } from '../../db/conversations.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { sweepGenerations } from '../../db/generations.ts';
import { listAbandonedHolds, listExpiredHolds, outlivingKinds } from '../../db/holds.ts';
import { sweepResponses } from '../../db/responses.ts';
import { sweepSessions } from '../../db/sessions.ts';
import { sweepSpend } from '../../db/spend/rows.ts';
import { sweepTickets } from '../../db/voice/tickets.ts';
import { listWalletsWithExpiredGrants } from '../../db/wallets.ts';
import { firstIdAt } from '../../runtime/ids.ts';
import { generationLimits } from '../generation/limits.ts';
import { ledgerLimits } from './limits.ts';
import type { BalanceReply } from './protocol.ts';
import { type Ends, endHold, rowsOf } from './recovery.ts';

interface ExpiryOptions extends Ends {
  clock: () => number;
  /** Whose holds are ended, beside those of instances that do not live. */
  instanceId: string;
}

export interface SweepOptions extends ExpiryOptions {
  /** How long the key of a finished generation and its answer are kept. */
  keyKeptMs: number;
  /** Any operation of a wallet expires its grants first; `balance` does nothing else. */
  touch: (walletId: string) => Promise<BalanceReply>;
}

export interface Swept {
  releasedHolds: number;
  abandonedHolds: number;
  expiredWallets: number;
  generationsLookedAt: number;
  responsesLookedAt: number;
  conversationsForgotten: number;
  ticketsForgotten: number;
  sessionsForgotten: number;
  countersForgotten: number;
}

const PAGE_LENGTH = 500;
const PAGES_MAX = 20;

/** One pass. Rejects when the database cannot be read; the next pass does what this one did not. */
export async function sweepOnce(sql: Sql, options: SweepOptions): Promise<Swept> {
  const nowMs = options.clock();
  const ended = await endExpired(sql, options);
  return {
    ...ended,
    expiredWallets: await expireGrants(sql, nowMs, options.touch),
    generationsLookedAt: await sweepFinished(sql, nowMs - options.keyKeptMs),
    responsesLookedAt: await sweepPages(() => sweepResponses(sql, PAGE_LENGTH)),
    ticketsForgotten: await sweepPages(() => sweepTickets(sql, PAGE_LENGTH)),
    sessionsForgotten: await sweepPages(() => sweepSessions(sql, PAGE_LENGTH)),
    countersForgotten: await sweepPages(() => sweepSpend(sql, PAGE_LENGTH)),
    conversationsForgotten: await sweepPages(() =>
      sweepConversations(sql, nowMs - generationLimits.conversationMs, PAGE_LENGTH),
    ),
  };
}

/** Grants of all accounts may end with one month: nobody's is shown for long after that. */
async function expireGrants(
  sql: Sql,
  nowMs: number,
  touch: SweepOptions['touch'],
): Promise<number> {
  let total = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const wallets = await listWalletsWithExpiredGrants(sql, nowMs, PAGE_LENGTH);
    if (wallets.length === 0) break;
    total += wallets.length;
    const replies = await Promise.all(wallets.map((walletId) => touch(walletId)));
    // Those would come first again.
    if (replies.some(({ status }) => status !== 'ok')) break;
  }
  return total;
}

/** Ends holds whose time has passed: each process its own, so every one has to. */
export async function endExpired(
  sql: Sql,
  options: ExpiryOptions,
): Promise<Pick<Swept, 'releasedHolds' | 'abandonedHolds'>> {
  const { clock, instanceId, release } = options;
  const nowMs = clock();
  const expired = await listExpiredHolds(sql, rowsOf(options), instanceId, nowMs, PAGE_LENGTH);
  const outliving = new Set(outlivingKinds(rowsOf(options)));
  const replies = await Promise.all(
    expired.map((hold) => {
      // Its owner ends with it: it may run nowhere.
      if (outliving.has(hold.ownerKind)) return endHold(options, hold);
      return release(hold.walletId, { holdId: hold.holdId, reason: 'expired', finish: null });
    }),
  );
  const beforeMs = nowMs - ledgerLimits.abandonedAfterMs;
  const abandoned = await listAbandonedHolds(
    sql,
    rowsOf(options),
    instanceId,
    beforeMs,
    PAGE_LENGTH,
  );
  await Promise.all(abandoned.map((hold) => endHold(options, hold)));
  return {
    releasedHolds: replies.filter((reply) => reply.status === 'released').length,
    abandonedHolds: abandoned.length,
  };
}

function sweepFinished(sql: Sql, beforeMs: number): Promise<number> {
  const untilId = firstIdAt('req', beforeMs);
  return sweepPages(() => sweepGenerations(sql, untilId, PAGE_LENGTH));
}

async function sweepPages(sweepPage: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const looked = await sweepPage();
    total += looked;
    if (looked < PAGE_LENGTH) break;
  }
  return total;
}
