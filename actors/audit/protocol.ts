// Every message of the actor of an organization's audit on one screen. It lives where the
// organization's id hashes to; two of one organization are slower, never wrong.
import type { NewRecord } from '../../db/organization-audit/record.ts';
import type { PolicyAction, PolicyRule } from '../organization/policy.ts';

export interface DecideRequest {
  actor: NewRecord['actor'];
  /** The policy is this person's; null: the organization itself acts, by a key of its own. */
  userId: string | null;
  action: PolicyAction;
  target: NewRecord['target'];
}

export type DecideReply =
  /** The record that says so is durable. */
  | { status: 'allowed'; revision: bigint }
  | { status: 'blocked'; rule: PolicyRule; revision: bigint | null }
  /** The database does not answer: nothing may be done. The record may exist. */
  | { status: 'unavailable' };

export type AuditProtocol = {
  decide: (request: DecideRequest) => DecideReply;
};
