// Jobs of this shard that wait for a slot of a provider. One of them looks at a time, in the order
// in which they came. The database counts the slots, for all processes.
import type { Sql } from '../../db/driver/sql.ts';
import { beginSubmission, type SlotRequest } from '../../db/video-jobs/moves.ts';
import { pause } from '../../runtime/work/pause.ts';
import { createMutex, type Mutex } from '../wallet/mutex.ts';

export interface Slots {
  /** One look, unless others wait for this provider: then it is `full`. */
  tryNow(request: SlotRequest): Promise<'begun' | 'full' | 'gone'>;
  /** Waits in line until one is free, or the signal aborts: then it is `full`. */
  inLine(request: SlotRequest, signal: AbortSignal): Promise<'begun' | 'full' | 'gone'>;
  /** A job of this shard has left a slot. */
  freed(provider: string): void;
}

interface Line {
  mutex: Mutex;
  /** A look waits for others in the database: all but one would only keep its connections busy. */
  looking: Mutex;
  waiting: number;
  wake: AbortController;
}

export function createSlots(sql: Sql, slotMs: number): Slots {
  const lines = new Map<string, Line>();
  const lineOf = (provider: string): Line => {
    let line = lines.get(provider);
    if (line === undefined) {
      line = {
        mutex: createMutex(),
        looking: createMutex(),
        waiting: 0,
        wake: new AbortController(),
      };
      lines.set(provider, line);
    }
    return line;
  };
  const look = async (request: SlotRequest) => {
    const leave = await lineOf(request.provider).looking.take();
    try {
      return await beginSubmission(sql, request);
    } finally {
      leave();
    }
  };
  return {
    async tryNow(request) {
      if (lineOf(request.provider).waiting > 0) return 'full';
      return look(request);
    },
    async inLine(request, signal) {
      const line = lineOf(request.provider);
      line.waiting += 1;
      const turn = line.mutex.take();
      const leave = await Promise.race([turn, aborted(signal)]);
      try {
        while (!signal.aborted) {
          const begun = await look(request);
          if (begun !== 'full') return begun;
          line.wake = new AbortController();
          await pause(slotMs * (0.5 + Math.random()), AbortSignal.any([signal, line.wake.signal]));
        }
        return 'full';
      } finally {
        line.waiting -= 1;
        // Whoever does not wait any more leaves as soon as it is its turn.
        if (leave === null) void turn.then((leaveLater) => leaveLater());
        else leave();
      }
    },
    freed: (provider) => lineOf(provider).wake.abort(),
  };
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
