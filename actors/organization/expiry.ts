// Invitations whose time is over end, and give their seats back.
import type { Sql } from '../../db/driver/sql.ts';
import { expireInvitations, listExpiring } from '../../db/organizations/invitations.ts';
import { lockOrganization, raiseRevision, takeSeats } from '../../db/organizations/records.ts';
import { organizationLimits } from './limits.ts';

/** One round; returns how many ended. What is left is the next round's. */
export async function sweepInvitations(sql: Sql, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (const id of await listExpiring(sql, organizationLimits.expiryMax)) {
    signal?.throwIfAborted();
    total += await sql.begin(async (transaction) => {
      if ((await lockOrganization(transaction, id)) === null) return 0;
      const count = await expireInvitations(transaction, id);
      if (count === 0) return 0;
      await takeSeats(transaction, id, -count);
      await raiseRevision(transaction, id);
      return count;
    });
  }
  return total;
}
