// A caller sees its own money. In an organization that one's is seen by owners, administrators and
// the billing role alone (organizations.md, section 2).
import type { UsageOwner } from '../../db/usage.ts';
import { Problem } from '../../runtime/problem.ts';
import type { AccountCaller } from '../services.ts';

type Asking = Pick<AccountCaller, 'accountId' | 'walletId' | 'organization'>;

const seeingRoles: ReadonlySet<string> = new Set(['owner', 'admin', 'billing']);

/** The account and its wallet; null: the caller sees its own part alone. */
export function billingOwner({ accountId, walletId, organization }: Asking): UsageOwner | null {
  if (organization === null) return { accountId, walletId };
  const { role, organizationAccountId, organizationWalletId } = organization;
  // A key of the organization itself has no role: it is the organization's.
  if (role !== null && !seeingRoles.has(role)) return null;
  return { accountId: organizationAccountId, walletId: organizationWalletId };
}

/** @throws Problem forbidden for whoever may see its own part alone */
export function requireBillingOwner(caller: Asking): UsageOwner {
  const owner = billingOwner(caller);
  if (owner !== null) return owner;
  throw new Problem('forbidden', {
    message: 'Owners, administrators and the billing role of the organization see its money.',
    details: { reason: 'role' },
  });
}
