// The bounds of codes, passwords and new accounts (identity.md, section 7). In development mode all
// but those of guesses are a hundred times as large.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import type { Widened } from '../../runtime/limits.ts';

const developmentFactor = 100;

const identityLimits = {
  codes: {
    lifetimeSeconds: 600,
    /** What a person is asked to wait for, so that the mail before may come. */
    resendSeconds: 60,
    /** For so long a code that was sent may make the next one wait. */
    openSeconds: 60,
    openMax: 1,
    addressNetworkHourMax: 5,
    addressHourMax: 10,
    addressDayMax: 30,
    networkHourMax: 20,
    placeHourMax: 5,
  },
  /**
   * At most 30 x 5 + 30 guesses a day by whoever is new to the account. Those without a challenge
   * are at two codes: 210 chances of a million a day, even odds in nine years.
   */
  guesses: { challengeMax: 5, addressHourMax: 10, addressDayMax: 30 },
  /** Wrong passwords. */
  failures: { addressNetworkMax: 10, addressMax: 50, networkMax: 100 },
  /** New accounts of one network in an hour. */
  registrationsMax: 10,
  /** An account keeps its newest. */
  knownPlacesMax: 64,
  /** After this long an account that never proved its address goes. */
  unverifiedDays: 7,
  sweepMs: 60_000,
} as const;

export type IdentityLimits = Widened<typeof identityLimits>;

function times<T extends Record<string, number>>(limits: T, factor: number) {
  return Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [
      name,
      name.endsWith('Max') ? value * factor : value,
    ]),
  ) as { [K in keyof T]: number };
}

export function createIdentityLimits({ mode }: Pick<Config, 'mode'>): IdentityLimits {
  const factor = mode === 'dev' ? developmentFactor : 1;
  const { codes, guesses, failures, registrationsMax } = identityLimits;
  assert.ok(codes.resendSeconds < codes.lifetimeSeconds, 'a code may be asked for again');
  return {
    ...identityLimits,
    codes: times(codes, factor),
    guesses,
    failures: times(failures, factor),
    registrationsMax: registrationsMax * factor,
  };
}
