// Signatures of thinking blocks: made from the text, so that a changed block is found out without
// remembering any.
import { createHash } from 'node:crypto';

export function signatureOf(thinking: string): string {
  const digest = createHash('sha256').update(`simulated thinking: ${thinking}`).digest('base64');
  return `EqQBCkYIARgC${digest}`;
}
