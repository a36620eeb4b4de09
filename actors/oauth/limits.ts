// The bounds of the OAuth server (identity.md, sections 1, 5 and 7). In development mode those of
// networks are a hundred times as large.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import type { FailureRule } from '../../runtime/failure-limiter.ts';
import type { Widened } from '../../runtime/limits.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const developmentFactor = 100;

export const clientLimits = {
  /** A client's former secret, so that a new one can be brought to all places that use it. */
  formerSecretMs: day * 1_000,
} as const;

/** Bounds that no mode changes. */
export const fixedOAuthLimits = {
  codeSeconds: minute,
  deviceSeconds: 15 * minute,
  /** A device asks again after this long, and after as much more each time it is too early. */
  deviceIntervalSeconds: 5,
  deviceSlowDownSeconds: 5,
  accessSeconds: hour,
  refreshIdleSeconds: 30 * day,
  /** From the approval on. */
  authorizationSeconds: 365 * day,
  /** For a client that sets no other, and what it may set as `refresh_grace_seconds`. */
  refreshGraceSeconds: 10,
  refreshGraceSecondsMax: minute,
  /** One authorization may have as many as a session may have requests. */
  refreshesPerMinute: 600,
  /** A user code that another device has is made again: one in 10^7 while 1,000 are open. */
  userCodesTried: 5,
  /** A form, read before anybody is known. */
  formBytesMax: 16 * 1_024,
  codesKeptSeconds: day,
  tokensKeptSeconds: 7 * day,
  /** 100,000 rows of each kind go in one pass: 14 million tokens a day. */
  sweepMs: 600_000,
} as const;

export type OAuthLimits = Widened<typeof fixedOAuthLimits> & {
  /** How often a network may ask for device codes. */
  readonly devices: FailureRule;
  /** How often clients of a network may fail to show who they are, or what is good. */
  readonly failures: FailureRule;
};

const devicesPerMinute = 30;
const failuresPerMinute = 60;

export function createOAuthLimits({ mode }: Pick<Config, 'mode'>): OAuthLimits {
  const { codesKeptSeconds, deviceSeconds, refreshGraceSecondsMax, accessSeconds } =
    fixedOAuthLimits;
  assert.ok(deviceSeconds < codesKeptSeconds, 'who comes late is told so');
  assert.ok(refreshGraceSecondsMax < accessSeconds, 'a repeated pair is still good');
  const factor = mode === 'dev' ? developmentFactor : 1;
  return {
    ...fixedOAuthLimits,
    devices: { name: 'oauth-device', limit: devicesPerMinute * factor, periodMs: 60_000 },
    failures: { name: 'oauth-client', limit: failuresPerMinute * factor, periodMs: 60_000 },
  };
}

/** What an app asks of a person, and how long the person may think about it. */
export const approvalLimits = {
  stateCharactersMax: 2_048,
  hintCharactersMax: 254,
  /** A client id is a name of 80 characters, or the URL of a document. */
  clientIdCharactersMax: 1_000,
  /** From the page to its decision. */
  requestMs: 10 * minute * 1_000,
  /** A sealed request: the members above, in UTF-8 as JSON and then as base64url. */
  requestCharactersMax: 32_768,
} as const;

/** Eight letters could be guessed by an account that may try without end. */
export const wrongUserCodeRule: FailureRule = {
  name: 'user-code',
  limit: 10,
  periodMs: 10 * minute * 1_000,
};

/** Documents of clients. A shard keeps a few kilobytes of each: two megabytes at most. */
export const documentLimits = {
  keptMax: 500,
  /** Being fetched at once: anybody may name a URL. */
  fetchesMax: 16,
  freshMsMin: 5 * minute * 1_000,
  freshMsMax: day * 1_000,
  /** A document that describes no client is looked at again after this long. */
  wrongMs: minute * 1_000,
  /** So is a server that does not answer. */
  awayMs: 30_000,
} as const;
