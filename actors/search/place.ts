// The place of a share of the keys, one in the process whatever shard asks. It has what is kept of
// results, and what is under way with those who wait for it. The first of them pays; when it
// leaves, the next one does. Looking pays nothing, so that nothing is run for lookers alone.
import type { ActorContext, ActorKind, BatchEntry } from '../../runtime/actor/contract.ts';
import { failedResult } from './conclusion.ts';
import type { Found, SearchResult } from './contract.ts';
import { type ExecutionDeps, runSearch } from './execution.ts';
import { isKeepable, KeptResults } from './kept.ts';
import { searchLimits } from './limits.ts';
import type { FindRequest, LookRequest, PlaceProtocol, PlaceReply } from './protocol.ts';

type Context = ActorContext<PlaceProtocol>;
type Reply = (reply: PlaceReply) => void;

interface Waiter {
  isLooking: boolean;
  reply: Reply;
}

interface Running {
  /** Another search of the same key may follow it. */
  number: number;
  control: AbortController;
  /** They stand by ticket, in the order in which they came. */
  waiters: Map<string, Waiter>;
  /** The ticket of the one for whom it is asked. */
  payer: string | null;
  surface: string;
  isKept: boolean;
}

export interface PlaceState {
  deps: ExecutionDeps;
  kept: KeptResults;
  running: Map<string, Running>;
  number: number;
}

export type PlaceKind = ActorKind<PlaceProtocol, PlaceState>;

/** `watch`: hears of each store, for the figures of the thread. */
export function createPlaceKind(
  deps: ExecutionDeps,
  stores: Set<KeptResults> = new Set(),
): PlaceKind {
  return {
    name: 'search',
    parent: 'searches',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 10, withinMs: 10_000 },
    mailboxLengthMax: searchLimits.mailboxLengthMax,
    start(context) {
      context.every(searchLimits.sweepMs, 'sweep', null);
      const kept = new KeptResults(searchLimits.keptBytesMaxEach);
      stores.add(kept);
      return { deps, kept, running: new Map(), number: 0 };
    },
    behaviour: {
      batch: {
        lengthMax: searchLimits.batchLengthMax,
        receive(state, batch, context) {
          for (const entry of batch) take(state, entry, context);
        },
      },
    },
    // However it ends: who waits is told, and asks elsewhere.
    stopped(state) {
      stores.delete(state.kept);
      for (const { control, waiters } of state.running.values()) {
        control.abort();
        for (const { reply } of waiters.values()) reply({ status: 'gone' });
      }
      state.running.clear();
    },
  };
}

function take(state: PlaceState, entry: BatchEntry<PlaceProtocol>, context: Context): void {
  switch (entry.message) {
    case 'look':
      look(state, entry.payload, (reply) => entry.reply(reply));
      break;
    case 'find':
      find(state, entry.payload, (reply) => entry.reply(reply), context);
      break;
    case 'leave':
      leave(state, entry.payload, context);
      break;
    case 'keep':
      state.kept.put(entry.payload.key, entry.payload.result);
      break;
    case 'done':
      end(state, entry.payload);
      break;
    case 'orphaned':
      orphaned(state, entry.payload);
      break;
    case 'sweep':
      state.kept.sweep(searchLimits.keptSecondsMax * 1_000, state.deps.clock.nowMs());
      break;
  }
}

function look(state: PlaceState, request: LookRequest, reply: Reply): void {
  const found = takeKept(state, request);
  const running = state.running.get(request.key);
  if (found !== null) reply({ status: 'found', found });
  else if (running === undefined || running.payer === null) reply({ status: 'none' });
  else running.waiters.set(request.ticket, { isLooking: true, reply });
}

function find(state: PlaceState, request: FindRequest, reply: Reply, context: Context): void {
  const found = takeKept(state, request);
  if (found !== null) {
    reply({ status: 'found', found });
    return;
  }
  const { key, ticket } = request;
  const running = state.running.get(key) ?? start(state, request, context);
  running.waiters.set(ticket, { isLooking: false, reply });
  running.payer ??= ticket;
}

function takeKept({ kept, deps }: PlaceState, request: LookRequest): Found | null {
  const nowMs = deps.clock.nowMs();
  const result = kept.take(request.key, request.maxAgeSeconds * 1_000, nowMs);
  if (result === null) return null;
  deps.metrics.found(request.surface, 'hit');
  const ageSeconds = Math.floor((nowMs - result.madeAtMs) / 1_000);
  return { result, cache: { hit: true, ageSeconds } };
}

function start(state: PlaceState, { key, order }: FindRequest, context: Context): Running {
  state.number += 1;
  const { number } = state;
  const control = new AbortController();
  const { name: surface, maxAgeSeconds } = order.surface;
  const isKept = maxAgeSeconds > 0;
  const running = { number, control, waiters: new Map(), payer: null, surface, isKept };
  state.running.set(key, running);
  void runSearch(state.deps, order, control.signal).then((result) => {
    const ended = { key, number, result };
    // A full mailbox must not leave those who wait without an answer.
    if (!context.self.tell('done', ended)) end(state, ended);
  });
  return running;
}

function end(
  state: PlaceState,
  { key, number, result }: { key: string; number: number; result: SearchResult },
): void {
  const running = runningOf(state, key, number);
  if (running === null) return;
  state.running.delete(key);
  const { payer, surface } = running;
  // What nobody has paid for is not kept: looking at it would be free.
  if (running.isKept && payer !== null && isKeepable(result)) state.kept.put(key, result);
  for (const [ticket, { isLooking, reply }] of running.waiters) {
    // A failure is told to those who asked for it; who looks asks again.
    if (isLooking && result.state === 'failed') {
      reply({ status: 'none' });
      continue;
    }
    const hit = ticket !== payer;
    state.deps.metrics.found(surface, hit ? 'shared' : 'miss');
    reply({ status: 'found', found: { result, cache: { hit, ageSeconds: 0 } } });
  }
}

function leave(
  state: PlaceState,
  { key, ticket }: { key: string; ticket: string },
  context: Context,
): void {
  const running = state.running.get(key);
  const waiter = running?.waiters.get(ticket);
  if (running === undefined || waiter === undefined) return;
  const isPayer = running.payer === ticket;
  running.waiters.delete(ticket);
  const result = failedResult([], 'aborted', null, isPayer);
  waiter.reply({ status: 'found', found: { result, cache: { hit: false, ageSeconds: 0 } } });
  if (!isPayer) return;
  const [next] = [...running.waiters].find(([, { isLooking }]) => !isLooking) ?? [];
  running.payer = next ?? null;
  if (running.payer !== null) return;
  if (running.waiters.size === 0) {
    giveUp(state, key, running);
    return;
  }
  // Who looked has to ask for it, and may find it still under way.
  for (const { reply } of running.waiters.values()) reply({ status: 'none' });
  running.waiters.clear();
  const { number } = running;
  context.after(searchLimits.orphanMs, 'orphaned', { key, number });
}

function orphaned(state: PlaceState, { key, number }: { key: string; number: number }): void {
  const running = runningOf(state, key, number);
  if (running?.payer === null) giveUp(state, key, running);
}

function giveUp(state: PlaceState, key: string, running: Running): void {
  state.running.delete(key);
  running.control.abort();
}

function runningOf(state: PlaceState, key: string, number: number): Running | null {
  const running = state.running.get(key);
  return running?.number === number ? running : null;
}
