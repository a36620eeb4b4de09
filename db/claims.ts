// Idempotency keys, and the generations and video jobs that have them.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import { failedUnchargedText } from './generations.ts';
import { videoJobRoute } from './video-jobs/rows.ts';

/** An idempotency key, with its scope. */
export interface ClaimKey {
  accountId: string;
  route: string;
  idempotencyKey: string;
}

/** The generation or job that has a key now, and whether the key may be taken from it. */
export interface ClaimHolder extends ClaimKey {
  generationId: string;
  /** Failed before any charge, or older than the key is kept. */
  free: boolean;
  old: boolean;
}

const holdersText = `
SELECT g.id, g.account_id, g.route, g.idempotency_key, ${failedUnchargedText} AS failed,
  g.status <> 'running'
    AND g.created_at <= now() - $4::float8 * interval '1 millisecond' AS old
FROM unnest($1::text[], $2::text[], $3::text[]) AS k (account_id, route, idempotency_key),
  LATERAL (SELECT * FROM generations g WHERE g.account_id = k.account_id AND g.route = k.route
    AND g.idempotency_key = k.idempotency_key AND g.idempotency_key IS NOT NULL OFFSET 0) AS g
UNION ALL
SELECT j.id, j.account_id, k.route, j.request_id, false AS failed,
  j.completed_at IS NOT NULL
    AND j.created_at <= now() - $4::float8 * interval '1 millisecond' AS old
FROM unnest($1::text[], $2::text[], $3::text[]) AS k (account_id, route, idempotency_key),
  LATERAL (SELECT * FROM video_jobs j WHERE k.route = '${videoJobRoute}' AND j.keyed
    AND j.request_id = k.idempotency_key
    AND j.account_id IS NOT DISTINCT FROM k.account_id OFFSET 0) AS j`;

type RawHolder = {
  id: string;
  account_id: string;
  route: string;
  idempotency_key: string;
  failed: boolean;
  old: boolean;
};

/**
 * Who has these keys; those of finished generations are free after `keptMs`. By the database's
 * clock, as `findGenerationByKey` has it: by another one a key would be neither free nor replayed.
 */
export async function findClaimHolders(
  sql: Queryable,
  keys: readonly ClaimKey[],
  keptMs: number,
): Promise<ClaimHolder[]> {
  const parameters = [
    arrayLiteral(keys.map((key) => key.accountId)),
    arrayLiteral(keys.map((key) => key.route)),
    arrayLiteral(keys.map((key) => key.idempotencyKey)),
    keptMs,
  ];
  const rows = await sql.unsafe<RawHolder[]>(holdersText, parameters, { prepare: true });
  return rows.map((row) => ({
    generationId: row.id,
    accountId: row.account_id,
    route: row.route,
    idempotencyKey: row.idempotency_key,
    free: row.failed || row.old,
    old: row.old,
  }));
}

/** The keys that generations have; those without one are left out. */
export async function findKeys(
  sql: Queryable,
  generationIds: readonly string[],
): Promise<(ClaimKey & { generationId: string })[]> {
  const rows = await sql.unsafe<Omit<RawHolder, 'failed' | 'old'>[]>(
    `SELECT id, account_id, route, idempotency_key FROM generations
      WHERE id = ANY ($1::text[]) AND idempotency_key IS NOT NULL`,
    [arrayLiteral(generationIds)],
    { prepare: true },
  );
  return rows.map((row) => ({
    generationId: row.id,
    accountId: row.account_id,
    route: row.route,
    idempotencyKey: row.idempotency_key,
  }));
}
