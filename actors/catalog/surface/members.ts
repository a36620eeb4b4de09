// The members that only records of surfaces have. They say what a query costs, how long an answer
// is kept, and which query watches over the surface.
import * as v from 'valibot';
import { lineOfText } from '../../../runtime/http/text.ts';

/** The most providers that one surface has. */
export const surfaceTargetsMax = 5;
const ageSecondsMax = 86_400;
/** A week. */
const canaryMinutesMax = 10_080;
const canaryParametersMax = 32;
const canaryQueryMax = 2_000;

const creditsPattern = /^\d{1,9}(\.\d{1,6})?$/;

/** To a microcredit: what is finer could not be charged. A number is kept as a string. */
export const credits = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.minValue(0), v.maxValue(999_999_999))]),
  v.transform(String),
  v.regex(creditsPattern, 'expected credits with at most six decimal places, such as 1.5'),
);

export const surfaceCache = v.strictObject({
  /** How old a kept answer may be; 0: none is kept. */
  max_age_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(ageSecondsMax)),
  ),
  /** `shared`: one cache for all accounts, whose answers cost the price. Omitted: `account`. */
  scope: v.optional(v.picklist(['account', 'shared'])),
});

export const surfaceRequestsPerMinute = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(1_000_000),
);

const parameterValue = v.union([v.pipe(v.string(), v.maxLength(500)), v.number(), v.boolean()]);
const parameters = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'expected a parameter such as gl')),
    v.union([parameterValue, v.pipe(v.array(parameterValue), v.maxLength(20))]),
  ),
  v.maxEntries(canaryParametersMax),
);

export const surfaceCanary = v.strictObject({
  query: lineOfText(canaryQueryMax),
  params: v.optional(parameters),
  /** One of the results is of this host, or of one below it. */
  expect_host: v.pipe(
    v.string(),
    v.maxLength(253),
    v.regex(
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/,
      'expected a host in small letters, such as example.com',
    ),
  ),
  every_minutes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(canaryMinutesMax)),
});
