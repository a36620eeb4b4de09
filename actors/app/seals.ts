// What rows of apps and MCP servers seal, each for its own row: what was sealed for one opens for
// no other.
import type { SealedPlace } from '../../db/app/seals.ts';
import type { Sealer } from '../../runtime/seal.ts';

const purposes: Readonly<Record<SealedPlace, string>> = {
  feedback: 'email of feedback',
  error: 'email of an error',
  mcpServer: 'authorization of an MCP server',
};

/** `row` is the id of the server, the digest of the feedback, or the fingerprint of the error. */
export function sealFor(sealer: Sealer, place: SealedPlace, row: string, text: string) {
  return { sealed: sealer.seal(text, `${purposes[place]}: ${row}`), keyId: sealer.keyId };
}

/** Null: it cannot be opened with these. */
export function openFor(
  sealers: readonly Sealer[],
  place: SealedPlace,
  row: string,
  sealed: Uint8Array,
): string | null {
  for (const sealer of sealers) {
    try {
      return sealer.open(sealed, `${purposes[place]}: ${row}`);
    } catch {
      // Another key has sealed it.
    }
  }
  return null;
}
