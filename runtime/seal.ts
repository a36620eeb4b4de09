// Encryption: AES-256-GCM (NIST SP 800-38D) under a key that is named in what it sealed, so that a
// key can be rotated. Layout: 12 bytes of nonce, the ciphertext, 16 bytes of tag.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

const nonceLength = 12;
const tagLength = 16;
const keyLength = 32;

export interface Sealer {
  /** Names the key; not secret. */
  readonly keyId: string;
  /** `purpose` is authenticated: what was sealed for one purpose opens for no other. */
  seal(text: string, purpose: string): Buffer;
  /** @throws Error when the key, the purpose or the bytes are not the sealed ones. */
  open(sealed: Uint8Array, purpose: string): string;
  /**
   * Tells whether a secret is the one before. Without the key it tells nothing. HMAC-SHA-256 (RFC
   * 2104) as hex, under a key of its own (RFC 5869).
   */
  digest(text: string, purpose: string): string;
  /** Seals for one owner under keys of its own. `purpose` names the owner; it is authenticated. */
  bind(purpose: string): BoundSealer;
}

/**
 * What one owner is given to carry. The same text has the same bytes, so that an answer is told
 * alike whenever and by whichever thread it is told.
 */
export interface BoundSealer {
  seal(text: string): Buffer;
  /** @throws Error when the key, the owner or the bytes are not the sealed ones. */
  open(sealed: Uint8Array): string;
}

/** `masterKey` is 32 bytes as base64url. */
export function createSealer(masterKey: string): Sealer {
  const key = Buffer.from(masterKey, 'base64url');
  if (key.length !== keyLength) throw new Error('the master key must have 32 bytes');
  const keyId = createHash('sha256').update('key id').update(key).digest('hex').slice(0, 12);
  return {
    keyId,
    seal: (text, purpose) => encrypt(key, randomBytes(nonceLength), purpose, text),
    open: (sealed, purpose) => decrypt(key, purpose, sealed),
    bind: (purpose) => bind(key, purpose),
    digest(text, purpose) {
      const digestKey = Buffer.from(hkdfSync('sha256', key, '', `digest: ${purpose}`, 32));
      return createHmac('sha256', digestKey).update(text).digest('hex');
    },
  };
}

/**
 * GCM bears 2^32 nonces by chance under one key: a busy gateway gives out as many items of
 * reasoning in weeks. Keys for each owner share that out, and none of it counts against the key of
 * credentials. The nonce comes of the text, so no two texts have the same one but by that chance.
 */
function bind(masterKey: Buffer, purpose: string): BoundSealer {
  const keys = createHmac('sha512', masterKey).update(`bound:${purpose}`).digest();
  const key = keys.subarray(0, keyLength);
  const nonceKey = keys.subarray(keyLength);
  return {
    seal(text) {
      const nonce = createHmac('sha256', nonceKey).update(text).digest().subarray(0, nonceLength);
      return encrypt(key, nonce, purpose, text);
    },
    open: (sealed) => decrypt(key, purpose, sealed),
  };
}

function encrypt(key: Buffer, nonce: Buffer, purpose: string, text: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
}

function decrypt(key: Buffer, purpose: string, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  const tagAt = bytes.length - tagLength;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const text = decipher.update(bytes.subarray(nonceLength, tagAt));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
