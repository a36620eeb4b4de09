// The one entry for whoever wants a generation: a route or another actor. A new one is planned
// here; a known idempotency key attaches to its generation or replays it.
import type { GenerationRequest } from '../../media/model/request.ts';
import type { GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import { requireDetachedCapacity } from '../billed-request/opening.ts';
import type { CountInput } from './counting.ts';
import { requirePaying } from './giveaways.ts';
import {
  type GenerationOrder,
  type MakeSink,
  type Opened,
  type OpenServices,
  openGeneration,
} from './open.ts';
import { planRequest } from './plan/plan-request.ts';
import type { PlanServices } from './plan/services.ts';

/** What generations are given by their shard. */
export interface GenerationServices extends OpenServices, PlanServices {
  giveaways: GiveawayLimiter;
  /** Input tokens of a request, free of charge. */
  countInput: CountInput;
}

/** What is wanted, and by whom. */
export interface GenerationWanted extends Omit<GenerationOrder, 'alias' | 'keepsAnswer' | 'plan'> {
  request: GenerationRequest;
  /** Its answer can be read and continued. */
  stored: boolean;
}

/**
 * Plans and opens a generation, and waits until its reply can begin.
 * @throws Problem model_not_found, invalid_request, input_too_long, no_route_available, overloaded,
 * concurrency_limited, rate_limited, idempotency_key_reused, conflict, policy_blocked
 */
export function startGeneration(
  services: GenerationServices,
  wanted: GenerationWanted,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened> {
  const { idempotencyKey, request, stored } = wanted;
  const order: GenerationOrder = {
    exchangeId: wanted.exchangeId,
    accountId: wanted.accountId,
    walletId: wanted.walletId,
    apiKeyId: wanted.apiKeyId,
    route: wanted.route,
    idempotencyKey,
    fingerprint: wanted.fingerprint,
    keepsAnswer: idempotencyKey !== null || stored,
    background: wanted.background,
    storeRequest: wanted.storeRequest,
    alias: request.model,
    plan() {
      requireDetachedCapacity(services, wanted.accountId);
      requirePaying(services, wanted.apiKeyId);
      return planRequest(services, wanted);
    },
    takePermit: wanted.takePermit,
  };
  return openGeneration(services, order, makeSink, onAbort);
}
