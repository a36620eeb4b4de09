// The least that a request may hold, before it is decided who answers it. The wallet is asked for
// it before what is dear is done for the request.
import type { GenerationRequest } from '../../media/model/request.ts';
import { noUsage } from '../../media/model/usage.ts';
import { type LookedAt, type LookServices, requireFunds } from '../billed-request/funds-look.ts';
import type { Catalog } from '../catalog/current.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Limits } from '../limits.ts';
import { charge } from '../wallet/price.ts';

export type FundsServices = LookServices & {
  catalog(): Pick<Catalog, 'models' | 'routes'>;
  limits: Pick<Limits, 'ledger' | 'generation'>;
};

/** Whom a request asks, and for how much output. */
export type Asked = Pick<GenerationRequest, 'model' | 'outputTokensMax'>;

/**
 * Asks the wallet for the least that a generation may hold.
 * @param inputTokens estimated; 0 where the input is not known yet
 * @throws Problem insufficient_credits, spend_limit_exceeded, policy_blocked, forbidden
 */
export function requireLeastHold(
  services: FundsServices,
  payer: LookedAt,
  asked: Asked,
  inputTokens: number,
): Promise<void> {
  const { models, routes } = services.catalog();
  const named = models.get(asked.model);
  const pool = routes.get(asked.model)?.pool.map(({ model }) => model) ?? [];
  const { sliceTokens } = services.limits.generation;
  const able = named === undefined ? pool : [named];
  return requireFunds(services, payer, leastHold(able, asked, inputTokens, sliceTokens));
}

/** The plain input and the first slice of output, at the cheapest of the models. */
function leastHold(
  models: readonly CatalogModel[],
  { outputTokensMax }: Asked,
  inputTokens: number,
  sliceTokens: number,
): bigint {
  let least: bigint | null = null;
  for (const { card, outputTokensMax: modelMax } of models) {
    const outputTokens = Math.min(outputTokensMax ?? modelMax, modelMax, sliceTokens);
    const { chargeMicros } = charge(card, { ...noUsage(), inputTokens, outputTokens });
    if (least === null || chargeMicros < least) least = chargeMicros;
  }
  return least ?? 0n;
}
