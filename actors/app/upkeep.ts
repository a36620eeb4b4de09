// What is old goes, page by page, and what an earlier master key sealed is sealed anew.
import { deleteErrors, listOldErrors } from '../../db/app/errors.ts';
import {
  forgetActivity,
  forgetFeedback,
  forgetFeedbackEmails,
  forgetInstallations,
  forgetNotices,
} from '../../db/app/retention.ts';
import { listSealed, putSealedAgain, sealedPlaces } from '../../db/app/seals.ts';
import type { Sql } from '../../db/driver/sql.ts';
import type { Sealer } from '../../runtime/seal.ts';
import type { AppLimits } from './limits.ts';
import { openFor, sealFor } from './seals.ts';

type Retention = AppLimits['retention'];

/** How many rows of each kind went. The rest of a kind that has more waits for the next round. */
export async function sweepApps(sql: Sql, limits: Retention, signal: AbortSignal) {
  const all = (page: (limit: number) => Promise<number>) => allPages(page, limits, signal);
  return {
    errors: await all((limit) => forgetErrors(sql, limits.errorsMs, limit)),
    notices: await all((limit) => forgetNotices(sql, limits.noticesMs, limit)),
    emails: await all((limit) => forgetFeedbackEmails(sql, limits.emailsMs, limit)),
    feedback: await all((limit) => forgetFeedback(sql, limits.feedbackMs, limit)),
    installations: await all((limit) => forgetInstallations(sql, limits.installationsMs, limit)),
    activity: await all((limit) => forgetActivity(sql, limits.activityMs, limit)),
  };
}

async function allPages(
  page: (limit: number) => Promise<number>,
  { pageMax, pagesMax }: Retention,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (let count = 0; count < pagesMax && !signal.aborted; count += 1) {
    const gone = await page(pageMax);
    total += gone;
    if (gone < pageMax) break;
  }
  return total;
}

async function forgetErrors(sql: Sql, keptMs: number, limit: number): Promise<number> {
  const old = await listOldErrors(sql, keptMs, limit);
  if (old.length === 0) return 0;
  const deleted = sql.begin(async (transaction) => ({
    count: await deleteErrors(transaction, old),
  }));
  return (await deleted).count;
}

/** Returns how many were sealed anew. */
export async function sealAppsAnew(
  sql: Sql,
  { now, before }: { now: Sealer; before: Sealer },
  { pageMax, pagesMax }: Retention,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const place of sealedPlaces) {
    for (let page = 0; page < pagesMax && !signal.aborted; page += 1) {
      const rows = await listSealed(sql, place, before.keyId, pageMax);
      for (const row of rows) {
        const text = openFor([before], place, row.row, row.sealed);
        if (text !== null)
          await putSealedAgain(sql, place, row, sealFor(now, place, row.row, text));
      }
      total += rows.length;
      if (rows.length < pageMax) break;
    }
  }
  return total;
}
