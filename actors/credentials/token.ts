// The text of an API key: `svc_live_` or `svc_test_`, 32 random bytes in base62, and a checksum, so
// that a secret scanner and the server can refuse a mistyped one without the database.
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** ceil(256 bits / log2 62) */
const secretLength = 43;
/** ceil(32 bits / log2 62) */
const checksumLength = 6;
const pattern = /^svc_(live|test)_[0-9A-Za-z]{49}$/;

export type KeyEnvironment = 'live' | 'test';

export function newKeyToken(environment: KeyEnvironment): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength);
  const body = `svc_${environment}_${secret}`;
  return body + checksum(body);
}

/** Whether the text is a well-formed key: its form and its CRC-32 (ISO 3309) are right. */
export function isKeyToken(token: string): boolean {
  if (!pattern.test(token)) return false;
  const body = token.slice(0, -checksumLength);
  return checksum(body) === token.slice(-checksumLength);
}

/** What is stored and looked up instead of the token: SHA-256. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The same as text, to find it in memory. */
export function tokenHashText(token: string): string {
  return hash('sha256', token, 'base64');
}

/** What lists show of a key: enough to recognize it, far too little to guess it. */
export function displayPrefix(token: string): string {
  return token.slice(0, 'svc_live_'.length + 6);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
