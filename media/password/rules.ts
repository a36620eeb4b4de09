// What a new password must be (identity.md, section 3). Pure: the list of common ones is given.

/** What is wrong with a password. */
export type RuleFault = 'too_short' | 'too_long' | 'too_common';

/** `normalized` is what is hashed. */
export type JudgedPassword = { status: 'ok'; normalized: string } | { status: RuleFault };

const codePointsMin = 10;
const codePointsMax = 128;
/** One code point of NFKC is made of four at most, and each has two units at most. */
const unitsMax = codePointsMax * 4 * 2;
/** Shorter local parts are in half of all passwords by chance: they forbid nothing. */
const localPartMin = 3;
const digitOrMark = /[\p{N}\p{P}\p{S}\p{Z}]/u;

/**
 * The form in which passwords are counted, compared and hashed. It is null for a text that is too
 * long to be one, before any work is done for it.
 */
export function normalizePassword(password: string): string | null {
  return password.length > unitsMax ? null : password.toWellFormed().normalize('NFKC');
}

/** Judges a new password of whoever has the address. */
export function judgePassword(
  password: string,
  address: string,
  common: ReadonlySet<string>,
): JudgedPassword {
  const normalized = normalizePassword(password);
  if (normalized === null) return { status: 'too_long' };
  const { length } = Array.from(normalized);
  if (length < codePointsMin) return { status: 'too_short' };
  if (length > codePointsMax) return { status: 'too_long' };
  const lower = normalized.toLowerCase();
  if (isCommon(lower, common) || holdsLocalPart(lower, address)) return { status: 'too_common' };
  return { status: 'ok', normalized };
}

/** Any number of trailing digits and marks may be left out: `qwerty123!` begins with `qwerty`. */
function isCommon(lower: string, common: ReadonlySet<string>): boolean {
  const rest = Array.from(lower);
  while (rest.length > 0) {
    if (common.has(rest.join(''))) return true;
    if (!digitOrMark.test(rest.pop() ?? '')) return false;
  }
  return false;
}

function holdsLocalPart(lower: string, address: string): boolean {
  const local = address.slice(0, Math.max(0, address.lastIndexOf('@'))).toLowerCase();
  return local.length >= localPartMin && lower.includes(local);
}
