// What is sealed in the row of a mail: to whom, and with what in it. A seal is good for its own
// row.
import type { Sealer } from '../../runtime/seal.ts';
import type { Mail } from './services.ts';

export interface MailContent {
  to: string;
  mail: Mail;
}

const purposeOf = (id: string) => `mail:${id}`;

export function sealMail(sealer: Sealer, id: string, content: MailContent) {
  return { sealed: sealer.seal(JSON.stringify(content), purposeOf(id)), keyId: sealer.keyId };
}

/** Null: its key is gone, or it was not sealed for this row. */
export function openMail(
  sealers: readonly Sealer[],
  { id, sealed, keyId }: { id: string; sealed: Uint8Array; keyId: string },
): MailContent | null {
  const sealer = sealers.find((each) => each.keyId === keyId);
  if (sealer === undefined) return null;
  try {
    // What this gateway sealed is what it opens.
    return JSON.parse(sealer.open(sealed, purposeOf(id))) as MailContent;
  } catch {
    return null;
  }
}
