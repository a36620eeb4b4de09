// Signatures of thoughts: opaque bytes that carry their own checksum, so that a changed one is
// found out without remembering any.
import { hashOf } from '../results.ts';

/** What the provider's documentation offers to those who have lost a signature. */
const accepted: readonly string[] = [
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
];

export function signatureOf(id: string): string {
  return Buffer.from(`simulated thought ${id} ${hashOf(id)}`).toString('base64');
}

export function isSignature(text: string): boolean {
  if (accepted.includes(text)) return true;
  const [, , id = '', hash] = Buffer.from(text, 'base64').toString().split(' ');
  return hash === String(hashOf(id));
}
