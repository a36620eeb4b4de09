// How a route reaches a speech or transcription: the finished one that has the idempotency key, or
// a new one. One that still runs under the key is a conflict: clients try again by themselves.
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { failedUncharged, findGenerationByKey, type Generation } from '../../db/generations.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import { newId, nodeOfId, timeOfId } from '../../runtime/ids.ts';
import type { Budget } from '../../runtime/limiter/budget.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import { Problem } from '../../runtime/problem.ts';
import type { LookServices } from '../billed-request/funds-look.ts';
import { leftBefore, requireSameRequest } from '../billed-request/opening.ts';
import type { Limits } from '../limits.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import type { AudioKind } from './audio.ts';
import { type AudioOpening, AudioReplySink } from './reply-sink.ts';
import type { AudioSpec, StoredAudio } from './spec.ts';

export interface AudioServices extends LookServices {
  system: ActorSystem;
  sql: Sql;
  audioKind: AudioKind;
  limits: Limits;
  blobs: BlobStore;
  /** Speech that was kept by a build without a blob store. */
  formerFolder: string;
  /** For files that programs read while a request lasts. */
  scratchFolder: string;
  /** This shard's memory for recordings. */
  recordings: Budget;
  limiter: Limiter;
  health: RouteHealth;
  /** The way to the pool for CPU work. */
  tasks(): ActorRef<TasksProtocol>;
}

type Planned = 'model' | 'targets' | 'work';

/** Everything but what the opening itself decides. */
export type AudioOrder = Omit<
  AudioSpec,
  'id' | 'createdAtMs' | 'sink' | 'releasePermit' | Planned
> & {
  /** Called for a new one only. It may refuse with a Problem. */
  plan(): Pick<AudioSpec, Planned>;
  /** Hands the key's permit over to what may outlive the exchange; null: it is over. */
  takePermit(): (() => void) | null;
};

export type AudioOpened =
  | { kind: 'new'; requestId: string; opening: AudioOpening; sink: AudioReplySink }
  | { kind: 'stored'; requestId: string; stored: StoredAudio };

/**
 * Opens one for a client and waits until the reply can begin.
 * @throws Problem idempotency_key_reused, overloaded, conflict, and what `plan` throws
 */
export async function openAudio(
  services: AudioServices,
  order: AudioOrder,
  onAbort: (listener: () => void) => void,
): Promise<AudioOpened> {
  const { accountId, route, idempotencyKey } = order;
  if (idempotencyKey !== null) {
    const query = findGenerationByKey(services.sql, accountId, route, idempotencyKey);
    const row = await withDeadline(query);
    if (row !== null && !failedUncharged(row)) return reopen(order, row);
  }
  const opened = await startNew(services, order, onAbort);
  if (opened.opening.kind === 'duplicate') throw busyKey();
  return { kind: 'new', ...opened };
}

async function startNew(
  { system, audioKind, limits }: AudioServices,
  order: AudioOrder,
  onAbort: (listener: () => void) => void,
): Promise<{ requestId: string; opening: AudioOpening; sink: AudioReplySink }> {
  const planned = order.plan();
  const id = newId('req', system.node);
  const sink = new AudioReplySink(limits.audio.aheadBytesMax);
  const releasePermit = order.takePermit();
  if (releasePermit === null) throw leftBefore();
  const { exchangeId, accountId, walletId, fallbackWalletId, apiKeyId } = order;
  const { route, idempotencyKey, fingerprint } = order;
  const actor = system.spawn(audioKind, id, {
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
    ...planned,
    sink,
    releasePermit,
  });
  if (actor === null) {
    releasePermit();
    throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
  }
  onAbort(() => sink.clientGone());
  return { requestId: id, opening: await sink.opening, sink };
}

function reopen(order: AudioOrder, row: Generation): AudioOpened {
  requireSameRequest(row, order);
  if (row.status === 'running') throw busyKey();
  if (row.answerJson === null) {
    throw new Problem('conflict', {
      message: 'The request with this idempotency key has ended, and its audio was not kept.',
    });
  }
  const stored = JSON.parse(row.answerJson) as StoredAudio;
  return { kind: 'stored', requestId: row.id, stored };
}

function busyKey(): Problem {
  return new Problem('conflict', {
    message: 'A request with this idempotency key is running. Try again.',
    headers: { 'retry-after': '1' },
  });
}

const lookAgainMs = 20;

/** Cancels one on whichever node, and waits until it has ended there, within bounds. */
export async function cancelAudio(
  { system, audioKind, limits }: AudioServices,
  requestId: string,
): Promise<void> {
  const address = { node: nodeOfId(requestId), kind: audioKind.name, id: requestId };
  const actor = system.at(audioKind, address);
  const deadline = performance.now() + limits.generation.cancelWaitMs;
  while (performance.now() < deadline) {
    const answer = await actor.ask('cancel', null, 2_000);
    if (!answer.ok || answer.value.status === 'ended') return;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
