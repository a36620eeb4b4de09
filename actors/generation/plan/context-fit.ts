// Whether a request fits its model: by the cheap estimate, and by a count where that says no.
import type { GenerationRequest } from '../../../media/model/request.ts';
import { inputText } from '../../../media/model/tokens.ts';
import { tooLong, tooLongCode } from '../../../media/model/too-long.ts';
import { Problem } from '../../../runtime/problem.ts';
import { countTexts } from '../../tasks/counting.ts';
import type { GenerationPlan } from './planning.ts';
import type { PlanServices, PoolClient } from './services.ts';

type FitServices = Pick<PlanServices, 'catalog' | 'tasks' | 'limits'>;

/** Tokenizers differ: what is this much over the window by ours is over it by every one. */
const windowTolerance = 1.1;

/**
 * The plan by the cheap estimate; where that is too much for every candidate, by the tokenizer's
 * count, so that nobody is refused for a guess.
 * @throws Problem context_length_exceeded, input_too_long, insufficient_credits, and what
 * `planWith` throws
 */
export async function planThatFits(
  request: GenerationRequest,
  inputTokens: number,
  planWith: (inputTokens: number) => GenerationPlan,
  client: PoolClient,
  services: FitServices,
): Promise<GenerationPlan> {
  let plan: GenerationPlan | null = null;
  try {
    plan = planWith(inputTokens);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'input_too_long') throw error;
  }
  const window = plan === null ? 0 : widest(plan);
  if (plan !== null && inputTokens <= window) return plan;
  const tokens = await countInput(request, client, services);
  if (plan === null) {
    if (tokens === null || tokens >= inputTokens)
      throw refusal(request, tokens ?? inputTokens, services);
    return replanned(request, tokens, planWith, services);
  }
  if (tokens === null || tokens <= window * windowTolerance) return plan;
  throw refusal(request, tokens, services);
}

function replanned(
  request: GenerationRequest,
  tokens: number,
  planWith: (inputTokens: number) => GenerationPlan,
  services: FitServices,
): GenerationPlan {
  try {
    return planWith(tokens);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'input_too_long') throw error;
    throw refusal(request, tokens, services);
  }
}

function widest({ candidates }: GenerationPlan): number {
  return candidates.reduce((most, { model }) => Math.max(most, model.contextWindow), 0);
}

function refusal(request: GenerationRequest, tokens: number, services: FitServices): Problem {
  const catalog = services.catalog();
  const exact = catalog.models.get(request.model);
  const pool = catalog.routes.get(request.model)?.pool.map(({ model }) => model) ?? [];
  const runnable = pool.filter(({ targets }) => targets.length > 0);
  const models = exact === undefined ? runnable : [exact];
  // The last provider was disabled while we counted.
  if (models.length === 0) return new Problem('no_route_available');
  const windows = models.map((model) => model.contextWindow);
  const contextWindow = Math.max(...windows);
  const code = tooLongCode(request) ?? 'input_too_long';
  return new Problem(code, tooLong(request, { tokens, contextWindow }));
}

/** By the tokenizer, on the pool; null: it could not be counted. */
async function countInput(
  request: GenerationRequest,
  { accountId, requireFunds }: PoolClient,
  services: FitServices,
): Promise<number | null> {
  await requireFunds();
  const { taskTimeoutMs } = services.limits.work;
  const counts = await countTexts(services.tasks(), accountId, [inputText(request)], taskTimeoutMs);
  return counts?.[0] ?? null;
}
