// Argon2id as the contract has it, on the thread that calls. Hashes are PHC strings, which tell
// their own parameters. No error here may hold what was hashed, nor a hash: errors are logged.
import { type Algorithm, hashSync, parseOptions, type Version, verifySync } from '@node-rs/argon2';

const argon2id = 2 as Algorithm.Argon2id;
const version19 = 1 as Version.V0x13;

const parameters = {
  algorithm: argon2id,
  version: version19,
  /** In KiB. */
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
};
const saltBytes = 16;

/** Nobody's: it has the parameters of new ones, and no password is known for it. */
const noHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Hashes a normalized password under a new salt. */
export function hashPassword(normalized: string): string {
  return hashSync(normalized, parameters);
}

export interface VerifiedPassword {
  isRight: boolean;
  /** New hashes have other parameters than this one. */
  isOld: boolean;
}

/**
 * Verifies a normalized password. Without a password or a hash it does the work of a new hash, and
 * says no.
 */
export function verifyPassword(normalized: string | null, hash: string | null): VerifiedPassword {
  if (normalized === null || hash === null) {
    verifySync(noHash, normalized ?? '');
    return { isRight: false, isOld: false };
  }
  try {
    return { isRight: verifySync(hash, normalized), isOld: hasOtherParameters(hash) };
  } catch {
    throw new Error('a stored hash of a password cannot be read');
  }
}

function hasOtherParameters(hash: string): boolean {
  const { saltLen, ...found } = parseOptions(hash);
  const names = Object.keys(parameters) as (keyof typeof parameters)[];
  return saltLen < saltBytes || names.some((name) => found[name] !== parameters[name]);
}
