// Domains of organizations: claims, what servers said of them, and who has proved one. Whoever
// changes a row has locked its organization.
import type { Queryable, Transaction } from '../driver/sql.ts';

export const domainStatuses = ['pending', 'expired', 'verified', 'failing', 'lapsed'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** What all servers said together. */
export const domainAnswers = ['found', 'absent', 'unknown'] as const;
export type DomainAnswer = (typeof domainAnswers)[number];

export interface OrganizationDomain {
  organizationId: number;
  /** In ASCII. */
  domain: string;
  token: string;
  status: DomainStatus;
  revision: number;
  claimedAt: Date;
  expiresAt: Date;
  verifiedAt: Date | null;
  failingAt: Date | null;
  checkedAt: Date | null;
  lastAnswer: DomainAnswer | null;
  /** When this was read, by the clock of the database. */
  readAt: Date;
}

const columns = `organization_id AS "organizationId", domain, token, status, revision,
  claimed_at AS "claimedAt", expires_at AS "expiresAt", verified_at AS "verifiedAt",
  failing_at AS "failingAt", checked_at AS "checkedAt", last_answer AS "lastAnswer",
  clock_timestamp() AS "readAt"`;

/** The newest claim first. */
export async function listDomains(
  sql: Queryable,
  organizationId: number,
): Promise<OrganizationDomain[]> {
  return await sql<OrganizationDomain[]>`
    SELECT ${sql.unsafe(columns)} FROM organization_domains
    WHERE organization_id = ${organizationId} ORDER BY claimed_at DESC, domain`;
}

/** Locked until the transaction ends. */
export async function lockDomain(
  transaction: Transaction,
  organizationId: number,
  domain: string,
): Promise<OrganizationDomain | null> {
  const [row] = await transaction<OrganizationDomain[]>`
    SELECT ${transaction.unsafe(columns)} FROM organization_domains
    WHERE organization_id = ${organizationId} AND domain = ${domain} FOR UPDATE`;
  return row ?? null;
}

export interface NewClaim {
  organizationId: number;
  domain: string;
  token: string;
  /** How long it can be proved. */
  forMs: number;
}

/** Makes a claim, or makes one that is over anew, with another token. */
export async function claimDomain(
  transaction: Transaction,
  { organizationId, domain, token, forMs }: NewClaim,
): Promise<OrganizationDomain> {
  const [row] = await transaction<OrganizationDomain[]>`
    INSERT INTO organization_domains AS d (organization_id, domain, token, expires_at)
    VALUES (${organizationId}, ${domain}, ${token},
      now() + ${forMs}::float8 * interval '1 ms')
    ON CONFLICT (organization_id, domain) DO UPDATE SET token = excluded.token,
      status = 'pending', revision = d.revision + 1, claimed_at = now(),
      expires_at = excluded.expires_at, verified_at = NULL, failing_at = NULL,
      checked_at = NULL, last_answer = NULL
    RETURNING ${transaction.unsafe(columns)}`;
  if (row === undefined) throw new Error('a claim has a row');
  return row;
}

/** Writes what became of a domain. Another state is another revision. */
export async function saveDomain(
  transaction: Transaction,
  { organizationId, domain, ...next }: OrganizationDomain,
): Promise<OrganizationDomain> {
  const [row] = await transaction<OrganizationDomain[]>`
    UPDATE organization_domains SET status = ${next.status},
      revision = revision + CASE WHEN status = ${next.status} THEN 0 ELSE 1 END,
      verified_at = ${next.verifiedAt}, failing_at = ${next.failingAt},
      checked_at = ${next.checkedAt}, last_answer = ${next.lastAnswer}
    WHERE organization_id = ${organizationId} AND domain = ${domain}
    RETURNING ${transaction.unsafe(columns)}`;
  if (row === undefined) throw new Error('a domain that is locked has a row');
  return row;
}

export async function removeDomain(
  transaction: Transaction,
  organizationId: number,
  domain: string,
): Promise<void> {
  await transaction`
    DELETE FROM organization_domains
    WHERE organization_id = ${organizationId} AND domain = ${domain}`;
}

export async function countDomains(sql: Queryable, organizationId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_domains
    WHERE organization_id = ${organizationId}`;
  return row?.count ?? 0;
}

/** Whether the organization has proved it, and has not lost it since. */
export async function isDomainGood(
  sql: Queryable,
  organizationId: number,
  domain: string,
): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM organization_domains
    WHERE organization_id = ${organizationId} AND domain = ${domain}
      AND status IN ('verified', 'failing')`;
  return row !== undefined;
}

/** Whether another organization has proved it. */
export async function isDomainTaken(
  sql: Queryable,
  organizationId: number,
  domain: string,
): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM organization_domains
    WHERE domain = ${domain} AND organization_id <> ${organizationId}
      AND status IN ('verified', 'failing')`;
  return row !== undefined;
}

export interface DueDomain {
  organizationId: number;
  domain: string;
  token: string;
  /** Whether servers are asked; else the claim is over. */
  isProved: boolean;
}

/** Proved domains that nobody asked about for so long, and claims that are over. */
export async function listDueDomains(
  sql: Queryable,
  idleMs: number,
  after: Pick<DueDomain, 'organizationId' | 'domain'>,
  limit: number,
): Promise<DueDomain[]> {
  return await sql<DueDomain[]>`
    SELECT organization_id AS "organizationId", domain, token,
      status IN ('verified', 'failing') AS "isProved"
    FROM organization_domains
    WHERE (organization_id, domain) > (${after.organizationId}, ${after.domain})
      AND (status IN ('verified', 'failing')
          AND checked_at < now() - ${idleMs}::float8 * interval '1 ms'
        OR status = 'pending' AND expires_at <= now())
    ORDER BY organization_id, domain LIMIT ${limit}`;
}

/**
 * Counts a check that a member asks for. The organization's row is locked. Null: it may; else how
 * long until the next one may.
 */
export async function countDomainCheck(
  transaction: Transaction,
  organizationId: number,
  { checksMax, withinMs }: { checksMax: number; withinMs: number },
): Promise<number | null> {
  await transaction`
    DELETE FROM organization_domain_checks WHERE organization_id = ${organizationId}
      AND at <= now() - ${withinMs}::float8 * interval '1 ms'`;
  const [known] = await transaction<{ count: number; waitMs: number | null }[]>`
    SELECT count(*)::integer AS count, (extract(epoch FROM
      min(at) + ${withinMs}::float8 * interval '1 ms' - now()) * 1000)::float8 AS "waitMs"
    FROM organization_domain_checks WHERE organization_id = ${organizationId}`;
  if ((known?.count ?? 0) >= checksMax) return known?.waitMs ?? 0;
  await transaction`
    INSERT INTO organization_domain_checks (organization_id) VALUES (${organizationId})`;
  return null;
}
