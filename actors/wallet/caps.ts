// What bounds those who spend of an organization's wallet. Pure: the facts are read with the
// wallet, so a decision stands on those of its version.
import type { CapRow, MemberFacts, OrganizationFacts, Spender } from '../../db/spend/rows.ts';

export type CapKind = 'organization' | 'member' | 'key';

/** Why nobody may hold for this spender, whatever is left. */
export type Bar = 'organization_status' | 'membership';

export interface Cap extends CapRow {
  kind: CapKind;
}

/** The own cap, or else the default, which owners and administrators do not have. Null: none. */
export function effectiveCap(
  { capMicros, isExempt }: Pick<MemberFacts, 'capMicros' | 'isExempt'>,
  defaultMicros: bigint | null,
): bigint | null {
  return capMicros ?? (isExempt ? null : defaultMicros);
}

/** Null: the spender may hold as far as funds and caps go. */
export function barOf(organization: OrganizationFacts | null, spender: Spender | null): Bar | null {
  if (organization === null) return null;
  if (organization.status !== 'active') return 'organization_status';
  const { accountId, members } = organization;
  if (spender === null) return 'membership';
  return spender.accountId === accountId || members.has(spender.accountId) ? null : 'membership';
}

/** The caps by month of all that is spent, and of one account. Both are counted without one. */
export function monthlyCaps(
  walletId: string,
  organization: OrganizationFacts | null,
  { accountId }: Spender,
): Cap[] {
  if (organization === null) return [];
  const { capMicros } = organization;
  return [
    { kind: 'organization', spender: walletId, period: 'month', capMicros },
    {
      kind: 'member',
      spender: accountId,
      period: 'month',
      capMicros: capOf(organization, accountId),
    },
  ];
}

function capOf(organization: OrganizationFacts, accountId: string): bigint | null {
  if (accountId === organization.accountId) return null;
  const member = organization.members.get(accountId);
  // Who was removed is given nothing beyond what is held.
  return member === undefined ? 0n : effectiveCap(member, organization.defaultCapMicros);
}
