// HMAC-SHA-256 (RFC 2104) of what was sent, as hex. Compared in a time that tells nothing of where
// two differ.
import { createHmac, timingSafeEqual } from 'node:crypto';

const hexPattern = /^[0-9a-f]{64}$/i;

/** Whether one of the signatures was made of these bytes under one of the secrets. */
export function isSigned(
  parts: readonly (string | Uint8Array)[],
  signatures: readonly string[],
  secrets: readonly string[],
): boolean {
  const given = signatures.filter((text) => hexPattern.test(text)).slice(0, signaturesMax);
  const bytes = given.map((text) => Buffer.from(text, 'hex'));
  let isFound = false;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret);
    for (const part of parts) hmac.update(part);
    const wanted = hmac.digest();
    for (const signature of bytes) if (timingSafeEqual(signature, wanted)) isFound = true;
  }
  return isFound;
}

/** A provider signs with two secrets at most. Whoever sends more makes us work. */
const signaturesMax = 10;
