// The tree of an audit from what is stored: roots of tiles, and the links of a few tiles. A proof
// begins or ends in these.
import type { Queryable } from '../../db/driver/sql.ts';
import { readTileLinks, readTileRoots, tileLength } from '../../db/organization-audit/nodes.ts';
import { foldRoot, type Subtree, type SubtreeHash } from './merkle.ts';

/**
 * Hashes of perfect subtrees of a tree of `size` leaves. A subtree that is smaller than a tile is
 * known in the tiles of `leaves` (from 0) and in the last one.
 */
export async function readTree(
  sql: Queryable,
  organizationId: number,
  size: number,
  leaves: readonly number[],
): Promise<SubtreeHash> {
  const roots = await readTileRoots(sql, organizationId, Math.floor(size / tileLength));
  const links = new Map<number, Buffer[]>();
  for (const leaf of [...leaves, size - 1]) {
    const tile = Math.floor(leaf / tileLength);
    if (leaf < 0 || links.has(tile)) continue;
    links.set(tile, await readTileLinks(sql, organizationId, tile));
  }
  return (subtree) => subtreeHash(subtree, roots, links);
}

function subtreeHash(
  { from, length }: Subtree,
  roots: readonly Buffer[],
  links: ReadonlyMap<number, Buffer[]>,
): Buffer {
  const tile = Math.floor(from / tileLength);
  const isOfTiles = length >= tileLength;
  const nodes = isOfTiles ? roots : links.get(tile);
  const unit = isOfTiles ? tileLength : 1;
  const first = isOfTiles ? tile : from - tile * tileLength;
  const found = nodes?.slice(first, first + length / unit);
  if (found?.length !== length / unit) throw new Error(`the tree of an audit lacks leaf ${from}`);
  return foldPerfect(found);
}

/** The root of nodes whose number is a power of two. */
function foldPerfect(nodes: readonly Buffer[]): Buffer {
  let row = nodes;
  while (row.length > 1) {
    const below = row;
    row = Array.from({ length: below.length / 2 }, (_, at) =>
      foldRoot(below.slice(2 * at, 2 * at + 2)),
    );
  }
  return row[0] as Buffer;
}
