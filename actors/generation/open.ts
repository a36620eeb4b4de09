// How a route reaches a generation: the one that has the idempotency key (running: attach;
// finished: replay), or a new one. The database decides who has a key.
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { failedUncharged, findGenerationByKey, type Generation } from '../../db/generations.ts';
import type { ActorAddress, ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import { newId, nodeOfId, timeOfId } from '../../runtime/ids.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import { Problem } from '../../runtime/problem.ts';
import { leftBefore, noDetachedRoom, requireSameRequest } from '../billed-request/opening.ts';
import type { SubscriberProtocol } from '../subscriber/protocol.ts';
import { type Opening, ReplySink } from '../subscriber/reply-sink.ts';
import { subscriberKind } from '../subscriber/subscriber.ts';
import type { GenerationKind } from './generation.ts';
import type { GenerationPlanned, GenerationSpec, PlannedMember } from './spec.ts';
import { storedEnd } from './stored-end.ts';

export interface OpenServices {
  system: ActorSystem;
  sql: Sql;
  limiter: Limiter;
  generationKind: GenerationKind;
  headersHoldBackMs: number;
}

/** Everything about the generation but what the opening itself decides. */
export type GenerationOrder = Omit<
  GenerationSpec,
  'id' | 'createdAtMs' | 'subscriber' | 'releasePermit' | 'detachedSlot' | PlannedMember
> & {
  /**
   * Called for a new generation only: who attaches or is told again gets what was, whatever would
   * be decided by now. It may refuse with a Problem.
   */
  plan(): GenerationPlanned | Promise<GenerationPlanned>;
  /** Hands the key's permit to a generation that may outlive the exchange; null: it is over. */
  takePermit(): (() => void) | null;
};

/** A generation that this client listens to from now on, or listened to already in the past. */
export interface Opened {
  requestId: string;
  createdAtMs: number;
  opening: Opening;
  replayed: boolean;
  sink: ReplySink;
  clientGone(): void;
}

/** Makes the client's sink once the identity of the reply is known. */
export type MakeSink = (identity: { requestId: string; createdAtMs: number }) => ReplySink;

/** An end is a commit away, and a busy disk takes its time: after this the client may ask again. */
const lookAgainMs = 2_500;
const pauseMsMax = 200;
/** Names subscribers: they are known on their own node only, and never stored. */
let subscriberCount = 0;

/**
 * Opens a generation for a client and waits until the reply can begin.
 * @throws Problem idempotency_key_reused, concurrency_limited, overloaded, conflict
 */
export async function openGeneration(
  services: OpenServices,
  order: GenerationOrder,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened> {
  if (order.idempotencyKey === null) return await startNew(services, order, makeSink, onAbort);
  const deadline = performance.now() + lookAgainMs;
  let pauseMs = 10;
  while (performance.now() < deadline) {
    const { accountId, route, idempotencyKey } = order;
    const row = await withDeadline(
      findGenerationByKey(services.sql, accountId, route, idempotencyKey),
    );
    if (row === null || failedUncharged(row)) {
      const opened = await startNew(services, order, makeSink, onAbort);
      if (opened.opening.kind !== 'end' || opened.opening.end.status !== 'duplicate') return opened;
    } else {
      const opened = await reopen(services, order, row, makeSink, onAbort);
      if (opened !== null) return opened;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMsMax, pauseMs * 2);
  }
  throw new Problem('conflict', {
    message: 'The request with this idempotency key is just ending. Try again.',
    headers: { 'retry-after': '1' },
  });
}

async function startNew(
  services: OpenServices,
  order: GenerationOrder,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened> {
  const { system, limiter } = services;
  const planned = await order.plan();
  const id = newId('req', system.node);
  const createdAtMs = timeOfId(id);
  const sink = makeSink({ requestId: id, createdAtMs });
  const subscriber = spawnSubscriber(services, sink);
  const refuse = (problem: Problem): Problem => {
    subscriber.tell('clientGone', null);
    return problem;
  };
  const releasePermit = order.takePermit();
  if (releasePermit === null) throw refuse(leftBefore());
  const detached = order.background ? limiter.openDetached(order.accountId, createdAtMs) : null;
  if (typeof detached === 'string') {
    releasePermit();
    throw refuse(noDetachedRoom(detached));
  }
  // Member by member: spreading twice was one of the dearest lines of a short answer.
  const spec: GenerationSpec = {
    id,
    exchangeId: order.exchangeId,
    accountId: order.accountId,
    walletId: order.walletId,
    fallbackWalletId: order.fallbackWalletId,
    apiKeyId: order.apiKeyId,
    route: order.route,
    idempotencyKey: order.idempotencyKey,
    fingerprint: order.fingerprint,
    createdAtMs,
    request: planned.request,
    alias: order.alias,
    candidates: planned.candidates,
    routing: planned.routing,
    search: planned.search,
    hosted: planned.hosted,
    inputTokensEstimate: planned.inputTokensEstimate,
    outputTokensCeiling: planned.outputTokensCeiling,
    keepsAnswer: order.keepsAnswer,
    background: order.background,
    storeRequest: order.storeRequest,
    detachedSlot: detached === null ? null : detached.slot,
    subscriber,
    releasePermit,
  };
  const generation = system.spawn(services.generationKind, id, spec);
  if (generation === null) {
    releasePermit();
    if (detached !== null) limiter.removeDetached(detached.slot);
    throw refuse(new Problem('overloaded', { headers: { 'retry-after': '1' } }));
  }
  subscriber.tell('watch', { node: system.node, kind: services.generationKind.name, id });
  const clientGone = () => void subscriber.tell('clientGone', null);
  onAbort(clientGone);
  const opening = await sink.opening;
  return { requestId: id, createdAtMs, opening, replayed: false, sink, clientGone };
}

/** Attaches to a running generation or replays a finished one; null: look again. */
async function reopen(
  services: OpenServices,
  order: GenerationOrder,
  row: Generation,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened | null> {
  requireSameRequest(row, order);
  const identity = { requestId: row.id, createdAtMs: timeOfId(row.id) };
  const sink = makeSink(identity);
  if (row.status !== 'running') {
    sink.open({ kind: 'end', end: storedEnd(row) });
    const opening = await sink.opening;
    return { ...identity, opening, replayed: true, sink, clientGone: noOne };
  }
  if (sink.wants === 'acceptance') {
    // It runs, and nobody need listen.
    return { ...identity, opening: { kind: 'accepted' }, replayed: false, sink, clientGone: noOne };
  }
  const clientGone = await attachSink(services, row.id, sink);
  if (clientGone === null) return null;
  onAbort(clientGone);
  const opening = await sink.opening;
  return { ...identity, opening, replayed: false, sink, clientGone };
}

const noOne = () => {};

/**
 * Lets a sink listen to a running generation on whichever node; null when that has just ended.
 * Returns what is called when the client leaves.
 * @throws Problem overloaded
 */
export async function attachSink(
  services: OpenServices,
  generationId: string,
  sink: ReplySink,
): Promise<(() => void) | null> {
  const { system, generationKind } = services;
  const subscriber = spawnSubscriber(services, sink);
  const { name } = generationKind;
  const address: ActorAddress = { node: nodeOfId(generationId), kind: name, id: generationId };
  const own = { node: system.node, kind: subscriberKind.name, id: subscriber.id };
  // Before the answer: should it be lost, leaving still takes the subscription back.
  subscriber.tell('watch', address);
  const answer = await system.at(generationKind, address).ask('attach', { subscriber: own }, 2_000);
  if (answer.ok && answer.value.status === 'attached') {
    return () => void subscriber.tell('clientGone', null);
  }
  subscriber.tell('clientGone', null);
  if (!answer.ok || answer.value.status === 'ended') return null;
  throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
}

/** Resolves when the generation has ended (or was not there), at the latest after `timeoutMs`. */
async function watchEnd(
  services: OpenServices,
  address: ActorAddress,
  timeoutMs: number,
): Promise<void> {
  const { system, generationKind } = services;
  const sink = new ReplySink(null);
  const subscriber = spawnSubscriber(services, sink);
  const own = { node: system.node, kind: subscriberKind.name, id: subscriber.id };
  subscriber.tell('watch', address);
  const answer = await system.at(generationKind, address).ask('attach', { subscriber: own }, 2_000);
  if (answer.ok && answer.value.status === 'attached') {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([sink.opening, late]);
    clearTimeout(timer);
  }
  subscriber.tell('clientGone', null);
}

function spawnSubscriber(services: OpenServices, sink: ReplySink): ActorRef<SubscriberProtocol> {
  const { system, generationKind } = services;
  subscriberCount += 1;
  const subscriber = system.spawn(subscriberKind, `${subscriberCount}`, {
    sink,
    holdBackMs: services.headersHoldBackMs,
    generationAt: (address) => system.at(generationKind, address),
  });
  if (subscriber === null) throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
  return subscriber;
}

/** Cancels a generation on whichever node and waits until its end is durable, within bounds. */
export async function cancelGeneration(
  services: OpenServices,
  generationId: string,
  waitMs: number,
): Promise<void> {
  const { system, generationKind } = services;
  const address = { node: nodeOfId(generationId), kind: generationKind.name, id: generationId };
  // Awaited together: the watch comes first, and its refusal must not wait unheard for the answer.
  await Promise.all([
    watchEnd(services, address, waitMs),
    system.at(generationKind, address).ask('cancel', null, 2_000),
  ]);
}
