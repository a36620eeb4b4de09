// The caller's idempotency key, and the fingerprint that tells a retry from another request.
import { createHash } from 'node:crypto';
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';

const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;
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
  const kept = Object.fromEntries(
    Object.entries(body).filter(([name]) => !notFingerprinted.has(name)),
  );
  return createHash('sha256').update(canonicalJson(kept)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(
      Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  });
}
