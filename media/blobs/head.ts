// The head of an object: its data key, wrapped by the master key, with the length and the digest
// of what was stored. It has two slots: a rotation writes one before it wipes the other.
import { strict as assert } from 'node:assert';
import type { Sealer } from '../../runtime/seal.ts';
import { BlobFault } from './contract.ts';

/** The first master key is the present one, the others are earlier ones. */
export type Sealers = readonly [Sealer, ...Sealer[]];

export interface BlobHead {
  dataKey: Buffer;
  bytes: number;
  /** As hex. */
  sha256: string;
}

/** The version is a part of it. */
const magic = Buffer.from('tgblob1\n');
const keyIdAt = magic.length;
const bytesAt = keyIdAt + 12;
const digestAt = bytesAt + 8;
const wrappedAt = digestAt + 32;
/** A nonce, 43 characters of base64url and a tag. */
const slotBytes = wrappedAt + 12 + 43 + 16;

/** Each slot has blocks of its own, so that a write that is cut harms no other. */
export const slotOffsets = [0, 4_096] as const;
export const headBytes = 8_192;
export const wipedSlot: Buffer = Buffer.alloc(slotBytes);

/**
 * The key that wraps is derived for this one object, length and digest, so they are authenticated.
 * A wrap under the same master key is the same bytes whoever makes it.
 */
function wrapPurpose(id: string, { bytes, sha256 }: Omit<BlobHead, 'dataKey'>): string {
  return `blob 1:${id}:${bytes}:${sha256}`;
}

export function writeSlot(sealer: Sealer, id: string, head: BlobHead): Buffer {
  const slot = Buffer.alloc(slotBytes);
  magic.copy(slot);
  slot.write(sealer.keyId, keyIdAt, 'latin1');
  slot.writeBigUInt64BE(BigInt(head.bytes), bytesAt);
  slot.write(head.sha256, digestAt, 'hex');
  const bound = sealer.bind(wrapPurpose(id, head));
  const wrapped = bound.seal(head.dataKey.toString('base64url'));
  assert.equal(wrapped.length, slotBytes - wrappedAt, 'a wrapped key has its length');
  wrapped.copy(slot, wrappedAt);
  return slot;
}

export interface FoundHead extends BlobHead {
  /** Which of the slots it stands in, and what the other one is. */
  slot: 0 | 1;
  isCurrent: boolean;
  isOtherWiped: boolean;
}

/**
 * Reads the head from the first `headBytes` of an object. One slot is enough: the other may be one
 * that a crash left half written.
 * @throws BlobFault missing, damaged, locked
 */
export function readHead(sealers: Sealers, id: string, bytes: Buffer): FoundHead {
  const slots = slotOffsets.map((at) => bytes.subarray(at, at + slotBytes));
  const wiped = slots.map((slot) => slot.equals(wipedSlot));
  // Its removal had begun: there is no key any more.
  if (wiped.every((isWiped) => isWiped)) throw new BlobFault('missing', `${id} was removed`);
  let isLocked = false;
  for (const [rank, sealer] of sealers.entries()) {
    for (const slot of [0, 1] as const) {
      const head = openSlot(sealer, id, slots[slot] ?? wipedSlot);
      if (head === null) continue;
      return { ...head, slot, isCurrent: rank === 0, isOtherWiped: wiped[1 - slot] === true };
    }
  }
  for (const slot of slots) {
    const keyId = slot.toString('latin1', keyIdAt, bytesAt);
    if (slot.length === slotBytes && slot.subarray(0, keyIdAt).equals(magic)) {
      isLocked ||= sealers.every((sealer) => sealer.keyId !== keyId);
    }
  }
  if (isLocked) throw new BlobFault('locked', `${id} is wrapped under a key that is not known`);
  throw new BlobFault('damaged', `the head of ${id} is damaged`);
}

function openSlot(sealer: Sealer, id: string, slot: Buffer): BlobHead | null {
  if (slot.length < slotBytes || !slot.subarray(0, keyIdAt).equals(magic)) return null;
  if (slot.toString('latin1', keyIdAt, bytesAt) !== sealer.keyId) return null;
  const bytes = Number(slot.readBigUInt64BE(bytesAt));
  const sha256 = slot.toString('hex', digestAt, wrappedAt);
  try {
    const bound = sealer.bind(wrapPurpose(id, { bytes, sha256 }));
    const dataKey = Buffer.from(bound.open(slot.subarray(wrappedAt)), 'base64url');
    return { dataKey, bytes, sha256 };
  } catch {
    return null;
  }
}
