// A domain of an organization as its owners and admins see it, with the record that proves it.
import * as v from 'valibot';
import { challengeOf, readDomain } from '../../../actors/organization/domain.ts';
import { domainLimits } from '../../../actors/organization/domain-limits.ts';
import {
  domainAnswers,
  domainStatuses,
  type OrganizationDomain,
} from '../../../db/organizations/domains.ts';
import { maxCharacters } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';

const time = v.nullable(v.string());

export const domainSchema = v.pipe(
  v.strictObject({
    domain: v.pipe(v.string(), v.description('In ASCII (IDNA).')),
    status: v.picklist(domainStatuses),
    record: v.pipe(
      v.strictObject({ type: v.literal('TXT'), name: v.string(), value: v.string() }),
      v.description('What has to be set. It has to stay: it is looked for each day.'),
    ),
    claimed_at: v.string(),
    expires_at: v.pipe(time, v.description('Of a claim: until when it can be proved.')),
    verified_at: time,
    failing_at: v.pipe(time, v.description('Since when servers answer without the record.')),
    lapses_at: v.pipe(time, v.description('When it is lost if they go on to.')),
    checked_at: time,
    last_answer: v.pipe(
      v.nullable(v.picklist(domainAnswers)),
      v.description('`unknown`: not every server answered, and none without the record.'),
    ),
    revision: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
  v.title('OrganizationDomain'),
);

export const domainReplySchema = v.strictObject({ ok: v.literal(true), domain: domainSchema });

const idText = v.pipe(v.string(), maxCharacters(40));
export const organizationParams = v.object({ organization_id: idText });
export const domainParams = v.object({
  organization_id: idText,
  domain: v.pipe(v.string(), maxCharacters(253)),
});

export function domainBody(row: OrganizationDomain) {
  const { status, failingAt } = row;
  const { name, value } = challengeOf(row);
  const lapsesAt =
    status === 'failing' && failingAt !== null
      ? new Date(failingAt.getTime() + domainLimits.failingMs)
      : null;
  return {
    domain: row.domain,
    status,
    record: { type: 'TXT' as const, name, value },
    claimed_at: row.claimedAt.toISOString(),
    expires_at: status === 'pending' ? row.expiresAt.toISOString() : null,
    verified_at: row.verifiedAt?.toISOString() ?? null,
    failing_at: failingAt?.toISOString() ?? null,
    lapses_at: lapsesAt?.toISOString() ?? null,
    checked_at: row.checkedAt?.toISOString() ?? null,
    last_answer: row.lastAnswer,
    revision: row.revision,
  };
}

/** The domain of a path, in any spelling. @throws Problem not_found */
export function domainOfPath(text: string): string {
  const read = readDomain(text);
  if (!read.ok) throw new Problem('not_found', { param: 'domain' });
  return read.domain;
}
