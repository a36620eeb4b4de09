// Turns for work on rows: each entry of a queue is one, for whichever row is next. It is set aside,
// and whoever works on it is asked until it is over. So a process has as many at once as it takes
// entries.
import { pause } from './pause.ts';

/** A row with the epoch under which somebody works on it. */
export interface HeldRow {
  id: string;
  epoch: number;
}

/**
 * `working`: under this epoch, by whoever was asked. `over`: it is final, or another process has
 * it. `unavailable`: nothing is known, so ask again.
 */
export type WorkReply = { status: 'working'; epoch: number } | { status: 'over' | 'unavailable' };

export interface TurnDesk {
  /** A turn for one that was made or left. */
  add(left: HeldRow): void;
  /** Nobody here works on it any more. */
  ended(id: string): void;
  /** One turn, until its row is over; the signal ends the wait, not the work. */
  takeTurn(signal: AbortSignal): Promise<void>;
}

interface TurnDeskOptions {
  /** Puts an entry of this name into the queue, where it is once. */
  addEntry(name: string): void;
  /** Sets aside the one whose turn it is; null: nobody waits. */
  next(): Promise<HeldRow | null>;
  /** Asks for work on it, within a deadline. */
  work(held: HeldRow): Promise<WorkReply>;
  /** Between two questions while it works, and after no answer. */
  limits: { readonly askMs: number; readonly nextMs: number };
}

export function createTurnDesk({ addEntry, next, work, limits }: TurnDeskOptions): TurnDesk {
  const waiting = new Map<string, AbortController>();
  return {
    // The entry of a process that was killed stays for half a minute: who is left needs another.
    add: ({ id, epoch }) => addEntry(`${id}-${epoch}`),
    ended: (id) => waiting.get(id)?.abort(),
    async takeTurn(signal) {
      const aside = await next();
      if (aside === null) return;
      const { id } = aside;
      let { epoch } = aside;
      while (!signal.aborted) {
        const woken = new AbortController();
        waiting.set(id, woken);
        try {
          const reply = await work({ id, epoch });
          if (reply.status === 'over') return;
          const isWorking = reply.status === 'working';
          if (isWorking) epoch = reply.epoch;
          const waitMs = isWorking ? limits.askMs : limits.nextMs;
          await pause(waitMs, AbortSignal.any([signal, woken.signal]));
        } finally {
          waiting.delete(id);
        }
      }
      throw new Error('the process stops: another goes on');
    },
  };
}
