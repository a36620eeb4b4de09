// The audit of an organization. A record stays, as the chain would break without it; what it says
// of a person lies in details beside it, which are blanked.
import { jsonOf, type PersonalDomain, type TableRule } from './contract.ts';

const rule: TableRule = {
  hold: 'held',
  exported: 'it names nobody',
  fate: { kept: 'it names nobody' },
};
const cursor = `lpad(r.organization_id::text, 10, '0') || '.' || lpad(r.seq::text, 16, '0')`;
const address = 'SELECT lower(a.email) FROM accounts a WHERE a.id = $1 AND a.email_owned';

export const organizationAuditData: PersonalDomain = {
  file: 'organization_audit',
  tables: {
    organization_audit_heads: rule,
    organization_audit_tiles: rule,
    organization_audit_checkpoints: rule,
    organization_audit_keys: rule,
    organization_audit_anchors: rule,
    organization_audit_records: {
      hold: 'held',
      exported: true,
      fate: { blanked: 'a chain of records breaks without one; ids stay, details go' },
    },
  },
  lists: [
    {
      name: 'organization_audit',
      from: 'organization_audit_records r',
      where: 'r.actor_id = $1',
      cursor,
      item: jsonOf('r', ['organization_id', 'seq', 'at', 'action', 'target_id'], {
        details: 'r.details::json',
      }),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT r.organization_id, r.seq, ${cursor} AS cursor FROM organization_audit_records r
        WHERE (r.actor_id = $1 OR r.target_id = $1 OR r.address = (${address}))
          AND ${cursor} > $2
        ORDER BY cursor LIMIT $3 FOR UPDATE),
      blanked AS (
        UPDATE organization_audit_records r SET details = NULL, salt = NULL, address = NULL
        FROM page p WHERE r.organization_id = p.organization_id AND r.seq = p.seq)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
  ],
};
