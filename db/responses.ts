// Stored responses: what clients sent, for reading again and for being continued. The answer is the
// generation's. A row whose generation does not exist (refused, or a duplicate) is nobody's.
import type { Queryable, Sql } from './driver/sql.ts';
import { failedUnchargedText, type GenerationStatus } from './generations.ts';
import { erasing, heldText } from './organizations/hold.ts';
import type { WalletType } from './wallets.ts';

export interface NewResponse {
  generationId: string;
  accountId: string;
  /** The generation of the response that this one continues. */
  previousId: string | null;
  background: boolean;
  /** The client's body without its input, but for what declares tools, as JSON text. */
  requestJson: string;
  /** The input items of this turn, as JSON text. */
  inputJson: string;
  keptMs: number;
}

export interface StoredResponse {
  generationId: string;
  previousId: string | null;
  background: boolean;
  requestJson: string;
  createdAt: Date;
  /** The wallet that pays is of a person or of an organization. */
  walletType: WalletType;
}

const insertText = `INSERT INTO responses (generation_id, account_id, previous_id, background,
    request, input, input_bytes, expires_at, kept_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8::bigint * interval '1 millisecond',
    now() + $8::bigint * interval '1 millisecond')
  ON CONFLICT (generation_id) DO NOTHING`;

/** Stores what a client sent. Again for the same generation changes nothing, also when deleted. */
export async function insertResponse(sql: Queryable, response: NewResponse): Promise<void> {
  const parameters = [
    response.generationId,
    response.accountId,
    response.previousId,
    response.background,
    response.requestJson,
    response.inputJson,
    Buffer.byteLength(response.inputJson),
    response.keptMs,
  ];
  await sql.unsafe(insertText, parameters, { prepare: true });
}

/** Takes back what was stored for a generation that never came to be. */
export async function discardResponse(sql: Queryable, generationId: string): Promise<void> {
  await sql`DELETE FROM responses WHERE generation_id = ${generationId}`;
}

const ownAndAlive = 'account_id = $2 AND deleted_at IS NULL AND expires_at > now()';

const findText = `SELECT generation_id, previous_id, background, request, created_at,
    (SELECT w.type FROM generations g JOIN wallets w ON w.id = g.wallet_id
      WHERE g.id = generation_id) AS wallet_type
  FROM responses WHERE generation_id = $1 AND ${ownAndAlive}`;

/** A response of the account; null when unknown, deleted, expired, or another account's. */
export async function findResponse(
  sql: Queryable,
  accountId: string,
  generationId: string,
): Promise<StoredResponse | null> {
  const [row] = await sql.unsafe<
    {
      generation_id: string;
      previous_id: string | null;
      background: boolean;
      request: string;
      created_at: Date;
      wallet_type: WalletType | null;
    }[]
  >(findText, [generationId, accountId], { prepare: true });
  if (row === undefined) return null;
  return {
    generationId: row.generation_id,
    previousId: row.previous_id,
    background: row.background,
    requestJson: row.request,
    createdAt: row.created_at,
    walletType: row.wallet_type ?? 'personal',
  };
}

/** The input items of a response as JSON text; null as in `findResponse`. */
export async function findResponseInput(
  sql: Queryable,
  accountId: string,
  generationId: string,
): Promise<string | null> {
  const [row] = await sql.unsafe<{ input: string }[]>(
    `SELECT input FROM responses WHERE generation_id = $1 AND ${ownAndAlive}`,
    [generationId, accountId],
    { prepare: true },
  );
  return row?.input ?? null;
}

/**
 * Empties a response for good; false when there was none to delete. An answer that an idempotency
 * key may still ask for stays until the key is free.
 */
