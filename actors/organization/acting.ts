// What follows from a stored context: who acts, and who pays. Pure.
import type { StoredContext } from '../../db/organizations/contexts.ts';
import type { OrganizationContext } from './context.ts';
import { fallbackOf } from './fallback.ts';
import { readSettings } from './settings.ts';

export function contextOf(stored: StoredContext): OrganizationContext {
  return {
    organizationId: stored.organizationId,
    role: stored.role,
    userId: stored.personId,
    isCanonicalOwner: stored.isCanonicalOwner,
    hasVerifiedDomain: stored.hasVerifiedDomain,
    status: stored.status,
    settings: readSettings(stored.settings),
    settingsRevision: stored.settingsRevision,
    organizationAccountId: stored.organizationAccountId,
    organizationWalletId: stored.organizationWalletId,
    personalWalletId: stored.personalWalletId,
  };
}

/** Who pays for what is done. */
export interface Payer {
  walletId: string;
  /** Who pays where that wallet refuses the first hold; null: nobody. */
  fallbackWalletId: string | null;
}

/** A member's person pays where billing is not centralized; else the organization does. */
export function payerOf(organization: OrganizationContext): Payer {
  const { settings, organizationWalletId, personalWalletId } = organization;
  const isShared = personalWalletId === null || settings.centralized_billing;
  return payerFrom(organization, isShared ? organizationWalletId : personalWalletId, false);
}

/**
 * The same of a key, which says itself which wallet pays. One with a spend limit counts on one
 * wallet: nobody else pays for it.
 */
export function payerFrom(
  organization: OrganizationContext | null,
  walletId: string,
  hasKeyLimit: boolean,
): Payer {
  return { walletId, fallbackWalletId: fallbackOf({ organization, walletId, hasKeyLimit }) };
}

/** Its id among the ids of credentials. All that is kept of an organization depends on it. */
export function organizationChangeId(organizationId: number): string {
  return `org:${organizationId}`;
}
