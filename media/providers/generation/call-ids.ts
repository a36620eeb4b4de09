// What an upstream must get back together with a tool call, carried in the call's id: the id is the
// one member that every client of every format returns unchanged, so nobody has to remember it.
import { Buffer } from 'node:buffer';
import { isCarrying, plainCallId, suffixOf } from '../../model/returned.ts';

/** A longer signature is left out: ids are kept in places that were not made for so much. */
export const signatureCharactersMax = 16_384;

/**
 * `<id>__sig<length>s_<text>`: base64, written as base64url, which all formats allow in an id.
 * `<id>__sig<length>x_<text>`: any other signature, its UTF-8 as base64url. The length counts the
 * characters of the text: what a client has cut is not used.
 */
const signedMark = '__sig';
const signatureMark = /__sig(\d{1,5})([sx])_/g;

export interface CallId {
  id: string;
  /** Null: there is none, or it came back damaged. */
  signature: string | null;
}

/** The id that clients see. It is the id itself when there is nothing to carry. */
export function signCallId({ id, signature }: CallId): string {
  if (signature === null || signature === '') return id;
  if (signature.length > signatureCharactersMax) return id;
  const bytes = Buffer.from(signature, 'base64');
  const isBase64 = bytes.toString('base64') === signature;
  const text = (isBase64 ? bytes : Buffer.from(signature)).toString('base64url');
  return `${id}${signedMark}${text.length}${isBase64 ? 's' : 'x'}_${text}`;
}

export function readCallId(signed: string): CallId {
  if (!signed.includes(signedMark)) return { id: plainCallId(signed), signature: null };
  const found = suffixOf(signed, signatureMark);
  if (found === null) return { id: signed, signature: null };
  const { id, groups, text } = found;
  const [length, kind] = groups;
  if (text.length !== Number(length)) return { id, signature: null };
  const bytes = Buffer.from(text, 'base64url');
  return { id, signature: bytes.toString(kind === 's' ? 'base64' : 'utf8') };
}

/** Whether more than the id is in it: no provider but its own is told so. */
export function isLaden(id: string): boolean {
  return id.includes(signedMark) || isCarrying(id);
}

/**
 * The id of a call as it is told: some servers give several calls of one answer the same, and then
 * nobody could say which of them a result is for. `given`: those that were told before.
 */
export function uniqueId(given: Set<string>, id: string, index: number): string {
  let unique = id;
  for (let end = index; given.has(unique); end += 1) unique = `${id}_${end}`;
  given.add(unique);
  return unique;
}
