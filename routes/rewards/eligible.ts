// Who may be given promotional credit, and how often it may try.

import { withDeadline } from '../../db/driver/sql.ts';
import { findEligibility } from '../../db/promotions/eligible.ts';
import { countTry, type TriedKind } from '../../db/promotions/tries.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

const messages = {
  unverified: 'The account has to prove its address first.',
  billing_restricted: 'The account may not be given promotional credit.',
} as const;

/** @throws Problem forbidden */
export async function requireEligible(
  { sql }: Pick<Services, 'sql'>,
  accountId: string,
): Promise<void> {
  const reason = await withDeadline(findEligibility(sql, accountId));
  if (reason === 'eligible') return;
  throw new Problem('forbidden', { message: messages[reason], details: { reason } });
}

/** @throws Problem rate_limited */
export async function requireTry(
  { sql, limits }: Pick<Services, 'sql' | 'limits'>,
  accountId: string,
  kind: TriedKind,
): Promise<void> {
  const { triesMax, triesWithinMs: withinMs } = limits.promotions;
  const waitMs = await withDeadline(countTry(sql, { accountId, kind }, { triesMax, withinMs }));
  if (waitMs === null) return;
  throw new Problem('rate_limited', {
    message: `An account has ${triesMax} tries an hour.`,
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  });
}
