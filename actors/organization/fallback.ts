// Who pays where the wallet of the organization refuses for want of funds, or for a cap of its own
// or of the member. Pure.
import type { OrganizationContext } from './context.ts';

/** Who asks, with the wallet that pays for it first. */
export interface FallbackFacts {
  organization: OrganizationContext | null;
  walletId: string;
  /** Its key has a spend limit: that of a key counts on one wallet. */
  hasKeyLimit: boolean;
}

/** The personal wallet, where the organization lets it pay; null: nobody else does. */
export function fallbackOf({ organization, walletId, hasKeyLimit }: FallbackFacts): string | null {
  if (organization === null || hasKeyLimit) return null;
  if (walletId !== organization.organizationWalletId) return null;
  const { settings, personalWalletId } = organization;
  return settings.allow_personal_billing_fallback ? personalWalletId : null;
}
