// The caller's idempotency key, and the fingerprint that tells a retry from another request.
import { createHash } from 'node:crypto';
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import { pausing } from '../../runtime/turns.ts';

const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;
const hashedCharacters = 32 * 1_024;
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

/** Hex SHA-256 of the canonical JSON (members sorted by name) of what is asked for. */
export function fingerprint(body: Record<string, unknown>): string {
  return createHash('sha256')
    .update(canonicalJson(fingerprinted(body)))
    .digest('hex');
}

/** The same of a long body, in turns of the loop of their own. */
export async function fingerprintInTurns(body: Record<string, unknown>): Promise<string> {
  const hash = createHash('sha256');
  const pause = pausing();
  await pause(true);
  let text = '';
  for (const piece of canonicalPieces(fingerprinted(body))) {
    text += piece;
    if (text.length < hashedCharacters) continue;
    hash.update(text);
    text = '';
    await pause();
  }
  return hash.update(text).digest('hex');
}

function fingerprinted(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !notFingerprinted.has(name)));
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return sorted(member);
  });
}

/** What `canonicalJson` makes of parsed JSON, piece by piece. */
function* canonicalPieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
    return;
  }
  let separator = '';
  if (Array.isArray(value)) {
    yield '[';
    for (const item of value) {
      yield separator;
      yield* canonicalPieces(item);
      separator = ',';
    }
    yield ']';
    return;
  }
  yield '{';
  for (const [name, member] of Object.entries(sorted(value))) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield* canonicalPieces(member);
    separator = ',';
  }
  yield '}';
}

function sorted(value: object): object {
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
