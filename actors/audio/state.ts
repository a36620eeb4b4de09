// The state of one running speech or transcription. Only its actor changes it.
import type { BlobWriter } from '../../media/blobs/writer.ts';
import type { UpstreamFailure } from '../../media/model/events.ts';
import { zeroUsage } from '../../media/model/usage.ts';
import type { TimedHandle, UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { siblingId } from '../../runtime/ids.ts';
import type { PlainProblem } from '../../runtime/problem.ts';
import type { AttemptsState } from '../billed-request/failure.ts';
import { firstPayment } from '../billed-request/fallback.ts';
import type { RequestState } from '../billed-request/settlement.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Probe } from '../provider-health/breaker.ts';
import { type Charge, charge } from '../wallet/price.ts';
import type { AudioOpening } from './reply-sink.ts';
import type { AudioDeps, AudioSpec, AudioWork } from './spec.ts';

export interface AudioAttempt {
  number: number;
  target: UpstreamTarget;
  handle: TimedHandle;
  /** Of its route's breaker. */
  probe: Probe;
  startedMs: number;
  bytes: number;
}

/** Why it ends. Only `completed` and a `cancelled` one that was heard are paid for. */
export type AudioOutcome =
  | { status: 'completed' | 'cancelled' }
  | { status: 'failed'; problem: PlainProblem };

export interface AudioState extends RequestState, AttemptsState {
  readonly deps: AudioDeps;
  readonly spec: AudioSpec;
  readonly held: Charge;
  targets: UpstreamTarget[];
  attempt: AudioAttempt | null;
  /** What came before the hold was durable, and how its upstream ended. */
  waiting: Uint8Array[];
  waitingEnd: { failure: UpstreamFailure | null } | null;
  /** Of a transcript; of speech, what came before its signature was whole. */
  body: Uint8Array[];
  /** The client was sent audio: from then on it is bought. */
  isHeard: boolean;
  isGone: boolean;
  /** Who has not taken yet what was written. */
  waitsFor: { client: boolean; disk: boolean };
  /** How long the client has been waited for, and since when it is, in awake time. */
  slowMs: number;
  slowSinceMs: number;
  file: BlobWriter | null;
  outcome: AudioOutcome | null;
  /** What the client is told when money is durable. */
  end: AudioOpening | 'end' | 'fail' | null;
}

export function newAudioState(deps: AudioDeps, spec: AudioSpec): AudioState {
  return {
    deps,
    spec,
    holdId: siblingId(spec.id, 'hold'),
    payment: firstPayment(spec),
    held: costOf(spec, longest(spec.work)),
    phase: 'holding',
    targets: [...spec.targets],
    attempt: null,
    attempts: 0,
    busyAttempts: 0,
    unpaidAttempts: 0,
    waiting: [],
    waitingEnd: null,
    body: [],
    isHeard: false,
    isGone: false,
    waitsFor: { client: false, disk: false },
    slowMs: 0,
    slowSinceMs: 0,
    detachedSlot: null,
    file: null,
    outcome: null,
    cost: null,
    finish: null,
    end: null,
    retries: 0,
    extraWrite: null,
  };
}

/** The least that a transcription holds: a begun second. */
export function leastTranscription({ card }: Pick<CatalogModel, 'card'>): bigint {
  return charge(card, zeroUsage, { audioMs: 1_000 }).chargeMicros;
}

/** Providers may count a begun second as a whole one. */
function longest(work: AudioWork): AudioWork {
  return work.kind === 'speech' ? work : { ...work, seconds: Math.ceil(work.seconds) };
}

/** What the work costs: characters are known before, seconds as the work has them. */
export function costOf({ model }: Pick<AudioSpec, 'model'>, work: AudioWork): Charge {
  const units =
    work.kind === 'speech'
      ? { characters: work.characters }
      : { audioMs: Math.round(work.seconds * 1_000) };
  return charge(model.card, zeroUsage, units);
}
