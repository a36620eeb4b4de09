// Generations, as their own account sees them. They are made and ended by the wallet's writes only.
import type { BlobNamer } from './blobs/namer.ts';
import { lookedUp, ownedRow } from './driver/lookup.ts';
import type { Queryable } from './driver/sql.ts';
import type { HolderRows } from './ledger/holder.ts';
import { type Column, definePart, type Part } from './ledger/part.ts';
import { ownedRows } from './ledger/write.ts';
import { latePart } from './usage/late.ts';

export type GenerationStatus = 'running' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

export interface Generation {
  id: string;
  accountId: string;
  walletId: string;
  apiKeyId: string | null;
  route: string;
  idempotencyKey: string | null;
  fingerprint: string;
  model: string;
  instanceId: string;
  holdId: string;
  status: GenerationStatus;
  createdAt: Date;
  finishedAt: Date | null;
  /** JSON text, byte by byte as it was stored. */
  answerJson: string | null;
  usageJson: string | null;
  /** `svc_routing`, of a managed route. */
  routingJson: string | null;
  problemJson: string | null;
  /** Null: nothing was settled. */
  chargeMicros: bigint | null;
}

type Row = {
  id: string;
  account_id: string;
  wallet_id: string;
  api_key_id: string | null;
  route: string;
  idempotency_key: string | null;
  fingerprint: string;
  model: string;
  instance_id: string;
  hold_id: string;
  status: GenerationStatus;
  created_at: Date;
  finished_at: Date | null;
  answer: string | null;
  usage: string | null;
  routing: string | null;
  problem: string | null;
  charge_micros: bigint | null;
};

const columns = `id, account_id, wallet_id, api_key_id, route, idempotency_key, fingerprint, model,
  instance_id, hold_id, status, created_at, finished_at, answer, usage::text AS usage,
  routing::text AS routing, problem,
  charge_micros`;

function readGeneration(row: Row): Generation {
  return {
    id: row.id,
    accountId: row.account_id,
    walletId: row.wallet_id,
    apiKeyId: row.api_key_id,
    route: row.route,
    idempotencyKey: row.idempotency_key,
    fingerprint: row.fingerprint,
    model: row.model,
    instanceId: row.instance_id,
    holdId: row.hold_id,
    status: row.status,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    answerJson: row.answer,
    usageJson: row.usage,
    routingJson: row.routing,
    problemJson: row.problem,
    chargeMicros: row.charge_micros,
  };
}

/**
 * What failed before any charge was told by a status and nothing else: its key may run again, and
 * nobody knows its id (decisions.md, section 6).
 */
export function failedUncharged(row: Pick<Generation, 'status' | 'usageJson'>): boolean {
  return row.status === 'failed' && row.usageJson === null;
}

/** The same of a row that is called `g`. */
export const failedUnchargedText = `(g.status = 'failed' AND g.usage IS NULL)`;

/** How long an idempotency key names its generation. */
export const idempotencyMs = 24 * 3_600_000;

/** Keys are kept for their time, but as long as their generation runs. */
const byKeyText = `SELECT ${columns} FROM generations
  WHERE account_id = $1 AND route = $2 AND idempotency_key = $3 AND idempotency_key IS NOT NULL
    AND (status = 'running' OR created_at > now()
      - interval '${idempotencyMs} milliseconds')`;

/** The generation that an account's key names on a route; null when the key is free. */
export async function findGenerationByKey(
  sql: Queryable,
  accountId: string,
  route: string,
  idempotencyKey: string,
): Promise<Generation | null> {
  const parameters = [accountId, route, idempotencyKey];
  const [row] = await sql.unsafe<Row[]>(byKeyText, parameters, { prepare: true });
  return row === undefined ? null : readGeneration(row);
}

const byAnyKeyText = `SELECT ${columns} FROM generations
  WHERE account_id = $1 AND idempotency_key = $2 AND idempotency_key IS NOT NULL
  ORDER BY id DESC LIMIT 1`;

