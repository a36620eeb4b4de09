// The sealed content of reasoning items: it carries its own checksum, so that a changed one is
// found out without remembering any.
import { hashOf } from '../results.ts';

const mark = 'gAAAAABp';

/** Unreadable to clients, as long as a little of reasoning really is. */
export function sealed(id: string): string {
  const payload = Buffer.from(`sealed reasoning of ${id}`).toString('base64url');
  return `${mark}${payload}_${hashOf(payload).toString(16).padStart(8, '0')}`;
}

export function isSealed(text: string): boolean {
  if (!text.startsWith(mark)) return false;
  const payload = text.slice(mark.length, -9);
  return text === `${mark}${payload}_${hashOf(payload).toString(16).padStart(8, '0')}`;
}