export async function deleteResponse(
  sql: Queryable,
  accountId: string,
  generationId: string,
): Promise<boolean> {
  const rows = await sql.unsafe(
    `WITH deleted AS (
        UPDATE responses SET deleted_at = now(), request = '{}', input = '[]', input_bytes = 0
        WHERE generation_id = $1 AND ${ownAndAlive} RETURNING generation_id),
      emptied AS (
        UPDATE generations g SET answer = NULL FROM deleted d
        WHERE g.id = d.generation_id AND g.idempotency_key IS NULL)
      SELECT 1 FROM deleted`,
    [generationId, accountId],
    { prepare: true },
  );
  return rows.length > 0;
}

/** One turn of a conversation: what was sent, and what its generation made of it. */
export interface Turn {
  generationId: string;
  background: boolean;
  inputJson: string;
  status: GenerationStatus;
  /** It failed before anything of it was delivered. */
  uncharged: boolean;
  answerJson: string | null;
}

export type Chain =
  /** The turns, the oldest first. */
  | { status: 'found'; turns: Turn[] }
  /** The last response, or one that it continues, is not there (any more). */
  | { status: 'not_found'; generationId: string }
  | { status: 'too_long' };

export interface ChainBounds {
  turnsMax: number;
  /** Of all inputs and answers together. */
  bytesMax: number;
}

/**
 * Sizes are added up on the way back and content is read only when all of it fits. Earlier turns
 * may be past their expiry: they are kept for those who continue them.
 */
const chainText = `WITH RECURSIVE chain AS (
    SELECT r.generation_id, r.previous_id, r.deleted_at IS NOT NULL AS deleted, 1 AS depth,
      r.input_bytes::bigint + coalesce(octet_length(g.answer), 0) AS bytes
    FROM responses r JOIN generations g ON g.id = r.generation_id
    WHERE r.generation_id = $1 AND r.account_id = $2 AND r.expires_at > now()
    UNION ALL
    SELECT r.generation_id, r.previous_id, r.deleted_at IS NOT NULL, c.depth + 1,
      c.bytes + r.input_bytes + coalesce(octet_length(g.answer), 0)
    FROM chain c
      JOIN responses r ON r.generation_id = c.previous_id AND r.account_id = $2
      JOIN generations g ON g.id = r.generation_id
    WHERE c.depth <= $3 AND c.bytes <= $4),
  size AS (SELECT max(depth) <= $3 AND max(bytes) <= $4 AS fits FROM chain)
  SELECT c.generation_id, c.previous_id, c.deleted, s.fits, r.background, g.status,
    ${failedUnchargedText} AS uncharged,
    CASE WHEN s.fits THEN r.input END AS input, CASE WHEN s.fits THEN g.answer END AS answer
  FROM chain c CROSS JOIN size s JOIN responses r ON r.generation_id = c.generation_id
    JOIN generations g ON g.id = c.generation_id
  ORDER BY c.depth DESC`;

/** The conversation that ends with this response. */
export async function readChain(
  sql: Queryable,
  accountId: string,
  generationId: string,
  bounds: ChainBounds,
): Promise<Chain> {
  const rows = await sql.unsafe<
    {
      generation_id: string;
      previous_id: string | null;
      deleted: boolean;
      fits: boolean;
      background: boolean;
      status: GenerationStatus;
      uncharged: boolean;
      input: string | null;
      answer: string | null;
    }[]
  >(chainText, [generationId, accountId, bounds.turnsMax, bounds.bytesMax], { prepare: true });
  const [oldest] = rows;
  if (oldest === undefined) return { status: 'not_found', generationId };
  const deleted = rows.findLast((row) => row.deleted);
  if (deleted !== undefined) return { status: 'not_found', generationId: deleted.generation_id };
  if (!oldest.fits) return { status: 'too_long' };
  if (oldest.previous_id !== null) {
    return { status: 'not_found', generationId: oldest.previous_id };
  }
  return {
    status: 'found',
    turns: rows.map((row) => ({
      generationId: row.generation_id,
      background: row.background,
      inputJson: row.input ?? '[]',
      status: row.status,
      uncharged: row.uncharged,
      answerJson: row.answer,
    })),
  };
}

