// In which organization a caller acts, and as whom. A request without one acts as the person.
import type { OrganizationRole, OrganizationStatus } from '../../db/organizations/role.ts';
import type { OrganizationSettings } from './settings.ts';

export interface OrganizationContext {
  organizationId: number;
  /** Null: a key of the organization itself. */
  role: OrganizationRole | null;
  /** The person; null for a key of the organization itself. */
  userId: string | null;
  isCanonicalOwner: boolean;
  /** The person's address is proved, and of a domain that the organization has verified. */
  hasVerifiedDomain: boolean;
  status: OrganizationStatus;
  settings: OrganizationSettings;
  settingsRevision: bigint;
  /** The organization's own account: its purchases and invoices are that account's. */
  organizationAccountId: string;
  organizationWalletId: string;
  /** The person's own wallet; null for a key of the organization itself. */
  personalWalletId: string | null;
}
