// Who is in which organization, and who is invited. The organization's own records stay with it.
import { jsonOf, type PersonalDomain } from './contract.ts';

const ownAddress = 'SELECT a.email FROM accounts a WHERE a.id = $1 AND a.email_owned';
const itsOwn = "it is the organization's, and names people by their ids alone";

export const organizationData: PersonalDomain = {
  file: 'organizations',
  tables: {
    organizations: {
      hold: 'held',
      exported: 'it is told with the membership',
      fate: { kept: itsOwn },
    },
    organization_members: { hold: 'held', exported: true, fate: { kept: itsOwn } },
    organization_invitations: { hold: 'exempt', exported: true, fate: 'erased' },
    organization_groups: {
      hold: 'held',
      exported: 'they are told with the membership',
      fate: { kept: itsOwn },
    },
    organization_group_members: {
      hold: 'held',
      exported: 'it is told with the membership',
      fate: 'erased',
    },
  },
  lists: [
    {
      name: 'memberships',
      from: 'organization_members m JOIN organizations o ON o.id = m.organization_id',
      where: 'm.user_id = $1',
      cursor: 'm.account_id',
      item: jsonOf(
        'm',
        ['organization_id', 'role', 'status', 'managed_by', 'cap_micros', 'joined_at', 'ended_at'],
        {
          name: 'o.name',
          groups: `(SELECT coalesce(json_agg(g.name ORDER BY g.name), '[]')
            FROM organization_group_members x JOIN organization_groups g ON g.id = x.group_id
            WHERE x.user_id = m.user_id AND g.organization_id = m.organization_id)`,
        },
      ),
    },
    {
      name: 'invitations',
      from: 'organization_invitations i JOIN organizations o ON o.id = i.organization_id',
      where: `i.email = (${ownAddress})`,
      cursor: 'i.id',
      item: jsonOf(
        'i',
        ['id', 'organization_id', 'email', 'role', 'status', 'created_at', 'expires_at'],
        { name: 'o.name' },
      ),
    },
  ],
  erasing: [
    // Pending ones have ended before: their seats are given back with the organization locked.
    `WITH page AS (
        SELECT i.id FROM organization_invitations i
        WHERE i.email = (${ownAddress}) AND i.status <> 'pending' AND i.id > $2
        ORDER BY i.id LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM organization_invitations i USING page p WHERE i.id = p.id)
      SELECT id AS cursor, NULL::text AS blob_id FROM page ORDER BY id`,
    `WITH page AS (
        SELECT x.group_id FROM organization_group_members x
        WHERE x.user_id = $1 AND x.group_id > $2 ORDER BY x.group_id LIMIT $3 FOR UPDATE),
      gone AS (
        DELETE FROM organization_group_members x USING page p
        WHERE x.user_id = $1 AND x.group_id = p.group_id)
      SELECT group_id AS cursor, NULL::text AS blob_id FROM page ORDER BY group_id`,
  ],
};
