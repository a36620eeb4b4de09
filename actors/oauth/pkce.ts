// PKCE (RFC 7636): who redeems a code shows what its challenge was made of. `S256` alone is known.
import { hash } from 'node:crypto';

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;
const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/** Whether the text is what S256 makes: base64url of 32 bytes. */
export function isChallenge(text: string): boolean {
  return challengePattern.test(text);
}

/** The challenge of a verifier; null: the text has not the form of one (RFC 7636, section 4.1). */
export function challengeOf(verifier: string): string | null {
  return verifierPattern.test(verifier) ? hash('sha256', verifier, 'base64url') : null;
}
