// Every route of the records of organizations, in order: members by their role, persons, operators.
import { adminOrganizationRoutes } from '../admin/organizations/table.ts';
import type { AppRoute } from '../define.ts';
import { acceptInvitation } from '../me/invitations/accept-invitation.ts';
import { declineInvitation } from '../me/invitations/decline-invitation.ts';
import { listMyInvitations } from '../me/invitations/list-invitations.ts';
import { joinOrganization } from '../me/organizations/join-organization.ts';
import { leaveOrganization } from '../me/organizations/leave-organization.ts';
import { listMyOrganizations } from '../me/organizations/list-organizations.ts';
import { setDefaultOrganization } from '../me/organizations/set-default.ts';
import { createAuditCheckpoint } from './audit/create-checkpoint.ts';
import { exportAudit } from './audit/export.ts';
import { getAuditProof } from './audit/get-proof.ts';
import { getAuditRecord } from './audit/get-record.ts';
import { listAuditCheckpoints } from './audit/list-checkpoints.ts';
import { listAuditVerifierKeys } from './audit/list-keys.ts';
import { listAuditRecords } from './audit/list-records.ts';
import { closeOrganization } from './close-organization.ts';
import { createOrganization } from './create-organization.ts';
import { addOrganizationDomain } from './domains/add-domain.ts';
import { listOrganizationDomains } from './domains/list-domains.ts';
import { removeOrganizationDomain } from './domains/remove-domain.ts';
import { verifyOrganizationDomain } from './domains/verify-domain.ts';
import { getInfrastructure } from './get-infrastructure.ts';
import { getOrganization } from './get-organization.ts';
import { getOrganizationWallet } from './get-wallet.ts';
import { createGroup } from './groups/create-group.ts';
import { deleteGroup } from './groups/delete-group.ts';
import { listGroups } from './groups/list-groups.ts';
import { putGroupMembers } from './groups/put-members.ts';
import { updateGroup } from './groups/update-group.ts';
import { handOverOrganization } from './hand-over-organization.ts';
import { createInvitation } from './invitations/create-invitation.ts';
import { listInvitations } from './invitations/list-invitations.ts';
import { resendInvitation } from './invitations/resend-invitation.ts';
import { revokeInvitation } from './invitations/revoke-invitation.ts';
import { createOrganizationKey } from './keys/create-key.ts';
import { listOrganizationKeys } from './keys/list-keys.ts';
import { revokeOrganizationKey } from './keys/revoke-key.ts';
import { rotateOrganizationKey } from './keys/rotate-key.ts';
import { updateOrganizationKey } from './keys/update-key.ts';
import { listOrganizations } from './list-organizations.ts';
import { getMember } from './members/get-member.ts';
import { listMembers } from './members/list-members.ts';
import { removeMember } from './members/remove-member.ts';
import { updateMember } from './members/update-member.ts';
import { getOrganizationSettings } from './settings/get-settings.ts';
import { updateOrganizationSettings } from './settings/update-settings.ts';
import { activateOrganization, suspendOrganization } from './switch-organization.ts';
import { updateOrganization } from './update-organization.ts';

export const organizationRoutes: readonly AppRoute[] = [
  // Organizations, by role.
  listOrganizations,
  createOrganization,
  getOrganization,
  updateOrganization,
  suspendOrganization,
  activateOrganization,
  closeOrganization,
  handOverOrganization,
  listMembers,
  getMember,
  updateMember,
  removeMember,
  listInvitations,
  createInvitation,
  revokeInvitation,
  resendInvitation,
  listGroups,
  createGroup,
  updateGroup,
  deleteGroup,
  putGroupMembers,
  listOrganizationKeys,
  createOrganizationKey,
  updateOrganizationKey,
  rotateOrganizationKey,
  revokeOrganizationKey,
  createAuditCheckpoint,
  exportAudit,
  getAuditProof,
  getAuditRecord,
  listAuditCheckpoints,
  listAuditVerifierKeys,
  listAuditRecords,
  addOrganizationDomain,
  listOrganizationDomains,
  removeOrganizationDomain,
  verifyOrganizationDomain,
  getInfrastructure,
  getOrganizationWallet,
  getOrganizationSettings,
  updateOrganizationSettings,
  // The person itself.
  listMyOrganizations,
  setDefaultOrganization,
  joinOrganization,
  leaveOrganization,
  listMyInvitations,
  acceptInvitation,
  declineInvitation,
  ...adminOrganizationRoutes,
];
