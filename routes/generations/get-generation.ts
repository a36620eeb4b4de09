// GET /v1/generations/{request_id}: state, usage and receipt of one generation of the account.
import * as v from 'valibot';
import { type StoredUsage, toldUsage } from '../../actors/billed-request/usage.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findGeneration, findGenerationByAnyKey, type Generation } from '../../db/generations.ts';
import type { SvcRouting } from '../../media/model/dialects/contract.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { isId } from '../../runtime/ids.ts';
import { type PlainProblem, Problem, problemCodes } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import type { KeyCaller, Services } from '../services.ts';
import { generationSchema } from './schema.ts';

export const generationParams = v.object({ request_id: v.pipe(v.string(), maxCharacters(255)) });

export const getGeneration = defineRoute({
  method: 'GET',
  path: '/v1/generations/{request_id}',
  aliases: ['/api/v1/generations/{request_id}'],
  operationId: 'getGeneration',
  summary: 'Read the state of a generation',
  description:
    'By our `req_` id, or by the idempotency key of the request: the newest generation of the ' +
    'account that was made with it.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true },
  cors: 'public',
  params: generationParams,
  replies: { 200: { description: 'The generation.', schema: generationSchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const row = await requireGeneration(services, caller, params.request_id);
    const headers = { 'cache-control': 'no-store' };
    return { status: 200, headers, json: generationBody(row) };
  },
});

/** The caller's generation by id or key. @throws Problem not_found */
export async function requireGeneration(
  { sql }: Pick<Services, 'sql'>,
  { accountId }: KeyCaller,
  idOrKey: string,
): Promise<Generation> {
  const isLikeId = isId(idOrKey, 'req');
  const byId = isLikeId ? await withDeadline(findGeneration(sql, accountId, idOrKey)) : null;
  // Keys are the callers' own: one may look like an id of ours.
  const row = byId ?? (await withDeadline(findGenerationByAnyKey(sql, accountId, idOrKey)));
  if (row === null) throw new Problem('not_found', { param: 'request_id' });
  return row;
}

/** The public form of a generation. */
export function generationBody(row: Generation): v.InferOutput<typeof generationSchema> {
  const problem =
    row.problemJson === null ? null : (JSON.parse(row.problemJson) as PlainProblem | null);
  return {
    id: row.id,
    object: 'generation',
    status: row.status,
    model: row.model,
    idempotency_key: row.idempotencyKey,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    error: problem === null ? null : problemBody(problem),
    svc_usage: row.usageJson === null ? null : toldUsage(JSON.parse(row.usageJson) as StoredUsage),
    svc_routing: row.routingJson === null ? null : (JSON.parse(row.routingJson) as SvcRouting),
  };
}

/** What recovery stored is a code alone. */
function problemBody({ code, message }: PlainProblem): { code: string; message: string } {
  return { code, message: message ?? problemCodes[code].message };
}