/** The newest generation that an account's key names, on whichever route. */
export async function findGenerationByAnyKey(
  sql: Queryable,
  accountId: string,
  idempotencyKey: string,
): Promise<Generation | null> {
  const parameters = [accountId, idempotencyKey];
  const [row] = await sql.unsafe<Row[]>(byAnyKeyText, parameters, { prepare: true });
  return row === undefined ? null : readGeneration(row);
}

const byIdText = `SELECT ${columns} FROM generations WHERE id = $1 AND account_id = $2`;

/** One generation of the account; null also when it is another account's. */
export async function findGeneration(
  sql: Queryable,
  accountId: string,
  generationId: string,
): Promise<Generation | null> {
  const parameters = [generationId, accountId];
  const [row] = await sql.unsafe<Row[]>(byIdText, parameters, { prepare: true });
  return row === undefined ? null : readGeneration(row);
}

/** Another name than that of the sweep that only freed keys: it begins anew. */
const SWEEP = 'finished_generations';

/**
 * Frees the idempotency keys of finished generations with ids up to `untilId` (ids are ordered by
 * time) and removes their answers, but what a stored response still shows; at most `limit` at once.
 * Remembers how far it came, so that no row is looked at twice. Returns how many it looked at:
 * fewer than `limit` means that it is done.
 */
export async function sweepGenerations(
  sql: Queryable,
  untilId: string,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ looked: bigint }[]>`
    WITH start AS (
      SELECT coalesce((SELECT position FROM sweep_positions WHERE name = ${SWEEP}), '') AS id),
    page AS MATERIALIZED (
      SELECT g.id, EXISTS (SELECT FROM responses r
          WHERE r.generation_id = g.id AND r.deleted_at IS NULL) AS shown
      FROM generations g, start s
      WHERE g.id > s.id AND g.id <= ${untilId} ORDER BY g.id LIMIT ${limit}),
    swept AS (
      UPDATE generations g
      SET idempotency_key = NULL, answer = CASE WHEN p.shown THEN g.answer END
      FROM page p
      WHERE g.id = p.id AND g.status <> 'running'
        AND (g.idempotency_key IS NOT NULL OR (g.answer IS NOT NULL AND NOT p.shown))),
    moved AS (
      INSERT INTO sweep_positions (name, position)
      SELECT ${SWEEP}, max(id) FROM page HAVING max(id) IS NOT NULL
      ON CONFLICT (name) DO UPDATE SET position = excluded.position)
    SELECT count(*) AS looked FROM page`;
  return Number(row?.looked ?? 0n);
}

/** A generation that begins with its hold; `freesKeyOf` had its key and may be run again. */
export interface ClaimRow {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  route: string;
  idempotencyKey: string | null;
  fingerprint: string;
  model: string;
  instanceId: string;
  holdId: string;
}

export interface FinishRow {
  id: string;
  status: 'completed' | 'incomplete' | 'failed' | 'cancelled';
  answerJson: string | null;
  usageJson: string | null;
  problemJson: string | null;
  /** `svc_routing`; null: the model was not chosen by us. */
  routingJson: string | null;
  chargeMicros: bigint | null;
  /** A settlement after a release: may give a failed generation its charge and answer. */
  late: boolean;
}

/** A generation that loses its key: for its age, or while it is one that failed uncharged. */
export interface FreedKey {
  generationId: string;
  old: boolean;
}

const routingColumn: Column<FinishRow> = ['routing', 'jsonb', (finish) => finish.routingJson];

/**
 * Ends of generations. Those with a routing receipt are a part of their own: the others, which are
 * most, carry no column for it.
 */
function finishPart(isRouted: boolean): Part {
  const isOfPart = (finish: FinishRow) => (finish.routingJson !== null) === isRouted;
  return definePart<FinishRow>({
    name: isRouted ? 'routed_finishes' : 'finishes',
    isCounted: true,
    rows: (write) => {
      const finishes = ownedRows<FinishRow>(write, 'finishes');
      return finishes.every(isOfPart) ? finishes : finishes.filter(isOfPart);
    },
    columns: [
      ['id', 'text', (finish) => finish.id],
      ['status', 'text', (finish) => finish.status],
      ['answer', 'text', (finish) => finish.answerJson],
      ['usage', 'jsonb', (finish) => finish.usageJson],
      ['problem', 'text', (finish) => finish.problemJson],
      ['charge_micros', 'bigint', (finish) => finish.chargeMicros],
      ['late', 'boolean', (finish) => finish.late],
      ...(isRouted ? [routingColumn] : []),
    ],
    text: (rows) => `UPDATE generations g SET status = r.status, answer = r.answer,
        usage = r.usage, problem = r.problem, charge_micros = r.charge_micros,
        ${isRouted ? 'routing = r.routing,' : ''} finished_at = now()
      FROM ${rows} WHERE ${ownedRow('g')} AND (g.status = 'running'
        OR (r.late AND g.status = 'failed' AND g.charge_micros IS NULL))`,
  });
}

