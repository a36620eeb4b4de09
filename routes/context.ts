// In which organization a signed-in person acts: that of a header or of the query, else its default
// one. What the organization's status lets pass is told here for keys as well.
import type { OrganizationContext } from '../actors/organization/context.ts';
import type { Exchange } from '../runtime/http/route.ts';
import { Problem } from '../runtime/problem.ts';
import type { KeyCredential, MemberContext } from './credentials.ts';
import { noteBlocked, requireAllowedBy } from './policy.ts';
import type { Access, Services, UserCaller } from './services.ts';

/** Names the organization of a request, or says `personal`. */
export const organizationHeader = 'x-svc-organization';

const idPattern = /^[1-9][0-9]{5,9}$/;

/** Whether users act in an organization there. */
export function isContextual(access: Access): boolean {
  if (access.kind === 'user') return access.isPersonal !== true;
  return access.kind === 'key-or-user' || access.kind === 'socket';
}

/** What a request names, to be read in its first turn: the text that was sent, or null. */
export function namedOrganization(access: Access, exchange: Exchange): string | null {
  if (!isContextual(access)) return null;
  const named = exchange.header(organizationHeader);
  if (named !== undefined) return named;
  if (!isRead(exchange)) return null;
  const { query } = exchange;
  // Most queries name none: they are not read.
  return query.includes('organization') ? new URLSearchParams(query).get('organization') : null;
}

function isRead({ method }: Pick<Exchange, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * The person as it acts in the organization that was named, or in its default one.
 * @throws Problem invalid_request, forbidden, policy_blocked, invalid_state
 */
export function inContext(
  access: Access,
  caller: UserCaller,
  defaultOrganizationId: number | null,
  named: string | null,
  exchange: Exchange,
  services: Pick<Services, 'access' | 'audit'>,
): UserCaller | Promise<UserCaller> {
  if (!isContextual(access)) return caller;
  const organizationId = named === null ? defaultOrganizationId : idOf(named);
  if (organizationId === null) return caller;
  const { credentials } = services.access;
  const found = credentials.context(caller.personId, organizationId, Date.now());
  const settle = (context: MemberContext | null) => {
    if (context === null) throw notMember();
    requireUse(access, caller.personId, context.organization, exchange, services);
    const { accountId, walletId, fallbackWalletId, organization } = context;
    const dependsOn = [...new Set([...caller.dependsOn, ...context.ids])];
    return { ...caller, accountId, walletId, fallbackWalletId, organization, dependsOn };
  };
  return found instanceof Promise ? found.then(settle) : settle(found);
}

/** @throws Problem policy_blocked, invalid_state */
function requireUse(
  access: Access,
  personId: string,
  organization: OrganizationContext,
  exchange: Pick<Exchange, 'method'>,
  services: Pick<Services, 'audit'>,
): void {
  requireStatus(access, organization, exchange);
  try {
    requireAllowedBy({ organization }, { kind: 'context.use', isRead: true });
  } catch (error) {
    noteBlocked(error, { kind: 'user', personId, organization }, 'useContext', services);
    throw error;
  }
}

/** Null: as the person. @throws Problem invalid_request */
function idOf(named: string): number | null {
  if (named === 'personal') return null;
  const id = idPattern.test(named) ? Number(named) : 0;
  if (id >= 100_000 && id < 2 ** 31) return id;
  throw new Problem('invalid_request', {
    message: "The id of an organization or 'personal' is expected.",
    param: organizationHeader,
  });
}

function notMember(): Problem {
  return new Problem('forbidden', {
    message: 'You are not a member of this organization.',
    details: { reason: 'not_a_member' },
    param: organizationHeader,
  });
}

/**
 * A suspended organization lets pass what reads and what takes away; a closed one what its
 * canonical owner reads.
 * @throws Problem policy_blocked where something would be begun, invalid_state where written
 */
export function requireStatus(
  access: Access,
  { status, isCanonicalOwner }: OrganizationContext,
  exchange: Pick<Exchange, 'method'>,
): void {
  if (status === 'active') return;
  const isReading = isRead(exchange) && access.kind !== 'socket';
  const isForSuspended = 'isForSuspended' in access && access.isForSuspended === true;
  if (status === 'suspended' && (isReading || isForSuspended)) return;
  if (status === 'closed' && isReading && isCanonicalOwner) return;
  const isWrite = access.kind === 'user' && !isReading;
  const mayRead = status === 'suspended' || isCanonicalOwner;
  throw new Problem(isWrite && mayRead ? 'invalid_state' : 'policy_blocked', {
    message: `The organization is ${status}.`,
    details: { rule: 'organization_status' },
  });
}

/** @throws Problem policy_blocked */
export function requireKeyUse(
  access: Access,
  { organization, personId, keyId }: KeyCredential,
  exchange: Pick<Exchange, 'method'>,
  services: Pick<Services, 'audit'>,
): void {
  if (organization === null) return;
  requireStatus(access, organization, exchange);
  // What a suspended organization lets pass is decided by the setting alone.
  const standing = { ...organization, status: 'active' as const };
  try {
    requireAllowedBy({ organization: standing }, { kind: 'key.use' });
    requireAllowedBy({ organization: standing }, { kind: 'context.use', isRead: false });
  } catch (error) {
    noteBlocked(error, { kind: 'key', keyId, personId, organization }, 'useKey', services);
    throw error;
  }
}
