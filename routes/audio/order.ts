// What both audio routes do before they open anything: the model and its routes, the idempotency
// key, who pays.
import type { AudioOrder } from '../../actors/audio/open.ts';
import type { AudioWork } from '../../actors/audio/spec.ts';
import { requireDetachedCapacity } from '../../actors/billed-request/opening.ts';
import type { Catalog } from '../../actors/catalog/current.ts';
import type { CatalogModel } from '../../actors/catalog/model.ts';
import { requireKind, unknownModel } from '../../actors/catalog/use.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import { fingerprint, idempotencyKeyOf } from '../generations/idempotency.ts';
import { logRetry } from '../generations/retries.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { payerOf } from '../payer.ts';
import type { KeyCaller, Services } from '../services.ts';

/** @throws Problem model_not_found, policy_blocked */
export function requireModel(
  catalog: Catalog,
  caller: KeyCaller,
  alias: string,
  kind: AudioWork['kind'],
): CatalogModel {
  requireAllowed(caller, alias);
  const model = catalog.models.get(alias);
  if (model === undefined) throw unknownModel(catalog, alias, kind);
  requireKind(model, kind);
  return model;
}

export interface AudioOrderInput {
  model: CatalogModel;
  work: AudioWork;
  /** What tells a retry from another request. */
  asked: Record<string, unknown>;
  /** The canonical path: aliases are one route. */
  route: string;
  caller: KeyCaller;
  services: Pick<Services, 'audio' | 'log'>;
  exchange: Exchange;
}

/** @throws Problem invalid_request */
export function orderAudio(input: AudioOrderInput): AudioOrder {
  const { model, work, asked, route, caller, services, exchange } = input;
  const { accountId, permit } = caller;
  const idempotencyKey = idempotencyKeyOf(exchange, {});
  logRetry({ exchange, caller, services, route });
  return {
    exchangeId: exchange.requestId,
    ...payerOf(caller),
    route,
    idempotencyKey,
    fingerprint: idempotencyKey === null ? '' : fingerprint(asked),
    plan() {
      requireDetachedCapacity(services.audio, accountId);
      const targets = services.audio.health.order(model.targets, Date.now());
      if (targets.length === 0) throw new Problem('no_route_available');
      return { model, targets, work };
    },
    takePermit: () => permit.take(),
  };
}
