// Bounds of domains. A round asks 8 at once. With servers that say nothing 100,000 domains take
// 100,000 / 8 × 5 s. That is 17 hours, and the next round is a day later.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const domainLimits = {
  /** An organization has so many, whatever became of them. */
  domainsMax: 20,
  /** Checks that the members of an organization may ask for. */
  checksMax: 10,
  checksWithinMs: hourMs,
  claimMs: 7 * dayMs,
  /** How long answers come without the record before a domain is lost. */
  failingMs: 30 * dayMs,
  deadlineMs: 5_000,
  roundMs: dayMs,
  /** A round that goes on where a killed one ended leaves what that one asked about. */
  idleMs: dayMs / 2,
  pageLength: 100,
  askedAtOnce: 8,
} as const;
