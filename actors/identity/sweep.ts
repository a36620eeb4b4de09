// What of identity goes by itself: old codes, places that nobody came from for long, and accounts
// that never proved their address. Each pass is bounded; the next one finds what is left.

import { sweepKnownPlaces } from '../../db/accounts/known-places.ts';
import { removeUnverified } from '../../db/accounts/unverified.ts';
import { insertAuditEvent } from '../../db/audit-events.ts';
import { sweepChallenges } from '../../db/challenges.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { IdentityLimits } from './limits.ts';

const pageLength = 500;
const pagesMax = 20;
/** Each has a dozen statements. */
const accountsMax = 100;

export interface SweptIdentity {
  challengesForgotten: number;
  placesForgotten: number;
  /** Accounts whose credentials are good for nothing any more. */
  removedAccounts: string[];
}

export async function sweepIdentity(
  sql: Sql,
  { unverifiedDays }: Pick<IdentityLimits, 'unverifiedDays'>,
  node: number,
): Promise<SweptIdentity> {
  return {
    challengesForgotten: await sweepPages(() => sweepChallenges(sql, pageLength)),
    placesForgotten: await sweepPages(() => sweepKnownPlaces(sql, pageLength)),
    removedAccounts: await sweepUnverified(sql, unverifiedDays, node),
  };
}

async function sweepPages(sweepPage: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const forgotten = await sweepPage();
    total += forgotten;
    if (forgotten < pageLength) break;
  }
  return total;
}

async function sweepUnverified(sql: Sql, days: number, node: number): Promise<string[]> {
  const removed = await sql.begin(async (transaction) => {
    const accounts = await removeUnverified(transaction, days, accountsMax);
    for (const { accountId, isGone } of accounts) {
      await insertAuditEvent(transaction, {
        id: newAuditId(node),
        accountId,
        actor: 'sweep',
        action: 'account.remove',
        subject: `account:${accountId}`,
        details: { reason: 'unverified', is_gone: isGone },
      });
    }
    return { accounts };
  });
  return removed.accounts.map(({ accountId }) => accountId);
}
