// Sealed tokens of voice: the continuation that a renewed session brings along, and the single-use
// ticket of a browser. Nobody else can read or make one, or use it for something else.
import type { Sealer } from '../../runtime/seal.ts';

const continuationPurpose = 'voice-continuation';
const ticketPurpose = 'voice-ticket';

/** Who may go on, and with which voice. */
export interface Continuation {
  accountId: string;
  voiceId: string;
}

/** At most 2,048 characters: ids and voices are short. */
export function sealContinuation(sealer: Sealer, given: Continuation, expiresAtMs: number): string {
  return seal(sealer, { ...given, expiresAtMs }, continuationPurpose);
}

/** Whether the token was sealed for the same account and voice, and still is good. */
export function acceptsContinuation(
  sealer: Sealer,
  token: string,
  wanted: Continuation,
  nowMs: number,
): boolean {
  const found = open(sealer, token, continuationPurpose);
  if (found === null || !isLater(found.expiresAtMs, nowMs)) return false;
  return found.accountId === wanted.accountId && found.voiceId === wanted.voiceId;
}

/** Whom a ticket admits, and what it was made with: a key, or a session or authorization. */
export interface Ticket {
  id: string;
  accountId: string;
  walletId: string;
  keyId: string | null;
  signedInId: string | null;
  expiresAtMs: number;
}

export function sealTicket(sealer: Sealer, ticket: Ticket): string {
  return seal(sealer, { ...ticket }, ticketPurpose);
}

/** Null: not one of ours, or too old. Whether it was used before stands in the database. */
export function openTicket(sealer: Sealer, token: string, nowMs: number): Ticket | null {
  const found = open(sealer, token, ticketPurpose);
  if (found === null) return null;
  // A ticket of an older build has no `signedInId`.
  const { id, accountId, walletId, keyId, signedInId = null, expiresAtMs } = found;
  if (!isLater(expiresAtMs, nowMs)) return null;
  if (typeof id !== 'string' || typeof accountId !== 'string') return null;
  if (typeof walletId !== 'string' || (typeof keyId !== 'string' && keyId !== null)) return null;
  if (typeof signedInId !== 'string' && signedInId !== null) return null;
  return { id, accountId, walletId, keyId, signedInId, expiresAtMs };
}

function isLater(timeMs: unknown, nowMs: number): timeMs is number {
  return typeof timeMs === 'number' && timeMs > nowMs;
}

function seal(sealer: Sealer, content: Record<string, unknown>, purpose: string): string {
  return sealer.seal(JSON.stringify(content), purpose).toString('base64url');
}

function open(sealer: Sealer, token: string, purpose: string): Record<string, unknown> | null {
  if (!/^[A-Za-z0-9_-]{40,2048}$/.test(token)) return null;
  const sealed = Buffer.from(token, 'base64url');
  // Node passes over bits, and a character, that make no byte: one token would have many names.
  if (sealed.toString('base64url') !== token) return null;
  try {
    const text = sealer.open(sealed, purpose);
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Damaged, foreign, or sealed for something else.
    return null;
  }
}
