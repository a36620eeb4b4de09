// Cookies as requests bring and replies set them (RFC 6265). Values are never encoded: ours are
// tokens, and what is no cookie octet in one is a bug.
import { strict as assert } from 'node:assert';

const namePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** RFC 6265, section 4.1.1. */
const valuePattern = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
const pathPattern = /^\/[\x21-\x3a\x3c-\x7e]*$/;

/**
 * The value of a cookie, or null. Two of one name are none: one of them was put there by somebody
 * else, and nobody knows which.
 */
export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null;
  let found: string | null = null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1 || pair.slice(0, at).trim() !== name) continue;
    if (found !== null) return null;
    found = pair.slice(at + 1).trim();
  }
  return found === '' ? null : found;
}

export interface NewCookie {
  name: string;
  value: string;
  /** 0 takes it away; null: until the browser is closed. */
  maxAgeSeconds: number | null;
  path?: string;
  sameSite: 'Lax' | 'Strict';
  /** Over https alone. */
  isSecure: boolean;
}

/** The value of a `set-cookie` header: out of reach of scripts, for this host alone. */
export function writeCookie(cookie: NewCookie): string {
  const { name, value, maxAgeSeconds, path = '/', sameSite, isSecure } = cookie;
  const isAge = maxAgeSeconds === null || (Number.isInteger(maxAgeSeconds) && maxAgeSeconds >= 0);
  const isWritable = namePattern.test(name) && valuePattern.test(value) && pathPattern.test(path);
  // Without the value, which may be a secret.
  assert(isWritable && isAge, 'a cookie cannot be written');
  const parts = [`${name}=${value}`, `Path=${path}`, 'HttpOnly', `SameSite=${sameSite}`];
  if (maxAgeSeconds !== null) parts.push(`Max-Age=${maxAgeSeconds}`);
  if (isSecure) parts.push('Secure');
  return parts.join('; ');
}
