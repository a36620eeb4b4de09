// A change of an account by an administrator, with the event that tells it.
import { type Account, type AccountChange, changeAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import type { Services } from '../../services.ts';
import { staleProblem } from '../revision.ts';
import { addressTaken, userAnswer } from './schema.ts';

/**
 * Makes the change; every shard has forgotten what the account was allowed before this returns.
 * @throws Problem not_found, conflict, invalid_state
 */
export async function applyAccountChange(
  services: Pick<Services, 'sql' | 'system' | 'bus'>,
  actor: string,
  actionOf: (before: Account, after: Account) => string,
  change: AccountChange,
): Promise<Reply> {
  const changed = await withDeadline(
    changeAccount(services.sql, change, (before, after) => ({
      id: newAuditId(services.system.node),
      accountId: after.id,
      actor,
      action: actionOf(before, after),
      subject: `account:${after.id}`,
      details: { before: standing(before), after: standing(after) },
    })),
  );
  switch (changed.status) {
    case 'not_found':
      throw new Problem('not_found', { param: 'account_id' });
    case 'stale':
      throw staleProblem(changed.revision);
    case 'taken':
      throw addressTaken();
    case 'last_admin':
      throw new Problem('invalid_state', { message: 'The last administrator must stay one.' });
    case 'changed':
    // It may have been changed by a call whose answer was lost, and then nobody was told.
    case 'unchanged': {
      const { id, disabledAt } = changed.account;
      await tellChange(services.bus, [id], { isWithdrawn: disabledAt !== null });
      return userAnswer(changed.account);
    }
  }
}

/** An address is personal: the trail, which is kept, says only that there is one. */
function standing(account: Account): Record<string, unknown> {
  const { role, label, status, revision, email } = account;
  return { role, label, status, has_address: email !== null, revision };
}
