// The text of every token: a prefix that tells its kind, 32 random bytes in base62, and a checksum.
// A secret scanner and the server can refuse a mistyped one without the database.
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** ceil(256 bits / log2 62) */
const secretLength = 43;
/** ceil(32 bits / log2 62) */
const checksumLength = 6;
const keyPattern = /^svc_(live|test)_[0-9A-Za-z]{49}$/;
const secretPattern = /^[0-9A-Za-z]{49}$/;

export type KeyEnvironment = 'live' | 'test';

/** The kinds of tokens beside API keys, by their prefix (identity.md, section 1). */
const tokenPrefixes = {
  browser: 'svc_web_',
  app: 'svc_app_',
  access: 'svc_at_',
  refresh: 'svc_rt_',
  clientSecret: 'svc_cs_',
  code: 'svc_ac_',
  deviceCode: 'svc_dc_',
} as const;
export type TokenKind = keyof typeof tokenPrefixes;

export function newKeyToken(environment: KeyEnvironment): string {
  return newTokenOf(`svc_${environment}_`);
}

/** A new token of the kind: 256 bits of chance. */
export function newToken(kind: TokenKind): string {
  return newTokenOf(tokenPrefixes[kind]);
}

function newTokenOf(prefix: string): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength);
  const body = prefix + secret;
  return body + checksum(body);
}

/** Whether the text is a well-formed key: its form and its CRC-32 (ISO 3309) are right. */
export function isKeyToken(token: string): boolean {
  return keyPattern.test(token) && isSummed(token);
}

/** Whether the text is a well-formed token of the kind. */
export function isToken(kind: TokenKind, token: string): boolean {
  const prefix = tokenPrefixes[kind];
  if (!token.startsWith(prefix) || !secretPattern.test(token.slice(prefix.length))) return false;
  return isSummed(token);
}

/** Whether the text begins as tokens of the kind do, well-formed or not. */
export function hasPrefixOf(kind: TokenKind, text: string): boolean {
  return text.startsWith(tokenPrefixes[kind]);
}

function isSummed(token: string): boolean {
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
