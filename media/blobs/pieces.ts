// How an object is encrypted: AES-256-GCM in pieces of 64 KiB, as the STREAM construction of
// Hoang, Reyhanitabar, Rogaway and Vizár (2015) has them. Each piece says where it belongs.
import { createCipheriv, createDecipheriv } from 'node:crypto';

export const pieceBytes = 65_536;
const tagBytes = 16;
export const sealedPieceBytes = pieceBytes + tagBytes;

/** An empty object has one empty piece: it, too, has a last one. */
export function pieceCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / pieceBytes));
}

/** How long all pieces of an object are. */
export function sealedBytes(bytes: number): number {
  return bytes + pieceCount(bytes) * tagBytes;
}

/** The other way round; what is no such length gives one that does not lead back. */
export function plainBytes(sealed: number): number {
  return Math.max(0, sealed - Math.max(1, Math.ceil(sealed / sealedPieceBytes)) * tagBytes);
}

/** Where a piece belongs. */
export interface PiecePlace {
  objectId: string;
  index: number;
  isLast: boolean;
}

/** Index and mark of the last piece. A data key is of one object, so no nonce comes twice. */
function nonceOf({ index, isLast }: PiecePlace): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

function contextOf({ objectId, index, isLast }: PiecePlace): Buffer {
  return Buffer.from(`${objectId}:${index}:${isLast ? 'last' : 'more'}`);
}

/** The ciphertext, then its tag. */
export function sealPiece(key: Buffer, place: PiecePlace, plain: Uint8Array): [Buffer, Buffer] {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(place), { authTagLength: tagBytes });
  cipher.setAAD(contextOf(place));
  const sealed = cipher.update(plain);
  cipher.final();
  return [sealed, cipher.getAuthTag()];
}

/** Null: these are not the bytes that were sealed for this place. */
export function openPiece(key: Buffer, place: PiecePlace, sealed: Buffer): Buffer | null {
  const tagAt = sealed.length - tagBytes;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(place), options);
  decipher.setAAD(contextOf(place));
  decipher.setAuthTag(sealed.subarray(tagAt));
  const plain = decipher.update(sealed.subarray(0, tagAt));
  try {
    decipher.final();
    return plain;
  } catch {
    return null;
  }
}