/** The parts of the ledger's statement that free keys, make generations, and end them. */
const parts: readonly Part[] = [
  definePart<FreedKey>({
    name: 'freed_keys',
    rows: (write) => ownedRows(write, 'freed_keys'),
    columns: [
      ['id', 'text', (freed) => freed.generationId],
      ['old', 'boolean', (freed) => freed.old],
    ],
    // Judged again: it may have been settled late since it was looked at.
    text: (rows) => `UPDATE generations g SET idempotency_key = NULL FROM ${rows}
      WHERE ${lookedUp('g.id', 'r.id')}
        AND (${failedUnchargedText} OR (r.old AND g.status <> 'running')) RETURNING 1`,
  }),
  definePart<ClaimRow>({
    name: 'claims',
    after: 'freed_keys',
    rows: (write) => ownedRows(write, 'claims'),
    columns: [
      ['id', 'text', (claim) => claim.id],
      ['account_id', 'text', (claim) => claim.accountId],
      ['api_key_id', 'text', (claim) => claim.apiKeyId],
      ['route', 'text', (claim) => claim.route],
      ['idempotency_key', 'text', (claim) => claim.idempotencyKey],
      ['fingerprint', 'text', (claim) => claim.fingerprint],
      ['model', 'text', (claim) => claim.model],
      ['instance_id', 'text', (claim) => claim.instanceId],
      ['hold_id', 'text', (claim) => claim.holdId],
    ],
    text: (rows) => `INSERT INTO generations (id, account_id, wallet_id, api_key_id, route,
        idempotency_key, fingerprint, model, instance_id, hold_id)
      SELECT r.id, r.account_id, r.wallet_id, r.api_key_id, r.route, r.idempotency_key,
        r.fingerprint, r.model, r.instance_id, r.hold_id FROM ${rows}`,
  }),
  finishPart(false),
  finishPart(true),
  latePart('finishes'),
];

/** Generations as holders of funds. */
export const generationRows: HolderRows = {
  kind: 'generation',
  idPrefix: 'req',
  outlivesProcess: false,
  parts,
  table: 'generations',
  alias: 'g',
  state: 'status',
  live: ['running'],
  charged: 'charge_micros IS NOT NULL',
  isKeyed: true,
  leftColumns: [],
};

/** What is stored of a speech. A build before the blob store has named a plain file. */
const speechFile = `CASE WHEN g.route = '/v1/audio/speech' THEN g.answer::json ->> 'file' END`;

/**
 * Speech that is kept for the owner of its key. An object has the digits of its request's id, so
 * its row is looked up. Up to where the sweep has come, answers have left their rows.
 */
export const speechBlobs: BlobNamer = {
  noun: 'speech',
  named: `SELECT b.id AS blob_id FROM unnest($1::text[]) AS b (id)
    JOIN generations g ON ${lookedUp('g.id', "'req_' || right(b.id, 24)")}
    WHERE g.answer IS NOT NULL AND ${speechFile} = b.id`,
  rows: `SELECT * FROM (
      SELECT g.id AS row_id, ${speechFile} AS blob_id,
        (g.answer::json ->> 'bytes')::bigint AS bytes, NULL::text AS sha256
      FROM generations g
      WHERE g.id > $1 AND g.route = '/v1/audio/speech' AND g.answer IS NOT NULL
        AND g.id > coalesce((SELECT position FROM sweep_positions WHERE name = '${SWEEP}'), '')
      ) s
    WHERE blob_id LIKE 'blob\\_%' ORDER BY row_id LIMIT $2`,
};
