// The bounds of API keys, and of what a shard remembers of tokens.
import type { FailureRule } from '../../runtime/failure-limiter.ts';
import type { Widened } from '../../runtime/limits.ts';

/** What a shard remembers of tokens, a kilobyte each. */
export const credentialLimits = {
  entriesMax: 20_000,
  /** Tokens that are nobody's: enough for clients that repeat a mistake. */
  unknownMax: 1_000,
  /** A change is told at once; this is for what was changed behind our back. */
  ttlMs: 30_000,
  /** Changes that are remembered, for what is being read meanwhile: 500 a second for 2 s. */
  changesMax: 1_024,
  /** Of one credential for one request, each time that a change is told while it is read. */
  readsMax: 3,
} as const;

/** Of an API key that names no limits of its own (decisions.md, section 2). */
export const keyLimits = {
  /** That are active, of one account: each has limits of its own, so they bound the account. */
  activeMax: 1_000,
  requestsPerMinute: 600,
  concurrencyMax: 64,
} as const;

/**
 * How often credentials of one address, or 64 bits of IPv6, may be nobody's. It is as often as a
 * key may call, so a client that is not told of its key's end hears 401. Guesses need no bound: a
 * key has 256 bits.
 */
export const unknownCredentialRule: FailureRule = {
  name: 'unknown-credential',
  limit: 600,
  periodMs: 60_000,
};

export type KeyLimits = Widened<typeof keyLimits>;
export type CredentialLimits = Widened<typeof credentialLimits>;
