// Which shard an id lives on: rendezvous hashing (Thaler and Ravishankar, 1998) over live shards.
// No cache: hashing an id costs less than a lookup in a large map, and references keep the result.

/** FNV-1a over UTF-16 units, 32 bits. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash;
}

/** The weight of a node for a hashed id: the finalizer of MurmurHash3 over both. */
function weightOf(hash: number, node: number): number {
  let mixed = hash ^ Math.imul(node + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * The node among `nodes` with the highest weight for `id`; null when there is none. Taking a node
 * away moves only the ids that lived on it. The order of `nodes` does not matter.
 */
export function placeId(id: string, nodes: readonly number[]): number | null {
  const hash = hashOf(id);
  let best: number | null = null;
  let bestWeight = -1;
  for (const node of nodes) {
    const weight = weightOf(hash, node);
    if (weight > bestWeight || (weight === bestWeight && node < (best ?? node))) {
      best = node;
      bestWeight = weight;
    }
  }
  return best;
}
