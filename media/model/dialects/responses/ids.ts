// Ids of this format, derived from the request's id and a place in its output: every attach and
// replay of one generation gives the same ones, and an item's id leads back to its response.

const hexPattern = /^[0-9a-f]{24}$/;
const itemPattern = /^[a-z]{1,20}_([0-9a-f]{24})([0-9a-f]{4,8})$/;

/** `resp_` and the 24 hex characters of our request id. */
export function responseId(requestId: string): string {
  return `resp_${hexOf(requestId)}`;
}

/** The request id of a response id; null: it is none of ours. */
export function requestIdOf(id: string): string | null {
  const hex = id.startsWith('resp_') ? id.slice(5) : '';
  return hexPattern.test(hex) ? `req_${hex}` : null;
}

/** The id of the output item at this place: the request's hex, then the place as hex. */
export function itemId(prefix: string, requestId: string, outputIndex: number): string {
  return `${prefix}_${hexOf(requestId)}${outputIndex.toString(16).padStart(4, '0')}`;
}

/** Where an item id points: the generation and the place in its output; null: none of ours. */
export function itemPlace(id: string): { requestId: string; outputIndex: number } | null {
  const found = itemPattern.exec(id);
  if (found === null) return null;
  return { requestId: `req_${found[1]}`, outputIndex: Number.parseInt(found[2] ?? '', 16) };
}

/** A native item's prefix as its provider chose it: `ws` of `ws_68af…`. */
export function prefixOf(id: unknown, type: string): string {
  const found = typeof id === 'string' ? /^([a-z]{1,20})_/.exec(id) : null;
  return found?.[1] ?? (type.replace(/[^a-z]/g, '').slice(0, 20) || 'item');
}

function hexOf(requestId: string): string {
  return requestId.startsWith('req_') ? requestId.slice(4) : requestId;
}
