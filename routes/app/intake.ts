// What the routes share to which apps tell something: who tells it, how often, and its short texts.
import * as v from 'valibot';
import { appRules } from '../../actors/app/limits.ts';
import type { FailureRule } from '../../runtime/failure-limiter.ts';
import type { Reply, ReplyDeclaration } from '../../runtime/http/route.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import type { AnonymousCaller, Services, UserCaller } from '../services.ts';
import { isSecretLike, redactMembers } from './redact.ts';
import { redactText } from './redact-text.ts';

const KIB = 1_024;
/** Further members of an installation or an activity. */
const furtherMax = 20;
const furtherNameMax = 64;

/** Whoever calls: an account, or nobody. Its network is counted before anything is read. */
export const intakeAccess = { kind: 'optional-user', networkRule: appRules.network } as const;

/** An app's short text; null and an empty one count as absent. */
export function shortText(charactersMax: number) {
  return v.nullish(v.pipe(v.string(), maxCharacters(charactersMax)));
}

export const installationId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._:-]{8,128}$/, 'expected 8 to 128 of A-Z a-z 0-9 . _ : -'),
  v.description('Made by the app, the same for as long as it is installed.'),
);

const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);

/** Members of their own and up to twenty further ones, in 4 KiB. */
export function openBody<E extends v.ObjectEntries>(entries: E) {
  return {
    kind: 'json' as const,
    bytesMax: 4 * KIB,
    halves: 'replaced' as const,
    schema: v.objectWithRest(entries, scalar),
  };
}

/** Further members without what must not be kept. @throws Problem invalid_request */
export function furtherMembers(
  body: Readonly<Record<string, unknown>>,
  entries: v.ObjectEntries,
): Record<string, unknown> {
  const further = Object.entries(body).filter(([name]) => !Object.hasOwn(entries, name));
  if (further.length > furtherMax) {
    throw fieldProblem(further[furtherMax]?.[0] ?? '', `At most ${furtherMax} further members.`);
  }
  const long = further.find(([name]) => name.length > furtherNameMax);
  if (long !== undefined) {
    throw fieldProblem(long[0].slice(0, furtherNameMax), 'The name of a member is too long.');
  }
  return redactMembers(Object.fromEntries(further));
}

/** As it is kept; null: absent. */
export function keptText(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const kept = redactText(text).trim();
  return kept === '' ? null : kept;
}

/** @throws Problem invalid_request: a credential is no name of an installation */
export function requireName(id: string): string {
  if (!isSecretLike(id)) return id;
  throw fieldProblem('installation_id', 'An installation has a name of its own, no credential.');
}

/** @throws Problem rate_limited */
export function countIntake(
  { access }: Pick<Services, 'access'>,
  counted: readonly (readonly [rule: FailureRule, name: string])[],
): void {
  const nowMs = Date.now();
  const waits = counted.flatMap(([rule, name]) => {
    const refusal = access.failures.take(rule, name, nowMs);
    return refusal === null ? [] : [refusal.retryAfterSeconds];
  });
  if (waits.length === 0) return;
  throw new Problem('rate_limited', {
    message: 'Too much is told from here.',
    headers: { 'retry-after': `${Math.max(...waits)}` },
  });
}

/** Counts what an installation tells. @throws Problem rate_limited */
export function countInstallation(
  services: Pick<Services, 'access'>,
  id: string | null | undefined,
): void {
  if (id === null || id === undefined) return;
  countIntake(services, [[appRules.installation, requireName(id)]]);
}

export function accountOf(caller: UserCaller | AnonymousCaller): string | null {
  return caller.kind === 'anonymous' ? null : caller.accountId;
}

export const intakeReplies: Record<number, ReplyDeclaration> = {
  202: { description: 'It was taken.', schema: v.strictObject({ ok: v.literal(true) }) },
};

export const taken: Reply = { status: 202, json: { ok: true } };

/** What all of them say of their limits. */
export const intakeAdvice =
  'No credential is needed, but one that is wrong is 401. A network may tell 60 things a minute, ' +
  'an installation 20. Addresses of people, credentials, numbers of cards, queries of URLs are ' +
  'cut before anything is stored.';
