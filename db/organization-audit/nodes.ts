// Hashes of an audit's tree: roots of complete tiles, and links of single tiles. Links of records
// that stand in no tile yet are read from the records.
import type { Queryable } from '../driver/sql.ts';
import { splitHashes } from './head.ts';

/** How many links a tile has. */
export const tileLength = 256;

/** The roots of the first so many tiles, all of them complete. */
export async function readTileRoots(
  sql: Queryable,
  organizationId: number,
  count: number,
): Promise<Buffer[]> {
  if (count === 0) return [];
  const [row] = await sql<{ roots: Uint8Array | null }[]>`
    SELECT string_agg(root, ''::bytea ORDER BY tile) AS roots FROM organization_audit_tiles
    WHERE organization_id = ${organizationId} AND tile < ${count} AND root IS NOT NULL`;
  const roots = splitHashes(row?.roots ?? Buffer.alloc(0));
  if (roots.length !== count) throw new Error(`an audit has ${roots.length} of ${count} tiles`);
  return roots;
}

/** The links of a tile, as far as there are any. */
export async function readTileLinks(
  sql: Queryable,
  organizationId: number,
  tile: number,
): Promise<Buffer[]> {
  const [row] = await sql<{ links: Uint8Array }[]>`
    SELECT coalesce(k.links, '') || coalesce((
      SELECT string_agg(r.link, ''::bytea ORDER BY r.seq) FROM organization_audit_records r
      WHERE r.organization_id = ${organizationId}
        AND r.seq > ${tile}::bigint * ${tileLength} + coalesce(octet_length(k.links), 0) / 32
        AND r.seq <= (${tile}::bigint + 1) * ${tileLength}), '') AS links
    FROM (VALUES (0)) one
    LEFT JOIN organization_audit_tiles k
      ON k.organization_id = ${organizationId} AND k.tile = ${tile}::bigint`;
  return splitHashes(row?.links ?? Buffer.alloc(0));
}
