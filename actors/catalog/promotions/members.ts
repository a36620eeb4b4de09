// The members of three kinds of records: codes, tasks that are rewarded, and the settings of
// billing, of which there is one.
import * as v from 'valibot';
import { lineOfText, maxCharacters } from '../../../runtime/http/text.ts';

/** More would be no JSON integer in microcredits: 2^53 - 1 of them. */
export const creditsMax = 9_007_199_254;
const daysMax = 3_650;
const listMax = 20;

const integer = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const credits = integer(1, creditsMax);
const moment = v.pipe(
  v.string(),
  v.isoTimestamp('expected an ISO 8601 time with seconds and a zone'),
);
/** How long what is given can be spent; omitted: for ever. */
const creditsDays = v.optional(integer(1, daysMax));

export const promotionEntries = {
  /** What people type, in any case of letters; omitted: the name. */
  code: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{2,63}$/,
        'expected 3 to 64 letters, digits, dots, _ and -',
      ),
    ),
  ),
  credits,
  /** So many accounts get it, each once. */
  redemptions_max: integer(1, 1_000_000_000),
  starts_at: v.optional(moment),
  ends_at: v.optional(moment),
  credits_days: creditsDays,
  enabled: v.optional(v.boolean(), true),
};

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** `example.com`, or `*.example.com` for every name below it; with a port where it has one. */
const hostPattern = v.pipe(
  v.string(),
  v.maxLength(260),
  v.regex(
    new RegExp(`^(?:\\*\\.)?(?:${label}\\.)*${label}(?::[1-9]\\d{0,4})?$`),
    'expected a host such as example.com or *.example.com, small letters, ASCII',
  ),
);
const webUrl = v.pipe(
  v.string(),
  v.maxLength(2_000),
  v.regex(
    /^https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?([/?#][\x21-\x7e]*)?$/,
    'expected a URL in visible ASCII characters',
  ),
);
const terms = v.pipe(v.array(lineOfText(60)), v.maxLength(listMax));

export const verificationMethods = ['public_content_ai', 'social_follow_review'] as const;

export const rewardTaskEntries = {
  title: lineOfText(120),
  description: v.optional(v.pipe(v.string(), maxCharacters(2_000)), ''),
  credits,
  /** `public_content_ai`: code and a model look at a page. The other: an administrator does. */
  verification_method: v.picklist(verificationMethods),
  /** Where people are sent, such as the profile to follow. */
  target_url: v.optional(webUrl),
  /** Whether a code has to stand in the content. Omitted: in what a model looks at. */
  challenge: v.optional(v.boolean()),
  /** Where the content may be; none: anywhere on the web. */
  hosts: v.optional(v.pipe(v.array(hostPattern), v.maxLength(listMax)), []),
  /** What a model is asked of the page. Each question has to be answered with yes. */
  questions: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          text: lineOfText(300),
          /** In place of the task's own. */
          terms: v.optional(terms),
        }),
      ),
      v.maxLength(listMax),
    ),
    [],
  ),
  /** What a yes quotes has one of these words in it, in any case of letters. */
  terms: v.optional(terms, []),
  credits_days: creditsDays,
  enabled: v.optional(v.boolean(), true),
};

export const billingEntries = {
  /** Who sells, as invoices name it; null: nothing is invoiced. */
  seller: v.optional(
    v.nullable(
      v.strictObject({
        name: lineOfText(120),
        address: v.pipe(v.string(), v.minLength(1), maxCharacters(500)),
        country: v.pipe(v.string(), v.regex(/^[A-Z]{2}$/, 'expected two capital letters')),
        tax_id: v.optional(v.nullable(lineOfText(60)), null),
        email: v.optional(v.nullable(lineOfText(254)), null),
        invoice_prefix: v.pipe(
          v.string(),
          v.regex(/^[A-Z0-9-]{1,12}$/, 'expected 1 to 12 capital letters, digits and -'),
        ),
      }),
    ),
    null,
  ),
  /** Null: nobody is rewarded for whom it brings. */
  referral: v.optional(
    v.nullable(
      v.strictObject({
        referee_credits: credits,
        referrer_credits: credits,
        min_purchase_credits: credits,
        hold_days: v.optional(integer(0, 365), 7),
        per_referrer_max: v.optional(integer(1, 1_000_000), 50),
        credits_days: creditsDays,
      }),
    ),
    null,
  ),
  /** Null: an administrator looks at all evidence. */
  rewards: v.optional(
    v.nullable(
      v.strictObject({
        model: v.pipe(
          v.string(),
          v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/, 'expected the alias of a model'),
        ),
        /** So many credits a UTC day are given without an administrator. */
        auto_credits_per_day: integer(0, creditsMax),
      }),
    ),
    null,
  ),
};

/** The name of the one record of its kind. */
export const billingRecordName = 'settings';
