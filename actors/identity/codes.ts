// One-time codes: how they are made, what is kept of them, and how many are sent and guessed at.
// Pure but for chance.
import { randomInt, timingSafeEqual } from 'node:crypto';
import type { Rate, SendingRule } from '../../db/challenges.ts';
import type { Sealer } from '../../runtime/seal.ts';
import type { IdentityLimits } from './limits.ts';

const digits = 6;

/** Six digits, each number as likely as another: `randomInt` draws again instead of wrapping. */
export function newCode(): string {
  return randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0');
}

/** What is kept of a code. Without the master key nobody finds the code by trying all of them. */
export function codeDigest(sealer: Pick<Sealer, 'digest'>, challengeId: string, code: string) {
  return sealer.digest(`${challengeId}.${code}`, 'one-time code');
}

/** Whether two digests are one, in the same time whatever they have in common. */
export function isSameDigest(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Where a request comes from, in a form that tells nobody where that is. */
export interface Places {
  network: string;
  /** Null: the browser showed no cookie of an earlier sign-in. */
  browser: string | null;
}

export function placesOf(
  sealer: Pick<Sealer, 'digest'>,
  { network, browser }: { network: string; browser: string | null },
): Places {
  return {
    network: sealer.digest(`network:${network}`, 'place'),
    browser: browser === null ? null : sealer.digest(`browser:${browser}`, 'place'),
  };
}

/** Who may pay for a code: each place known to the account, the browser first, else the address. */
export function payersOf({ network, browser }: Places, known: ReadonlySet<string>) {
  const own = [browser, network].filter((place) => place !== null && known.has(place));
  return own.length === 0 ? [null] : own;
}

/** What a code must obey that this place pays for; null: one that is new to the account. */
export function sendingRules(place: string | null, { codes }: IdentityLimits): SendingRule[] {
  const { openSeconds, openMax, networkHourMax } = codes;
  const fromNetwork = { of: 'network', max: networkHourMax, seconds: hour } as const;
  const open = { of: 'open', place, max: openMax, seconds: openSeconds } as const;
  if (place !== null) {
    return [open, { of: 'place', place, max: codes.placeHourMax, seconds: hour }, fromNetwork];
  }
  return [
    open,
    { of: 'new-network', max: codes.addressNetworkHourMax, seconds: hour },
    { of: 'new', max: codes.addressHourMax, seconds: hour },
    { of: 'new', max: codes.addressDayMax, seconds: day },
    fromNetwork,
  ];
}

const hour = 3_600;
const day = 86_400;

/** Guesses for an address that name no challenge. */
export function unnamedGuessRates({ guesses }: IdentityLimits): Rate[] {
  return [
    { max: guesses.addressHourMax, seconds: hour },
    { max: guesses.addressDayMax, seconds: day },
  ];
}
