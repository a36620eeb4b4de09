// What every generation route says of a generation that it wants: who asks, under which idempotency
// key, and what tells a retry from another request.
import type { Catalog } from '../../actors/catalog/current.ts';
import type { GenerationWanted } from '../../actors/generation/start.ts';
import { rulesIn } from '../../actors/organization/rules.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { isLongRequest } from '../../media/model/tokens.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { payerOf } from '../payer.ts';
import type { KeyCaller, Services } from '../services.ts';
import { fingerprint, fingerprintInTurns, idempotencyKeyOf } from './idempotency.ts';
import { logRetry } from './retries.ts';

export interface WantedInput {
  request: GenerationRequest;
  body: Record<string, unknown>;
  caller: KeyCaller;
  services: Pick<Services, 'log'>;
  exchange: Exchange;
  /** The canonical path: aliases are one route. */
  route: string;
  /** Its answer can be read and continued. */
  stored?: boolean;
  /** Runs to its end whoever listens. */
  background?: boolean;
}

/**
 * What `startGeneration` is to be given.
 * @throws Problem invalid_request when the idempotency keys differ, policy_blocked when the key may
 * not use the model
 */
export async function wantedBy(input: WantedInput): Promise<GenerationWanted> {
  const { request, body, caller, exchange } = input;
  requireAllowed(caller, request.model);
  logRetry(input);
  const idempotencyKey = idempotencyKeyOf(exchange, body);
  const { accountId, walletId, fallbackWalletId, apiKeyId } = payerOf(caller);
  return {
    exchangeId: exchange.requestId,
    accountId,
    walletId,
    fallbackWalletId,
    apiKeyId,
    route: input.route,
    idempotencyKey,
    fingerprint: idempotencyKey === null ? '' : await fingerprintOf(input),
    request,
    rules: rulesIn(caller.organization),
    stored: input.stored === true,
    background: input.background === true,
    storeRequest: null,
    takePermit: () => caller.permit.take(),
  };
}

function fingerprintOf({ request, body }: WantedInput): string | Promise<string> {
  return isLongRequest(request) ? fingerprintInTurns(body) : fingerprint(body);
}

/** Whether the alias is a managed route: its replies have a receipt. */
export function isManaged(catalog: Catalog, { model }: GenerationRequest): boolean {
  return catalog.routes.has(model);
}
