// A query from its body to its reply, for every route that takes one: read, then opened as an order
// of whoever calls.

import { rulesIn } from '../../actors/organization/rules.ts';
import type { QueryOpened, QueryOrder } from '../../actors/query/open.ts';
import { openQuery } from '../../actors/query/open.ts';
import { planQuery, type QueryAsked } from '../../actors/query/plan.ts';
import { readQuery } from '../../media/search/parameters.ts';
import type { SurfaceName } from '../../media/search/surfaces.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { catalogOf } from '../callers-catalog.ts';
import { fingerprint, idempotencyKeyOf } from '../generations/idempotency.ts';
import { logRetry } from '../generations/retries.ts';
import { payerOf } from '../payer.ts';
import type { AccountCaller, Services } from '../services.ts';

/** The canonical path: whatever takes a query, its key is one of this route. */
export const queryRoute = '/api/v1/query';

/** A body that has the members of the schema; whatever else is in it is a parameter. */
export interface QueryBody extends Record<string, unknown> {
  surface: SurfaceName;
  query: string;
  params?: Record<string, unknown> | undefined;
  request_id?: string | undefined;
  max_age_seconds?: number | undefined;
}

export interface QueryInput {
  body: QueryBody;
  caller: AccountCaller;
  services: Pick<Services, 'query' | 'catalog' | 'log'>;
  exchange: Exchange;
}

/** @throws Problem invalid_request, and what `openQuery` throws */
export async function askQuery(input: QueryInput): Promise<QueryOpened> {
  const { body, caller, services, exchange } = input;
  const { accountId, organization, permit } = caller;
  const idempotencyKey = idempotencyKeyOf(exchange, body);
  const asked = { ...readBody(body), accountId, rules: rulesIn(organization) };
  logRetry({ exchange, caller, services, route: queryRoute });
  const order: QueryOrder = {
    exchangeId: exchange.requestId,
    ...payerOf(caller),
    route: queryRoute,
    idempotencyKey,
    fingerprint: idempotencyKey === null ? '' : fingerprintOf(body),
    plan: () => planQuery(services.query, catalogOf(caller, services), asked),
    takePermit: () => permit.take(),
  };
  return await openQuery(services.query, order, (gone) => exchange.onAbort(gone));
}

/** @throws Problem invalid_request */
function readBody(body: QueryBody): Omit<QueryAsked, 'accountId' | 'rules'> {
  const { surface, query, params, request_id, max_age_seconds: maxAgeSeconds, ...rest } = body;
  const members = { query, ...(params === undefined ? {} : { params }), rest };
  const read = readQuery(surface, members, Date.now());
  if (!read.ok) throw fieldProblem(read.path, read.message);
  const { ask, ignored, assumed } = read;
  return { surface, ask, ignored, assumed, maxAgeSeconds: maxAgeSeconds ?? null };
}

/** How old the answer may be is not what is asked for. Parameters are the same at both places. */
function fingerprintOf(body: QueryBody): string {
  const { surface, query, params = {}, request_id, max_age_seconds, ...rest } = body;
  const merged = { ...params, ...rest };
  return fingerprint({ surface, query: query.normalize('NFC').trim(), params: merged });
}
