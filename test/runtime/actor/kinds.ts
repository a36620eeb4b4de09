// Small actor kinds for the tests of the actor system, and a log that can be read.
import type {
  ActorKind,
  ActorLog,
  BatchEntry,
  EndReason,
  Supervision,
} from '../../../runtime/actor/contract.ts';

export interface LogLine {
  level: 'error' | 'warn' | 'info';
  details: Record<string, unknown>;
  text: string;
}

/** A log that keeps its lines. */
export function createTestLog(): ActorLog & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine['level']) => (details: object, text: string) => {
    lines.push({ level, details: { ...details }, text });
  };
  return { lines, error: write('error'), warn: write('warn'), info: write('info') };
}

export const restarting: Supervision = { strategy: 'restart', crashesMax: 3, withinMs: 60_000 };

export type RecorderProtocol = {
  note: (value: number) => number;
  noteSlowly: (request: { value: number; ms: number }) => number;
  list: (nothing: null) => number[];
  crash: (reason: string) => never;
  crashSlowly: (ms: number) => never;
  finish: (nothing: null) => 'finished';
  noteLater: (request: { value: number; ms: number }) => null;
  noteOften: (request: { value: number; ms: number }) => null;
};

export interface RecorderState {
  notes: number[];
  running: number;
  runningMax: number;
}

interface RecorderOptions {
  name?: string;
  placement?: 'local' | 'hashed' | 'main';
  supervision?: Supervision;
  mailboxLengthMax?: number;
  populationMax?: number;
  idleTimeoutMs?: number;
  start?: (id: string) => RecorderState | Promise<RecorderState>;
  stopped?: (state: RecorderState, reason: EndReason) => void;
}

export function emptyState(): RecorderState {
  return { notes: [], running: 0, runningMax: 0 };
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** An actor that notes numbers, and does everything that can go wrong when it is told to. */
export function recorderKind(
  options: RecorderOptions = {},
): ActorKind<RecorderProtocol, RecorderState> {
  return {
    name: options.name ?? 'recorder',
    parent: 'test',
    placement: options.placement ?? 'local',
    supervision: options.supervision ?? restarting,
    mailboxLengthMax: options.mailboxLengthMax ?? 100_000,
    ...(options.populationMax === undefined ? {} : { populationMax: options.populationMax }),
    ...(options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }),
    ...(options.stopped === undefined ? {} : { stopped: options.stopped }),
    start: (context) => options.start?.(context.id) ?? emptyState(),
    behaviour: {
      note(state, value) {
        state.notes.push(value);
        return state.notes.length;
      },
      async noteSlowly(state, { value, ms }) {
        state.running += 1;
        state.runningMax = Math.max(state.runningMax, state.running);
        await sleep(ms);
        state.running -= 1;
        state.notes.push(value);
        return state.runningMax;
      },
      list: (state) => [...state.notes],
      crash(_state, reason) {
        throw new Error(reason);
      },
      async crashSlowly(_state, ms) {
        await sleep(ms);
        throw new Error('slow crash');
      },
      finish(_state, _nothing, context) {
        context.stop();
        return 'finished';
      },
      noteLater(_state, { value, ms }, context) {
        context.after(ms, 'note', value);
        return null;
      },
      noteOften(_state, { value, ms }, context) {
        context.every(ms, 'note', value);
        return null;
      },
    },
  };
}

export type CollectorProtocol = {
  add: (value: number) => { batch: number; value: number };
  fail: (nothing: null) => null;
};

export interface CollectorState {
  batches: number[][];
}

/** A batch actor whose batches take `batchMs`; `add` of a negative number is never answered. */
export function collectorKind(
  lengthMax: number,
  batchMs: number,
): ActorKind<CollectorProtocol, CollectorState> {
  const receive = async (state: CollectorState, batch: BatchEntry<CollectorProtocol>[]) => {
    state.batches.push(batch.map((entry) => (entry.message === 'add' ? entry.payload : -1)));
    await sleep(batchMs);
    for (const entry of batch) {
      if (entry.message === 'fail') throw new Error('the batch fails');
      entry.reply({ batch: state.batches.length, value: entry.payload });
    }
  };
  return {
    name: 'collector',
    parent: 'test',
    placement: 'hashed',
    supervision: restarting,
    mailboxLengthMax: 1_000,
    start: () => ({ batches: [] }),
    behaviour: { batch: { lengthMax, receive } },
  };
}
