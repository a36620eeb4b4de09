// Messages of an upstream's socket: JSON objects, in text frames or in binary ones.
import { isUtf8 } from 'node:buffer';
import { isMembers, type Members } from '../../transport/members.ts';

/** Without a copy. */
export function asBuffer(message: string | Uint8Array): Buffer {
  if (typeof message === 'string') return Buffer.from(message);
  if (Buffer.isBuffer(message)) return message;
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}

/** Null: this is no JSON object in UTF-8. */
export function parseMessage(bytes: Buffer): Members | null {
  if (!isUtf8(bytes)) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}
