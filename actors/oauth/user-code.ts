// What a person types to let a device in: eight consonants, which spell no word and cannot be taken
// for digits (RFC 8628, section 6.1). 20^8 codes, of which few are open for 15 minutes.
import { randomInt } from 'node:crypto';
import type { Sealer } from '../../runtime/seal.ts';

const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const half = 4;
const typedMax = 40;
const pattern = new RegExp(`^[${letters}]{${2 * half}}$`);

/** A new code, as it is shown: `XXXX-XXXX`. */
export function newUserCode(): string {
  const code = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join('');
  return shownUserCode(code);
}

function shownUserCode(code: string): string {
  return `${code.slice(0, half)}-${code.slice(half)}`;
}

/** The code that was meant, whatever its case, its dash and its spaces; null: it is none. */
export function readUserCode(typed: string): string | null {
  if (typed.length > typedMax) return null;
  // Phones turn a dash into another one.
  const code = typed.replace(/[\s\p{Pd}._]/gu, '').toUpperCase();
  return pattern.test(code) ? shownUserCode(code) : null;
}

/** What is kept of a code: a plain hash of eight letters could be guessed. */
export function userCodeDigest(sealer: Pick<Sealer, 'digest'>, code: string): string {
  return sealer.digest(code, 'oauth user code');
}
