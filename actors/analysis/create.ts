// Makes an analysis: who repeats a key gets what it names. Nothing is held, but whoever could not
// pay for the least of it is refused, and so is a model that sees nothing.
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { findGeneratedVideo } from '../../db/generated-videos.ts';
import { idempotencyMs } from '../../db/generations.ts';
import {
  type AnalysisBounds,
  createVideoAnalysis,
  findAnalysisRoom,
  type NewVideoAnalysis,
  type VideoAnalysis,
} from '../../db/video-analyses.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { ModelRules } from '../catalog/ruled/rules.ts';
import { requireLeastHold } from '../generation/least-hold.ts';
import { planRequest } from '../generation/plan/plan-request.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { AnalysisLimits } from './limits.ts';
import type { AnalysisMetrics } from './metrics.ts';
import { analysisRequest } from './request.ts';
import { readSource } from './source.ts';

export interface AnalysisCreation {
  sql: Sql;
  /** The shard's. */
  node: number;
  /** Where this service is reached. */
  baseUrl: string;
  generations(): GenerationServices;
  limits: AnalysisLimits;
  enqueue(id: string): void;
  metrics: AnalysisMetrics;
}

/** A request as its route has read it. `requestId` null: one is made. */
export type AnalysisOrder = Omit<NewVideoAnalysis, 'id' | 'videoId' | 'requestId'> & {
  requestId: string | null;
  /** What the organization forbids; null: nothing. */
  rules: ModelRules | null;
};

export interface MadeAnalysis {
  analysis: VideoAnalysis;
  /** False: its key had named it before. */
  isNew: boolean;
}

/** The least that a picture can be: its bytes are not looked at to estimate it. */
const leastPicture = { seconds: 0, url: 'data:image/jpeg;base64,/9j/2Q==' };

/**
 * Makes an analysis, or finds the one that the key names.
 * @throws Problem invalid_request, idempotency_key_reused, not_found, model_not_found,
 * policy_blocked, no_route_available, overloaded, concurrency_limited, insufficient_credits
 */
export async function createAnalysis(
  creation: AnalysisCreation,
  order: AnalysisOrder,
): Promise<MadeAnalysis> {
  const { sql, node, limits } = creation;
  const source = readSource(order.sourceUrl, creation.baseUrl);
  if (source === null) {
    const message = 'A source is an http or https URL, or the `url` of a generated video.';
    throw new Problem('invalid_request', { message, param: 'source_url' });
  }
  const { rules, ...members } = order;
  const asked: NewVideoAnalysis = {
    ...members,
    id: newId('va', node),
    requestId: order.requestId ?? newId('req', node),
    videoId: source.kind === 'url' ? null : source.videoId,
  };
  const bounds: AnalysisBounds = {
    openMax: limits.openMax,
    queuedMax: limits.queuedMax,
    keyKeptMs: idempotencyMs,
  };
  const room = await withDeadline(findAnalysisRoom(sql, asked, bounds));
  if (room.status === 'found') return repeated(room.analysis, order);
  const inputTokens = await plan(creation, asked, rules);
  await requireOwnVideo(sql, asked);
  if (room.status !== 'free') throw refusal(room.status, limits);
  const { model } = asked;
  const least = { model, outputTokensMax: null };
  await requireLeastHold(creation.generations(), asked, least, inputTokens);
  const made = await withDeadline(createVideoAnalysis(sql, asked, bounds));
  if (made.status === 'found') return repeated(made.analysis, order);
  if (made.status !== 'made') throw refusal(made.status, limits);
  creation.metrics.created();
  creation.enqueue(asked.id);
  return { analysis: made.analysis, isNew: true };
}

/** @throws Problem idempotency_key_reused */
function repeated(analysis: VideoAnalysis, order: AnalysisOrder): MadeAnalysis {
  if (analysis.fingerprint !== order.fingerprint) {
    throw new Problem('idempotency_key_reused', { param: 'idempotency-key' });
  }
  return { analysis, isNew: false };
}

function refusal(status: 'full' | 'too_many' | 'free', { openMax }: AnalysisLimits): Problem {
  if (status === 'full') return new Problem('overloaded', { headers: { 'retry-after': '30' } });
  return new Problem('concurrency_limited', {
    message: `${openMax} analyses of this account are not over.`,
    headers: { 'retry-after': '10' },
  });
}

/**
 * Plans the request as it will be, with pictures that are none yet. Returns what its input is taken
 * for.
 * @throws Problem model_not_found, invalid_request, input_too_long, policy_blocked,
 * no_route_available
 */
async function plan(
  creation: AnalysisCreation,
  asked: NewVideoAnalysis,
  rules: ModelRules | null,
): Promise<number> {
  const { model, prompt, accountId, walletId, fallbackWalletId, apiKeyId, framesMax } = asked;
  const frames = Array.from({ length: framesMax }, () => leastPicture);
  const question = { model, prompt, startSeconds: 0, endSeconds: 0, frames };
  const request = analysisRequest(question, null);
  try {
    const wanted = { request, rules, accountId, walletId, fallbackWalletId, apiKeyId };
    return (await planRequest(creation.generations(), wanted)).inputTokensEstimate;
  } catch (error) {
    throw error instanceof Problem ? ofMember(error) : error;
  }
}

/** Planning names members of a conversation, which this request has not. */
function ofMember(problem: Problem): Problem {
  const { code, message, headers } = problem;
  if (code === 'invalid_request') {
    const text = 'The model cannot describe frames of a video.';
    return new Problem(code, { message: text, param: 'model' });
  }
  if (code === 'input_too_long' || code === 'context_length_exceeded') {
    const text = 'Prompt and frames do not fit into the context of the model.';
    return new Problem('input_too_long', { message: text, param: 'max_frames' });
  }
  return code === 'model_not_found'
    ? new Problem(code, { message, headers, param: 'model' })
    : problem;
}

/** @throws Problem not_found */
async function requireOwnVideo(
  sql: Sql,
  { accountId, videoId }: Pick<NewVideoAnalysis, 'accountId' | 'videoId'>,
): Promise<void> {
  if (videoId === null) return;
  const video = await withDeadline(findGeneratedVideo(sql, accountId, videoId));
  if (video === null) throw new Problem('not_found', { param: 'source_url' });
}
