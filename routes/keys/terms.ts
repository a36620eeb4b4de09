// What owners and administrators say of a key beside its label and scopes: what it may spend, with
// whom, how often, until when.
import * as v from 'valibot';
import type { ApiKey, KeyTerms } from '../../db/keys.ts';
import type { SpendLimit } from '../../db/spend/limit.ts';
import { spendPeriods } from '../../db/spend/period.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';

const modelsMax = 100;
const yearMs = 366 * 86_400_000;
const expiryYearsMax = 5;

export const spendLimitSchema = v.pipe(
  v.strictObject({
    amount_microcredits: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(Number.MAX_SAFE_INTEGER),
    ),
    period: v.picklist(spendPeriods),
  }),
  v.title('SpendLimit'),
  v.description(
    'What the key may spend in each period, in UTC; a week begins on Monday. It is never passed, ' +
      'however many requests run at once. A request counts where it began.',
  ),
);

const bound = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));

/** Limits that administrators may give; owners go up to the default. */
export const rateEntries = {
  requests_per_minute: v.optional(bound(1_000_000)),
  concurrency_max: v.optional(bound(100_000)),
};

/** Null takes it away, where it is said. */
export const termEntries = {
  spend_limit: v.optional(v.nullable(spendLimitSchema)),
  expires_at: v.optional(
    v.nullable(
      v.pipe(v.string(), v.isoTimestamp('expected an ISO 8601 time with seconds and a zone')),
    ),
  ),
  allowed_models: v.optional(
    v.nullable(v.pipe(v.array(lineOfText(200)), v.minLength(1), v.maxLength(modelsMax))),
  ),
  ...rateEntries,
};

export type TermsBody = v.InferOutput<ReturnType<typeof termsObject>>;
const termsObject = () => v.strictObject(termEntries);

/** Undefined: nothing is said of it. */
export function limitOf({ spend_limit: limit }: TermsBody): SpendLimit | null | undefined {
  if (limit === undefined || limit === null) return limit;
  return { amountMicros: BigInt(limit.amount_microcredits), period: limit.period };
}

/**
 * The terms that follow from these ones and what is said.
 * @throws Problem invalid_request when the end is past, or too far
 */
export function termsAfter(
  before: Omit<KeyTerms, 'label' | 'isDisabled'>,
  body: TermsBody,
  nowMs: number,
): Omit<KeyTerms, 'label' | 'isDisabled'> {
  const { expires_at: expires, allowed_models: models } = body;
  return {
    expiresAt: expires === undefined ? before.expiresAt : endOf(expires, nowMs),
    allowedModels: models === undefined ? before.allowedModels : models && [...new Set(models)],
    requestsPerMinute: body.requests_per_minute ?? before.requestsPerMinute,
    concurrencyMax: body.concurrency_max ?? before.concurrencyMax,
  };
}

function endOf(text: string | null, nowMs: number): Date | null {
  if (text === null) return null;
  const moment = new Date(text);
  const isGood = moment.getTime() > nowMs && moment.getTime() <= nowMs + expiryYearsMax * yearMs;
  if (isGood) return moment;
  throw fieldProblem('expires_at', `A time to come, within ${expiryYearsMax} years, is expected.`);
}

/** How often owners may let their keys call: as often as keys may by default. */
type Rates = Pick<KeyTerms, 'requestsPerMinute' | 'concurrencyMax'>;

/** @throws Problem invalid_request when an owner asks for more than the default */
export function requireOwnersRates(body: TermsBody, most: Rates): void {
  const asked = [
    ['requests_per_minute', body.requests_per_minute, most.requestsPerMinute],
    ['concurrency_max', body.concurrency_max, most.concurrencyMax],
  ] as const;
  for (const [name, wanted, max] of asked) {
    if (wanted === undefined || wanted <= max) continue;
    throw fieldProblem(name, `At most ${max}: more is an administrator's to give.`);
  }
}

/** What of a key an event tells before and after a change. */
export function toldTerms(key: ApiKey): Record<string, unknown> {
  const { spendLimit } = key;
  return {
    label: key.label,
    disabled: key.disabledAt !== null,
    spend_limit: spendLimit && {
      amount_microcredits: spendLimit.amountMicros.toString(),
      period: spendLimit.period,
    },
    expires_at: key.expiresAt?.toISOString() ?? null,
    allowed_models: key.allowedModels,
    requests_per_minute: key.requestsPerMinute,
    concurrency_max: key.concurrencyMax,
  };
}
