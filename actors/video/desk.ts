// The main thread's part in video jobs. New ones go into the queue. What the queue gives out is
// asked of the job's actor, until that says that it is over.
import { strict as assert } from 'node:assert';
import type { ActorKind, ActorRef } from '../../runtime/actor/contract.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { VideoLimits } from './limits.ts';
import type { VideoDeskProtocol, VideoJobProtocol } from './protocol.ts';

export const videoDeskId = 'video-desk';

export interface VideoDesk {
  add(id: string): void;
  /** A shard has ended its work on the job. */
  ended(id: string): void;
  /** Until the job is over; the signal ends the wait, not the work. */
  see(id: string, signal: AbortSignal): Promise<void>;
}

interface DeskOptions {
  add(id: string): void;
  job(id: string): ActorRef<VideoJobProtocol>;
  limits: Pick<VideoLimits, 'askMs' | 'slotMs' | 'workedMax'>;
}

/** The desk itself, without its actor. */
export function createVideoDesk({ add, job, limits }: DeskOptions): VideoDesk {
  const waiting = new Map<string, AbortController>();
  return {
    add(id) {
      add(id);
      // Its entry takes a while through the queue. Where that is long, a job waits for its turn.
      if (waiting.size < limits.workedMax / 2) job(id).tell('work', null);
    },
    ended: (id) => waiting.get(id)?.abort(),
    async see(id, signal) {
      while (!signal.aborted) {
        const woken = new AbortController();
        waiting.set(id, woken);
        try {
          const answer = await job(id).ask('work', null, limits.askMs);
          if (answer.ok && answer.value === 'over') return;
          // A shard that is gone is asked again soon, and another one has its jobs by then.
          const waitMs = answer.ok ? limits.askMs : limits.slotMs;
          await pause(waitMs, AbortSignal.any([signal, woken.signal]));
        } finally {
          waiting.delete(id);
        }
      }
      throw new Error('the process stops: another goes on');
    },
  };
}

export type VideoDeskKind = ActorKind<VideoDeskProtocol, VideoDesk>;

/** Null on shards, which only send to it. */
export function createVideoDeskKind(desk: VideoDesk | null): VideoDeskKind {
  return {
    name: 'video-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 16_384,
    start() {
      assert(desk !== null, 'the desk of video jobs is on the main thread');
      return desk;
    },
    behaviour: {
      enqueue: (state, { id }) => state.add(id),
      ended: (state, { id }) => state.ended(id),
    },
  };
}
