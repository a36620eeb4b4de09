// What servers say of a domain, and what becomes of it: row, mails and record in one transaction.
// Nobody waits for a server in it.
import { classifyError, type Sql, type Transaction } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { listDirectors } from '../../db/organizations/directors.ts';
import {
  type DomainAnswer,
  isDomainTaken,
  lockDomain,
  type OrganizationDomain,
  saveDomain,
} from '../../db/organizations/domains.ts';
import { lockOrganization, raiseRevision } from '../../db/organizations/records.ts';
import { askTxt } from '../../runtime/dns.ts';
import type { MailServices } from '../mail/services.ts';
import { untilText } from '../personal-data/until.ts';
import { afterAnswer, challengeOf, isGood, judgeAnswers } from './domain.ts';
import { domainLimits } from './domain-limits.ts';

/** A claim as it was when servers were asked: another token is another claim. */
export interface Claim {
  organizationId: number;
  domain: string;
  token: string;
}

export async function askAboutDomain(
  claim: Claim,
  servers: readonly string[],
  deadlineMs: number = domainLimits.deadlineMs,
): Promise<DomainAnswer> {
  const { name, value } = challengeOf(claim);
  return judgeAnswers(await askTxt(name, { servers, deadlineMs }), value);
}

export interface CheckDeps {
  sql: Sql;
  mail: MailServices;
}

export interface CheckOrder {
  claim: Claim;
  /** Null: nobody was asked, the claim may be over. */
  answer: DomainAnswer | null;
  actor: NewRecord['actor'];
  /** Throws when the actor may not; the organization's row is locked. */
  allow?(transaction: Transaction): Promise<void>;
}

export type Checked =
  /** It was removed or claimed anew meanwhile. */
  | { status: 'gone' }
  | {
      status: 'checked';
      domain: OrganizationDomain;
      /** The record is there, and another organization has proved the domain. */
      isTaken: boolean;
      /** It became good, or is not any more, or begins or ends to fail. */
      hasChanged: boolean;
    };

/** Rejects when the database cannot be asked, or with what `allow` throws. */
export async function applyAnswer(deps: CheckDeps, order: CheckOrder): Promise<Checked> {
  let done: { checked: Checked; mailIds: string[] };
  try {
    done = await deps.sql.begin((transaction) => applyIn(transaction, deps.mail, order));
  } catch (error) {
    // Another organization was quicker: now it can be seen.
    if (classifyError(error) !== 'unique') throw error;
    done = await deps.sql.begin((transaction) => applyIn(transaction, deps.mail, order));
  }
  for (const id of done.mailIds) deps.mail.send(id);
  return done.checked;
}

async function applyIn(
  transaction: Transaction,
  mail: MailServices,
  { claim, answer, actor, allow }: CheckOrder,
): Promise<{ checked: Checked; mailIds: string[] }> {
  const { organizationId, domain: name } = claim;
  const gone = { checked: { status: 'gone' } as const, mailIds: [] };
  if (!(await lockOrganization(transaction, organizationId))) return gone;
  await allow?.(transaction);
  const known = await lockDomain(transaction, organizationId, name);
  if (known === null || known.token !== claim.token) return gone;
  const next = afterAnswer(known, answer);
  const isTaken =
    isGood(next) && !isGood(known) && (await isDomainTaken(transaction, organizationId, name));
  const written = isTaken ? { ...next, status: known.status, verifiedAt: null } : next;
  const domain = await saveDomain(transaction, written);
  const hasChanged = domain.status !== known.status;
  const mailIds = hasChanged ? await writeMails(transaction, mail, domain) : [];
  if (hasChanged || actor.type !== 'system') {
    await raiseRevision(transaction, organizationId);
    await appendAudit(transaction, organizationId, {
      actor,
      action: 'domain.verify',
      target: { type: 'domain', id: name },
      result: domain.status === 'verified' ? 'ok' : 'failed',
      details: { answer, from: known.status, to: domain.status, taken: isTaken },
    });
  }
  return { checked: { status: 'checked', domain, isTaken, hasChanged }, mailIds };
}

/** To owners and admins: what they have proved is about to be lost, or is lost. */
async function writeMails(
  transaction: Transaction,
  mail: MailServices,
  { organizationId, domain, status, failingAt }: OrganizationDomain,
): Promise<string[]> {
  if (!mail.isAvailable || failingAt === null) return [];
  const untilMs = failingAt.getTime() + domainLimits.failingMs;
  const ids: string[] = [];
  for (const { accountId, email, organizationName } of await listDirectors(
    transaction,
    organizationId,
  )) {
    const told = { domain, organization: organizationName };
    const content =
      status === 'lapsed'
        ? ({ template: 'domain_lapsed', ...told } as const)
        : ({
            template: 'domain_failing',
            ...told,
            untilText: untilText(new Date(untilMs)),
          } as const);
    const written = { to: email, accountId, expiresAt: null, mail: content };
    ids.push(await mail.write(transaction, written));
  }
  return ids;
}
