// Signed notes and checkpoints as of C2SP (https://c2sp.org/signed-note, /tlog-checkpoint), with
// Ed25519 keys. Pure; the verifier has these rules too.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

const ed25519Type = 0x01;
const seedBytes = 32;
const keyHashBytes = 4;
const signatureBytes = 64;
/** PKCS #8 and SubjectPublicKeyInfo of Ed25519 (RFC 8410) before their 32 bytes. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

export interface NoteVerifier {
  name: string;
  /** 8 hex characters. */
  keyHash: string;
  /** `<name>+<key hash>+<base64 of type and public key>`. */
  vkey: string;
  verify(text: string, signature: Uint8Array): boolean;
}

export interface NoteSigner {
  verifier: NoteVerifier;
  /** 32 secret bytes. */
  seed: Buffer;
  sign(text: string): Buffer;
}

/** Base64 (RFC 4648) in its one canonical spelling, or null. */
export function readBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

function keyHashOf(name: string, typed: Uint8Array): string {
  const hash = createHash('sha256').update(`${name}\n`).update(typed).digest();
  return hash.toString('hex', 0, keyHashBytes);
}

function verifierOf(name: string, publicKey: Buffer): NoteVerifier {
  const typed = Buffer.concat([Buffer.from([ed25519Type]), publicKey]);
  const keyHash = keyHashOf(name, typed);
  const der = Buffer.concat([spkiPrefix, publicKey]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return {
    name,
    keyHash,
    vkey: `${name}+${keyHash}+${typed.toString('base64')}`,
    verify: (text, signature) =>
      signature.length === signatureBytes && verify(null, Buffer.from(text), key, signature),
  };
}

function privateKeyOf(seed: Buffer): KeyObject {
  const der = Buffer.concat([pkcs8Prefix, seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** `seed`: 32 secret bytes. */
export function createNoteSigner(name: string, seed: Buffer): NoteSigner {
  if (seed.length !== seedBytes) throw new Error('the seed of an Ed25519 key has 32 bytes');
  const key = privateKeyOf(seed);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    verifier: verifierOf(name, spki.subarray(spkiPrefix.length)),
    seed,
    sign: (text) => sign(null, Buffer.from(text), key),
  };
}

/** Null: it is no verifier key of Ed25519. */
export function readVkey(vkey: string): NoteVerifier | null {
  const [, name, keyHash, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? [];
  if (name === undefined || encoded === undefined) return null;
  const typed = readBase64(encoded);
  if (typed?.length !== seedBytes + 1 || typed[0] !== ed25519Type) return null;
  return keyHashOf(name, typed) === keyHash ? verifierOf(name, typed.subarray(1)) : null;
}

/** The note of a text that ends with a line break, signed by each. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  const lines = signers.map(({ verifier: { name, keyHash }, sign: signText }) => {
    const signed = Buffer.concat([Buffer.from(keyHash, 'hex'), signText(text)]);
    return `\u2014 ${name} ${signed.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

export interface NoteSignature {
  name: string;
  keyHash: string;
  signature: Buffer;
}

/** The text of a note and its signatures, which nobody has verified; null: it is no note. */
function splitNote(note: string): { text: string; signatures: NoteSignature[] } | null {
  const end = note.lastIndexOf('\n\n');
  if (end === -1 || !note.endsWith('\n')) return null;
  const lines = note.slice(end + 2, -1).split('\n');
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const [, name, encoded] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = encoded === undefined ? null : readBase64(encoded);
    if (name === undefined || bytes === null || bytes.length <= keyHashBytes) return null;
    const keyHash = bytes.toString('hex', 0, keyHashBytes);
    signatures.push({ name, keyHash, signature: bytes.subarray(keyHashBytes) });
  }
  return { text: note.slice(0, end + 1), signatures };
}

export interface Checkpoint {
  origin: string;
  size: number;
  root: Buffer;
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

function readCheckpointText(text: string): Checkpoint | null {
  const [, origin, digits, encoded] = /^(\S+)\n(0|[1-9][0-9]{0,14})\n(\S+)\n$/.exec(text) ?? [];
  const root = encoded === undefined ? null : readBase64(encoded);
  if (origin === undefined || digits === undefined || root?.length !== 32) return null;
  return { origin, size: Number(digits), root };
}

export interface OpenedCheckpoint extends Checkpoint {
  /** Who has signed it, by key hash. */
  signedBy: string[];
  /** Signatures of keys that are not known. */
  unknown: number;
}

/** Null: it is no checkpoint, a known key has not signed it, or none that is known has. */
export function openCheckpoint(
  note: string,
  verifiers: readonly NoteVerifier[],
): OpenedCheckpoint | null {
  const split = splitNote(note);
  const checkpoint = split === null ? null : readCheckpointText(split.text);
  if (split === null || checkpoint === null) return null;
  const signedBy: string[] = [];
  for (const { name, keyHash, signature } of split.signatures) {
    const known = verifiers.find((each) => each.name === name && each.keyHash === keyHash);
    if (known === undefined) continue;
    if (!known.verify(split.text, signature)) return null;
    signedBy.push(keyHash);
  }
  const unknown = split.signatures.length - signedBy.length;
  return signedBy.length === 0 ? null : { ...checkpoint, signedBy, unknown };
}
