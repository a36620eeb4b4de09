// What apps are told, in the memory of every thread: replaced whole when it changes. Who changes it
// publishes what it read in its transaction; the main thread looks for what nobody published.
import type { Board } from '../../db/app/board.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Bus } from '../../runtime/work/bus.ts';

/** Bus topic: the payload is the new board. */
export const boardTopic = 'app-board-changed';

export interface BoardView {
  /** There once the process serves. */
  current(): Board;
  /** An older one than is known changes nothing. */
  set(board: Board): void;
}

export function createBoardView(): BoardView {
  let board: Board | null = null;
  return {
    current() {
      if (board === null) throw new Error('the board is asked for before it is there');
      return board;
    },
    set(next) {
      if (board === null || next.revision > board.revision) board = next;
    },
  };
}

/** Every thread has it when this resolves; null: there is nothing to tell. */
export async function publishBoard(bus: Bus, board: Board | null): Promise<void> {
  if (board !== null) await bus.publish(boardTopic, board);
}

interface Watched {
  view: BoardView;
  bus: Bus;
  readRevision(): Promise<number>;
  read(): Promise<Board>;
  log: Pick<Logger, 'info'>;
}

/** Takes over what another process changed, or one that ended before it could tell. */
export async function followBoard({ view, bus, readRevision, read, log }: Watched): Promise<void> {
  // Never backwards: a database that was set back to a copy is read with the next start.
  if ((await readRevision()) <= view.current().revision) return;
  const board = await read();
  await publishBoard(bus, board);
  log.info({ revision: board.revision }, 'another process changed what apps are told');
}
