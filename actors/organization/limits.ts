// The bounds of organizations (organizations.md, sections 1, 2 and 8).
import type { FailureRule } from '../../runtime/failure-limiter.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const organizationLimits = {
  /** One person is in so many. */
  membershipsMax: 20,
  /** Active keys of the organization itself. */
  keysMax: 200,
  groupsMax: 200,
  groupMembersMax: 1_000,
  invitationMs: 7 * DAY,
  /** How often pending invitations are looked through for those whose time is over. */
  expiryMs: HOUR,
  expiryMax: 500,
  /** Private content of who has left, and all of a closed organization, waits so long. */
  keptMs: 30 * DAY,
} as const;

/** What one organization sends, those that are sent again included. */
export const invitationRule: FailureRule = {
  name: 'organization-invitation',
  limit: 100,
  periodMs: HOUR,
};
