// Whether an account may begin a purchase.
import { findStanding } from '../../db/billing/settings.ts';
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { countRecentPurchases } from '../../db/purchases.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

/** @throws Problem forbidden while the account is restricted */
export async function requireStanding(sql: Sql, accountId: string): Promise<void> {
  const standing = await withDeadline(findStanding(sql, accountId));
  if (standing === null || standing.restrictedAt === null) return;
  throw new Problem('forbidden', {
    message: 'This account cannot buy credits. Write to whoever runs this service.',
    details: { reason: 'billing_restricted' },
  });
}

/** @throws Problem rate_limited */
export async function requireRate(
  { sql, payments }: Pick<Services, 'payments' | 'sql'>,
  accountId: string,
): Promise<void> {
  const { perHour } = payments.limits;
  const count = await withDeadline(countRecentPurchases(sql, accountId, 1));
  if (count < perHour) return;
  throw new Problem('rate_limited', {
    message: `An account begins ${perHour} purchases an hour.`,
    headers: { 'retry-after': '600' },
  });
}
