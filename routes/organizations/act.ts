// An act of an organization: one transaction with the row locked, the change, and the records of
// its audit last. What it changes holds on every shard of this process when it resolves.
import { organizationChangeId } from '../../actors/organization/acting.ts';
import type { PolicyRule } from '../../actors/organization/policy.ts';
import { type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { fenceWallet } from '../../db/organizations/fence.ts';
import { findMembership, lockOrganization, raiseRevision } from '../../db/organizations/records.ts';
import type { Organization } from '../../db/organizations.ts';
import { staleProblem } from '../admin/revision.ts';
import { tellChange } from '../credentials.ts';
import { blockedBy } from '../policy.ts';
import type { Services, UserCaller } from '../services.ts';
import { checkRight, noOrganization, organizationIdOf, type Seat, seatOf } from './access.ts';
import { refusedSeat } from './free-seat.ts';
import type { RightName } from './rights.ts';

export type ActServices = Pick<Services, 'sql' | 'system' | 'bus' | 'mail'>;

export interface Acted<T> {
  result: T;
  /** None: nothing was changed. */
  records: readonly NewRecord[];
  /** Whether what the wallet was asked before is void. */
  fences?: boolean;
  /** Ids of credentials whose facts have changed, beside the organization. */
  changed?: readonly string[];
  /** Ids of credentials that are good for nothing any more. */
  withdrawn?: readonly string[];
  /** Mails that were written. */
  mails?: readonly string[];
  /** What refuses the act; its record is kept. */
  blocked?: PolicyRule;
}

/**
 * Runs an act on an organization, whoever does it: null where there is none.
 * @throws Problem conflict with the reason `no_seat`, policy_blocked
 */
export async function runAct<T>(
  services: ActServices,
  id: number,
  work: (transaction: Transaction, organization: Organization) => Promise<Acted<T>>,
): Promise<T | null> {
  const { sql, bus, mail } = services;
  const running = sql.begin(async (transaction) => {
    const organization = await lockOrganization(transaction, id);
    if (organization === null) return { acted: null };
    const acted = await work(transaction, organization);
    const isDone = acted.records.length > 0 && acted.blocked === undefined;
    if (isDone) await raiseRevision(transaction, id);
    if (acted.fences === true) await fenceWallet(transaction, organization.walletId);
    for (const record of acted.records) await appendAudit(transaction, id, record);
    return { acted };
  });
  const { acted } = await withDeadline(running.catch(refusedSeat));
  if (acted === null) return null;
  if (acted.blocked !== undefined) throw blockedBy(acted.blocked);
  const { withdrawn = [], changed = [], mails = [], records, result } = acted;
  if (withdrawn.length > 0) await tellChange(bus, withdrawn, { isWithdrawn: true });
  if (records.length > 0) {
    await tellChange(bus, [organizationChangeId(id), ...changed], { isWithdrawn: false });
  }
  for (const mailId of mails) mail.send(mailId);
  return result;
}

export interface MemberAct {
  caller: UserCaller;
  /** As the path has it. */
  organizationId: string;
  right: RightName;
  /** The revision of the organization that the caller knows. */
  expectedRevision?: number | undefined;
}

/**
 * Runs an act of a member.
 * @throws Problem not_found, forbidden, invalid_state, conflict
 */
export async function memberAct<T>(
  services: ActServices,
  { caller, organizationId, right, expectedRevision }: MemberAct,
  work: (transaction: Transaction, seat: Seat) => Promise<Acted<T>>,
): Promise<T> {
  const userId = caller.personId;
  const id = organizationIdOf(organizationId);
  const done = await runAct<{ result: T }>(services, id, async (transaction) => {
    const membership = await findMembership(transaction, id, userId);
    if (membership === null) throw noOrganization();
    const seat = seatOf(membership, userId);
    checkRight(seat, right);
    requireRevision(seat.organization.revision, expectedRevision);
    const acted = await work(transaction, seat);
    return { ...acted, result: { result: acted.result } };
  });
  if (done === null) throw noOrganization();
  return done.result;
}

/** @throws Problem conflict */
export function requireRevision(revision: number, expected: number | undefined): void {
  if (expected !== undefined && expected !== revision) throw staleProblem(revision);
}

/** A record of what a person did. */
export function personRecord(
  userId: string,
  action: string,
  target: NewRecord['target'],
  details: NewRecord['details'] = {},
): NewRecord {
  return { actor: { type: 'user', id: userId }, action, target, result: 'ok', details };
}

export const organizationTarget = (id: number) => ({ type: 'organization', id: `${id}` });
export const memberTarget = (userId: string) => ({ type: 'member', id: userId });
