// The bounds of promotional credit (the specification of customers, sections 7 and 9).

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

export const promotionLimits = {
  /** An account tries so many codes, and hands in so many evidences, within this time. */
  triesMax: 10,
  triesWithinMs: HOUR,
  /** What was claimed and is due is looked for so often. */
  roundMs: 5 * SECOND,
  /** So many of each kind in one round: two milliseconds a grant leave most of its time. */
  roundMax: 200,
  /** A route waits so long for the wallet; the round does what it did not see. */
  grantMs: 5 * SECOND,
  /** Below this the house is short of credits: about 10,000 judged pages. */
  houseLowMicros: 1_000n * 1_000_000n,
  houseLookMs: 60 * SECOND,
} as const;

export type PromotionLimits = typeof promotionLimits;
