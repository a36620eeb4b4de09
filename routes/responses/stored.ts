// A stored response as its account reads it again. What failed before anything was delivered was
// told by a status: nobody has an id of it, and there is no response.
import { storedEnd } from '../../actors/generation/stored-end.ts';
import type { GenerationEnd } from '../../actors/subscriber/protocol.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { failedUncharged, findGeneration, type Generation } from '../../db/generations.ts';
import { findResponse } from '../../db/responses.ts';
import type { WalletType } from '../../db/wallets.ts';
import { emptyAnswer } from '../../media/model/answer.ts';
import type { ReplyIdentity, SvcUsage } from '../../media/model/dialects/contract.ts';
import { responsesDialect } from '../../media/model/dialects/responses/dialect.ts';
import { requestIdOf } from '../../media/model/dialects/responses/ids.ts';
import { responseObject, statusOf } from '../../media/model/dialects/responses/response.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import { tokenUsage } from '../../media/model/dialects/responses/usage.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { timeOfId } from '../../runtime/ids.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import type { KeyCaller, Services } from '../services.ts';

export interface Stored {
  generation: Generation;
  walletType: WalletType;
  background: boolean;
  /** The request as far as replies repeat it: of its input what declares tools. */
  request: GenerationRequest;
}

/**
 * The caller's response.
 * @param include what it shows beyond what the request asked to be included
 * @throws Problem not_found
 */
export async function requireResponse(
  services: Pick<Services, 'sql'>,
  { accountId }: KeyCaller,
  id: string,
  include: readonly string[] = [],
): Promise<Stored> {
  const generationId = requestIdOf(id);
  if (generationId === null) throw notFound();
  const [response, generation] = await withDeadline(
    Promise.all([
      findResponse(services.sql, accountId, generationId),
      findGeneration(services.sql, accountId, generationId),
    ]),
  );
  if (response === null || generation === null) throw notFound();
  const { background, walletType } = response;
  if (!background && failedUncharged(generation)) throw notFound();
  const body = JSON.parse(response.requestJson) as ResponsesRequestBody;
  const included = include.length === 0 ? {} : { include: [...(body.include ?? []), ...include] };
  const { input = [] } = body;
  const request = responsesDialect.readRequest({ ...body, ...included, input }, {});
  return { generation, walletType, background, request };
}

/** The response object as it stands now. */
export function storedBody(
  services: Pick<Services, 'catalog' | 'seals'>,
  stored: Stored,
): Record<string, unknown> {
  const { generation, walletType, request } = stored;
  const identity = identityOf(generation);
  const options = { request, seals: services.seals(generation.accountId) };
  if (generation.status === 'running') {
    return responseObject(identity, options, emptyAnswer(), null, 'in_progress');
  }
  const end = readEnd(services, generation, walletType);
  if (end.status === 'duplicate') throw notFound();
  const { answer } = end;
  if (end.status === 'failed') {
    const { svcUsage, svcRouting } = end;
    const receipt =
      svcUsage === null ? null : { usage: tokenUsage(svcUsage), svcUsage, svcRouting };
    return responseObject(identity, options, answer, receipt, 'failed', toProblem(end.problem));
  }
  const status = end.status === 'cancelled' ? 'cancelled' : statusOf(answer);
  return responseObject(identity, options, answer, end.receipt, status);
}

type Models = Pick<Services, 'catalog'>;

/** How a response ended; who was told that nothing is charged is told so again. */
export function readEnd({ catalog }: Models, row: Generation, payer: WalletType): GenerationEnd {
  const end = storedEnd(row, false);
  if (end.status !== 'failed' || end.svcUsage !== null) return end;
  const simulated = catalog.current().models.get(row.model)?.simulated ?? false;
  return { ...end, svcUsage: freeUsage(row, payer, simulated) };
}

function freeUsage(row: Generation, walletType: WalletType, simulated: boolean): SvcUsage {
  return {
    request_id: row.id,
    model: row.model,
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    search_calls: 0,
    charge_microcredits: 0,
    wallet_type: walletType,
    source: 'none',
    credits_exhausted: false,
    replayed: false,
    simulated,
  };
}

/** What stands on every reply of it. */
export function identityOf({ id, model }: Generation): ReplyIdentity {
  return { requestId: id, model, createdAt: Math.floor(timeOfId(id) / 1_000) };
}

/** The 404 of every route that takes a response's id. */
export function notFound(): Problem {
  const message = 'There is no stored response with this id.';
  return new Problem('not_found', { message, param: 'response_id' });
}
