// How a route reaches a query. It may be kept for the account, or have run under the idempotency
// key, or run under it now, or be new. The database decides who has a key.
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { failedUncharged, findGenerationByKey, type Generation } from '../../db/generations.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import { newId, nodeOfId, timeOfId } from '../../runtime/ids.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import { leftBefore, requireSameRequest } from '../billed-request/opening.ts';
import type { Limits } from '../limits.ts';
import type { SearchDesk } from '../search/contract.ts';
import { answerKept, type KeptServices } from './kept.ts';
import type { QueryMetrics } from './metrics.ts';
import type { PlanServices } from './plan.ts';
import type { QueryEnd } from './protocol.ts';
import type { QueryKind } from './query.ts';
import { replayedText } from './reply.ts';
import type { ReplySeals } from './sealed.ts';
import type { QueryPlan, QuerySpec } from './spec.ts';

export interface QueryServices extends PlanServices, KeptServices {
  system: ActorSystem;
  /** Rows of other processes have another. */
  instanceId: string;
  sql: Sql;
  queryKind: QueryKind;
  desk: SearchDesk;
  seals: ReplySeals;
  limits: Limits;
  metrics: QueryMetrics;
}

/** Everything but what the opening itself decides. */
export type QueryOrder = Omit<
  QuerySpec,
  'id' | 'createdAtMs' | 'ended' | 'releasePermit' | 'plan'
> & {
  /** Called for a new one only, once. It may refuse with a Problem. */
  plan(): QueryPlan;
  /** Hands the key's permit over to what may outlive the exchange; null: it is over. */
  takePermit(): (() => void) | null;
};

export interface QueryOpened {
  requestId: string;
  /** The body of the reply. */
  text: string;
}

type OnAbort = (listener: () => void) => void;

/** Names those who wait for the query of another: only the way to their own actor knows them. */
let listenerCount = 0;

/**
 * Opens a query for a client and waits for its reply. What was asked for is refused, failed or
 * cancelled as a Problem.
 * @throws Problem idempotency_key_reused, conflict, overloaded, and what `plan` throws
 */
export async function openQuery(
  services: QueryServices,
  order: QueryOrder,
  onAbort: OnAbort,
): Promise<QueryOpened> {
  const plan = once(order.plan);
  const { accountId, route, idempotencyKey } = order;
  if (idempotencyKey === null) {
    const kept = await answerKept(services, order, plan(), onAbort);
    return kept ?? opened(await startNew(services, order, plan, onAbort));
  }
  const deadline = performance.now() + services.limits.query.lookAgainMs;
  let pauseMs = 10;
  do {
    const looked = findGenerationByKey(services.sql, accountId, route, idempotencyKey);
    const row = await withDeadline(looked);
    if (row === null || failedUncharged(row)) {
      const started = await startNew(services, order, plan, onAbort);
      if (started.end.kind !== 'duplicate') return opened(started);
    } else {
      const reply = await reopen(services, order, row, onAbort);
      if (reply !== null) return reply;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(services.limits.query.pauseMsMax, pauseMs * 2);
  } while (performance.now() < deadline);
  throw busyKey();
}

interface Started {
  requestId: string;
  end: QueryEnd;
}

async function startNew(
  { system, queryKind }: QueryServices,
  order: QueryOrder,
  plan: () => QueryPlan,
  onAbort: OnAbort,
): Promise<Started> {
  const planned = plan();
  const id = newId('req', system.node);
  const releasePermit = order.takePermit();
  if (releasePermit === null) throw leftBefore();
  const { exchangeId, accountId, walletId, fallbackWalletId, apiKeyId } = order;
  const { route, idempotencyKey, fingerprint } = order;
  let ended: (end: QueryEnd) => void = () => undefined;
  const end = new Promise<QueryEnd>((resolve) => {
    ended = resolve;
  });
  const actor = system.spawn(queryKind, id, {
    id,
    exchangeId,
    accountId,
    walletId,
    fallbackWalletId,
    apiKeyId,
    route,
    idempotencyKey,
    fingerprint,
    createdAtMs: timeOfId(id),
    plan: planned,
    ended,
    releasePermit,
  });
  if (actor === null) {
    releasePermit();
    throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
  }
  onAbort(() => void actor.tell('clientGone', null));
  return { requestId: id, end: await end };
}

/** @throws Problem the end, unless it is a reply */
function opened({ requestId, end }: Started, isReplayed = false): QueryOpened {
  if (end.kind === 'reply') {
    return { requestId, text: isReplayed ? replayedText(end.text) : end.text };
  }
  if (end.kind === 'duplicate') throw busyKey();
  const { problem } = end;
  const headers = { ...problem.headers, 'x-svc-request-id': requestId };
  throw toProblem({ ...problem, headers });
}

/** Waits for a running one, or replays a finished one; null: it has just ended, look again. */
async function reopen(
  services: QueryServices,
  order: QueryOrder,
  row: Generation,
  onAbort: OnAbort,
): Promise<QueryOpened | null> {
  requireSameRequest(row, order);
  if (row.status === 'running') return await attach(services, row, onAbort);
  const text = row.answerJson === null ? null : services.seals.open(row.id, row.answerJson);
  if (text === null) {
    throw new Problem('conflict', {
      message: 'The query with this idempotency key has ended, and its answer is not kept.',
    });
  }
  services.metrics.ended(row.model, 'replayed');
  return { requestId: row.id, text: replayedText(text) };
}

async function attach(
  { system, instanceId, queryKind, limits }: QueryServices,
  row: Generation,
  onAbort: OnAbort,
): Promise<QueryOpened | null> {
  // Its clients are those of another process.
  if (row.instanceId !== instanceId) throw busyKey();
  const address = { node: nodeOfId(row.id), kind: queryKind.name, id: row.id };
  const actor = system.at(queryKind, address);
  listenerCount += 1;
  const listener = `${system.node}.${listenerCount}`;
  const asked = actor.ask('attach', { listener }, limits.query.attachMs);
  onAbort(() => void actor.tell('leave', { listener }));
  const answer = await asked;
  if (answer.ok && answer.value.kind === 'duplicate') return null;
  if (answer.ok) return opened({ requestId: row.id, end: answer.value }, true);
  if (answer.reason === 'timeout' || answer.reason === 'overloaded') throw busyKey();
  return null;
}

function busyKey(): Problem {
  return new Problem('conflict', {
    message: 'A query with this idempotency key is running. Try again.',
    headers: { 'retry-after': '1' },
  });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const lookAgainMs = 20;

/** Cancels one on whichever node, and waits until it has ended there, within bounds. */
export async function cancelQuery(
  { system, queryKind, limits }: Pick<QueryServices, 'system' | 'queryKind' | 'limits'>,
  requestId: string,
): Promise<void> {
  const address = { node: nodeOfId(requestId), kind: queryKind.name, id: requestId };
  const actor = system.at(queryKind, address);
  const deadline = performance.now() + limits.generation.cancelWaitMs;
  while (performance.now() < deadline) {
    const answer = await actor.ask('cancel', null, 2_000);
    if (!answer.ok || answer.value.status === 'ended') return;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
