// What an act tells the audit of its organization.
import type { AuditDetails } from './details.ts';

export type AuditActorType = 'user' | 'key' | 'operator' | 'system' | 'scim';

export interface NewRecord {
  actor: { type: AuditActorType; id: string };
  /** `<thing>.<verb>`, such as `member.remove`. */
  action: string;
  target: { type: string; id: string };
  result: 'ok' | 'blocked' | 'failed';
  /** 4 KiB of canonical JSON (RFC 8785); a member that does not fit is `{count, sha256}`. */
  details: AuditDetails;
}
