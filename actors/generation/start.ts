// The one entry for whoever wants a generation: a route or another actor. A new one is planned
// here; a known idempotency key attaches to its generation or replays it.
import type { GenerationRequest } from '../../media/model/request.ts';
import type { GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import { requireDetachedCapacity } from '../billed-request/opening.ts';
import type { ModelRules } from '../catalog/ruled/rules.ts';
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
  /** What the organization forbids; null: nothing. */
  rules: ModelRules | null;
}

/** The same of an actor whose request takes long to make. */
export interface GenerationPrepared extends Omit<GenerationWanted, 'request' | 'stored' | 'rules'> {
  idempotencyKey: string;
  /** The public alias. */
  alias: string;
  /** Called only if nothing that ran or was charged is under the key. */
  prepare(): Promise<Pick<GenerationWanted, 'request' | 'rules'>>;
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
  const order = orderOf(wanted, request.model, idempotencyKey !== null || stored, () => {
    requireRoom(services, wanted);
    return planRequest(services, wanted);
  });
  return openGeneration(services, order, makeSink, onAbort);
}

/**
 * The same, with a request that is made only where there is none to attach to or to replay.
 * @throws Problem as `startGeneration` does
 */
export function startPrepared(
  services: GenerationServices,
  wanted: GenerationPrepared,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened> {
  const { accountId, walletId, fallbackWalletId, apiKeyId } = wanted;
  const order = orderOf(wanted, wanted.alias, true, async () => {
    requireRoom(services, wanted);
    const { request, rules } = await wanted.prepare();
    return planRequest(services, {
      request,
      rules,
      accountId,
      walletId,
      fallbackWalletId,
      apiKeyId,
    });
  });
  return openGeneration(services, order, makeSink, onAbort);
}

type Asking = Omit<GenerationWanted, 'request' | 'stored' | 'rules'>;

function orderOf(
  wanted: Asking,
  alias: string,
  keepsAnswer: boolean,
  plan: GenerationOrder['plan'],
): GenerationOrder {
  return {
    exchangeId: wanted.exchangeId,
    accountId: wanted.accountId,
    walletId: wanted.walletId,
    fallbackWalletId: wanted.fallbackWalletId,
    apiKeyId: wanted.apiKeyId,
    route: wanted.route,
    idempotencyKey: wanted.idempotencyKey,
    fingerprint: wanted.fingerprint,
    keepsAnswer,
    background: wanted.background,
    storeRequest: wanted.storeRequest,
    alias,
    plan,
    takePermit: wanted.takePermit,
  };
}

function requireRoom(
  services: GenerationServices,
  { accountId, apiKeyId }: Pick<Asking, 'accountId' | 'apiKeyId'>,
): void {
  requireDetachedCapacity(services, accountId);
  requirePaying(services, apiKeyId);
}
