// Proofs that a record stands in an audit, as c2sp.org/tlog-proof@v1 writes them.
import type { Queryable } from '../../db/driver/sql.ts';
import { findNewestCheckpoint } from '../../db/organization-audit/checkpoints.ts';
import { inclusionProof } from './merkle.ts';
import { readTree } from './tree.ts';
import { encodeHashes } from './verify/lines.ts';

/** Under the newest checkpoint; null: none has the record in it yet. */
export async function proveRecord(
  sql: Queryable,
  organizationId: number,
  seq: number,
): Promise<string | null> {
  const checkpoint = await findNewestCheckpoint(sql, organizationId, seq);
  if (checkpoint === null) return null;
  const index = seq - 1;
  const hashOf = await readTree(sql, organizationId, checkpoint.size, [index]);
  const hashes = encodeHashes(inclusionProof(index, checkpoint.size, hashOf));
  return [`c2sp.org/tlog-proof@v1`, `index ${index}`, ...hashes, '', checkpoint.note].join('\n');
}
