// Domains as people write them, the record that proves one, and what becomes of one by what servers
// say. It reads no clock and asks nobody.
import { randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import type { DomainAnswer, OrganizationDomain } from '../../db/organizations/domains.ts';
import type { ChallengeName, TxtAnswer } from '../../runtime/dns.ts';
import { domainLimits } from './domain-limits.ts';

/** With the other dots of IDNA and the joiners that some scripts need. */
const written = /^(?:[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]|\u200c|\u200d){1,253}$/u;
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const inAscii = new RegExp(`^(?:${label}\\.)+${label}$`);
const prefix = '_svc-challenge.';
const lengthMax = 253 - prefix.length;

export type ReadDomain = { ok: true; domain: string } | { ok: false; why: string };

/** A domain in ASCII (IDNA, UTS 46). A public suffix is nobody's, a private one neither. */
export function readDomain(text: string): ReadDomain {
  const refused = (why: string): ReadDomain => ({ ok: false, why });
  const domain = written.test(text) ? domainToASCII(text) : '';
  if (!inAscii.test(domain)) return refused('expected a domain such as example.com');
  if (domain.length > lengthMax) return refused(`at most ${lengthMax} characters in ASCII`);
  const { isIp, publicSuffix } = parse(domain, { allowPrivateDomains: true });
  if (isIp === true) return refused('expected a domain, not an address');
  if (publicSuffix === domain) return refused('this is a public suffix: nobody can prove it');
  return { ok: true, domain };
}

export function newDomainToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Under this name and with this value. */
export function challengeOf({ domain, token }: { domain: string; token: string }) {
  const name: ChallengeName = `${prefix}${domain}`;
  return { name, value: `svc-domain-verification=${token}` };
}

/** `found`: at every server. One that answers without it decides, whatever others leave open. */
export function judgeAnswers(answers: readonly TxtAnswer[], value: string): DomainAnswer {
  const has = (answer: TxtAnswer) => answer.kind === 'found' && answer.records.includes(value);
  if (answers.some((answer) => answer.kind !== 'unknown' && !has(answer))) return 'absent';
  return answers.length > 0 && answers.every(has) ? 'found' : 'unknown';
}

export function isGood({ status }: Pick<OrganizationDomain, 'status'>): boolean {
  return status === 'verified' || status === 'failing';
}

/** What becomes of a domain when servers have said this; null: they were not asked. */
export function afterAnswer(
  known: OrganizationDomain,
  answer: DomainAnswer | null,
): OrganizationDomain {
  const next = nextState(known, answer);
  if (answer === null) return { ...known, ...next };
  return { ...known, ...next, checkedAt: known.readAt, lastAnswer: answer };
}

type State = Partial<Pick<OrganizationDomain, 'status' | 'verifiedAt' | 'failingAt'>>;

function nextState(known: OrganizationDomain, answer: DomainAnswer | null): State {
  const { status, readAt, failingAt } = known;
  if (status === 'pending') {
    if (readAt >= known.expiresAt) return { status: 'expired' };
    return answer === 'found' ? { status: 'verified', verifiedAt: readAt } : {};
  }
  if (status === 'verified') {
    return answer === 'absent' ? { status: 'failing', failingAt: readAt } : {};
  }
  if (status !== 'failing' || failingAt === null) return {};
  if (answer === 'found') return { status: 'verified', failingAt: null };
  const isLost = readAt.getTime() - failingAt.getTime() >= domainLimits.failingMs;
  return answer === 'absent' && isLost ? { status: 'lapsed' } : {};
}
