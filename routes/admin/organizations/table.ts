// Every route by which administrators keep organizations, in order.
import type { AppRoute } from '../../define.ts';
import { createAdminOrganization } from './create-organization.ts';
import { getAdminOrganization } from './get-organization.ts';
import { adminHandOverOrganization } from './hand-over-organization.ts';
import { listAdminOrganizations } from './list-organizations.ts';
import {
  adminActivateOrganization,
  adminCloseOrganization,
  adminSuspendOrganization,
} from './switch-organization.ts';
import { updateAdminOrganization } from './update-organization.ts';

export const adminOrganizationRoutes: readonly AppRoute[] = [
  listAdminOrganizations,
  createAdminOrganization,
  getAdminOrganization,
  updateAdminOrganization,
  adminSuspendOrganization,
  adminActivateOrganization,
  adminCloseOrganization,
  adminHandOverOrganization,
];
