// Who may have a new account: the setting, the domains of addresses, and who was invited.
import { isGivenAddress } from '../../db/accounts/person.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { isInvitedAddress } from '../../db/organizations/invitations.ts';
import { domainOf } from './address.ts';
import type { IdentitySettings } from './settings.ts';

/** Whether the address is invited, as far as one domain knows. */
type InvitationSource = (sql: Queryable, address: string) => Promise<boolean>;

/** A domain that invites people adds a line here. */
const invitationSources: readonly InvitationSource[] = [isGivenAddress, isInvitedAddress];

/** Asked only where the settings want to know. */
export async function isInvited(sql: Queryable, address: string): Promise<boolean> {
  for (const source of invitationSources) {
    if (await source(sql, address)) return true;
  }
  return false;
}

/** Whether an account may be made for the address. */
export function maySignUp(
  { signup, emailDomains }: Pick<IdentitySettings, 'signup' | 'emailDomains'>,
  address: string,
  isInvited: boolean,
): boolean {
  // Whoever was invited has been judged by who invited it.
  if (isInvited) return signup !== 'closed';
  if (signup !== 'open') return false;
  return emailDomains.length === 0 || emailDomains.includes(domainOf(address));
}