const itemsText = `WITH found AS (
    SELECT r.generation_id, r.input, g.answer,
      sum(r.input_bytes::bigint + coalesce(octet_length(g.answer), 0)) OVER () <= $3 AS fits
    FROM responses r JOIN generations g ON g.id = r.generation_id
    WHERE r.generation_id = ANY($1) AND ${ownAndAlive.replace('account_id', 'r.account_id')})
  SELECT generation_id, CASE WHEN fits THEN input END AS input,
    CASE WHEN fits THEN answer END AS answer
  FROM found`;

/**
 * Inputs and answers of these responses, for single items of theirs. What is unknown, deleted,
 * expired or another account's is left out; all is when it is more than `bytesMax` together.
 */
export async function findResponseTexts(
  sql: Queryable,
  accountId: string,
  generationIds: readonly string[],
  bytesMax: number,
): Promise<Map<string, { inputJson: string; answerJson: string | null }>> {
  const rows = await sql.unsafe<
    { generation_id: string; input: string | null; answer: string | null }[]
  >(itemsText, [[...generationIds], accountId, bytesMax], { prepare: true });
  return new Map(
    rows.flatMap((row) => {
      if (row.input === null) return [];
      return [[row.generation_id, { inputJson: row.input, answerJson: row.answer }]];
    }),
  );
}

/** Rows that one statement removes at most. */
const endedMax = 2_000;

/**
 * With the last turn of a conversation go those that only it continued, up to a bound for one
 * statement. One turn a pass, each of the others was looked at, and written, with every turn that
 * went: 20,000 times for a conversation of 200.
 */
const sweepText = `WITH RECURSIVE due AS MATERIALIZED (
    SELECT r.generation_id, r.previous_id, ${heldText('r.account_id')} AS held
    FROM responses r WHERE r.kept_until <= now()
    ORDER BY r.kept_until LIMIT $1 FOR UPDATE SKIP LOCKED),
  ending AS (
    SELECT d.generation_id, d.previous_id FROM due d
    WHERE NOT d.held AND NOT EXISTS (SELECT FROM responses n WHERE n.previous_id = d.generation_id)
    UNION ALL
    SELECT p.generation_id, p.previous_id
    FROM ending e JOIN responses p ON p.generation_id = e.previous_id
    WHERE p.expires_at <= now() AND NOT EXISTS (SELECT FROM responses o
      WHERE o.previous_id = p.generation_id AND o.generation_id <> e.generation_id)),
  ended AS MATERIALIZED (SELECT generation_id FROM ending LIMIT ${endedMax}),
  continued AS (
    SELECT d.generation_id, max(n.kept_until) AS kept_until
    FROM due d JOIN responses n ON n.previous_id = d.generation_id
    WHERE d.generation_id NOT IN (SELECT generation_id FROM ended) GROUP BY d.generation_id
    UNION ALL
    SELECT d.generation_id, now() + interval '1 hour' FROM due d WHERE d.held),
  later AS (
    UPDATE responses r SET kept_until = greatest(c.kept_until, now()) + interval '10 minutes'
    FROM continued c WHERE r.generation_id = c.generation_id),
  gone AS (
    DELETE FROM responses r USING ended e WHERE r.generation_id = e.generation_id
    RETURNING r.generation_id),
  emptied AS (
    UPDATE generations g SET answer = NULL FROM gone
    WHERE g.id = gone.generation_id AND g.idempotency_key IS NULL AND g.status <> 'running')
  SELECT count(*) AS looked FROM due`;

/**
 * Removes expired responses with their answers, at most `limit` at once. Those that a later one
 * continues wait for it, and those on a legal hold stay. An answer under a key goes with the key
 * (`sweepGenerations`). Returns how many it looked at: fewer than `limit` means that it is done.
 */
export async function sweepResponses(sql: Sql, limit: number): Promise<number> {
  const [row] = await erasing(sql, (transaction) =>
    transaction.unsafe<{ looked: bigint }[]>(sweepText, [limit], { prepare: true }),
  );
  return Number(row?.looked ?? 0n);
}
