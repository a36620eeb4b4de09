// The caller's idempotency key, and the fingerprint that tells a retry from another request.
import { createHash } from 'node:crypto';
import { jsonPieces } from '../../runtime/http/json-pieces.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import { pausing } from '../../runtime/turns.ts';

const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;
const pieceCharacters = 32 * 1_024;
/** Members that do not change what is asked for: a retry may ask for the other form. */
const notFingerprinted = new Set(['stream', 'stream_options', 'request_id']);

/** The caller's key: header or body member; both must be the same. */
export function idempotencyKeyOf(exchange: Exchange, body: Record<string, unknown>): string | null {
  const header = exchange.header('idempotency-key');
  const member = typeof body.request_id === 'string' ? body.request_id : undefined;
  if (header !== undefined && member !== undefined && header !== member) {
    throw new Problem('invalid_request', {
      message: 'The Idempotency-Key header and request_id differ.',
      param: 'request_id',
    });
  }
  const key = header ?? member;
  if (key === undefined) return null;
  if (!idempotencyKeyPattern.test(key)) {
    throw new Problem('invalid_request', {
      message: 'An idempotency key is 1 to 255 visible ASCII characters.',
      param: header === undefined ? 'request_id' : 'idempotency-key',
    });
  }
  return key;
}

/** Hex SHA-256 of the canonical JSON of what is asked for. */
export function fingerprint(body: Record<string, unknown>): string {
  const hash = createHash('sha256');
  for (const piece of canonicalPieces(fingerprinted(body))) hash.update(piece);
  return hash.digest('hex');
}

/** The same of a long body, in turns of the loop of their own. */
export async function fingerprintInTurns(body: Record<string, unknown>): Promise<string> {
  const hash = createHash('sha256');
  const pause = pausing();
  await pause(true);
  for (const piece of canonicalPieces(fingerprinted(body))) {
    hash.update(piece);
    await pause();
  }
  return hash.digest('hex');
}

function fingerprinted(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !notFingerprinted.has(name)));
}

type Members = Record<string, unknown>;

/** Fingerprints are stored: every byte stays as it is. */
function canonicalPieces(body: Members): Generator<string> {
  return jsonPieces(body, pieceCharacters, sortedNames);
}

/** By UTF-16 units; whole numbers before them and by size, as an object lists them itself. */
function sortedNames(value: Members): string[] {
  const names = Object.keys(value);
  const hasNumber = /^[0-9]/.test(names[0] ?? '');
  names.sort();
  return hasNumber ? Object.keys(Object.fromEntries(names.map((name) => [name, null]))) : names;
}
