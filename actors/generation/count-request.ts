// The input tokens of a request that is only counted, for the free routes of two formats.
import type { GenerationRequest } from '../../media/model/request.ts';
import { type ModelRules, underRules } from '../catalog/ruled/rules.ts';
import { requireKind, unknownModel } from '../catalog/use.ts';
import type { CountInput, InputCount } from './counting.ts';
import { optimized } from './plan/prepare.ts';
import type { PlanServices } from './plan/services.ts';

/**
 * What a generation would send to the model, or to the first one of a managed route's pool.
 * @throws Problem model_not_found, policy_blocked
 */
export async function countGeneration(
  accountId: string,
  request: GenerationRequest,
  rules: ModelRules | null,
  given: Pick<PlanServices, 'catalog' | 'tasks' | 'limits'> & { countInput: CountInput },
): Promise<InputCount> {
  const services = underRules(given, [rules]);
  const catalog = services.catalog();
  const { models, routes } = catalog;
  const managed = routes.get(request.model);
  const model = models.get(request.model) ?? managed?.pool[0]?.model;
  if (model === undefined) throw unknownModel(catalog, request.model, 'generation');
  requireKind(managed ?? model, 'generation');
  const client = { accountId, requireFunds: async () => {} };
  const asked = await optimized(request, client, managed, services);
  return await services.countInput(accountId, model, asked);
}
