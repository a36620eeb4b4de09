// 16 → 24 kHz for all live sessions of a shard: what they bring within a tick is one task of the
// shard's own Piscina. A batch that fails is run again: its input is still in the slab.
import { strict as assert } from 'node:assert';
import type { Logger } from '../../../runtime/log.ts';
import { createPool, type Pool } from '../../../runtime/work/pool.ts';
import { LaneInput } from './input.ts';
import { blocksFor, createSlab, frameBytesMax, jobsMax, type Slab } from './slab.ts';

export interface LaneListener {
  /**
   * 24 kHz pcm_s16le of one or several frames, in order and without gaps. The bytes are in shared
   * memory and valid during the call only.
   */
  output(pcm: Uint8Array): void;
  /** The threads do not answer. The lane is closed; what it held is lost. */
  failed(): void;
}

export interface Lane {
  /**
   * Copies 16 kHz pcm_s16le, whole samples, at most `frameBytesMax`. False: the backlog is full,
   * the frame was dropped and counted; or the lane is closed.
   */
  push(frame: Uint8Array): boolean;
  /** Nothing is reported any more. May be called twice. */
  close(): void;
  readonly droppedFrames: number;
}

export interface LanesStatus {
  open: number;
  frames: number;
  batches: number;
  droppedFrames: number;
  /** Batches that were run again. */
  retries: number;
}

export interface Lanes {
  /** Null: all lanes are taken. */
  open(listener: LaneListener): Lane | null;
  readonly status: LanesStatus;
  /** Open lanes just get no output any more. */
  stop(): Promise<void>;
}

export interface LanesOptions {
  /** Sessions of the shard at once. */
  lanesMax: number;
  log: Logger;
  /** A batch begins at most this often; a frame waits so long at most, when threads answer. */
  tickMs?: number;
  /** Of one attempt. */
  timeoutMs?: number;
}

/** A task costs 200 µs of CPU whatever it does: 300 sessions bring 38 frames in 4 ms. */
const defaults = { tickMs: 4, timeoutMs: 700 };
/** Of one batch. The backlog of a lane is longer than all of them: nothing is dropped before. */
const attemptsMax = 3;
/** The first task also waits for the thread to start. */
const startTimeoutMs = 10_000;
const idleMs = 30_000;
const taskFile = new URL('../../tasks/resample.js', import.meta.url);

interface Job {
  lane: SessionLane;
  outputByte: number;
  outputBytes: number;
}

/** Batches in their order, one in flight. */
class LaneSet implements Lanes {
  readonly #slab: Slab;
  readonly #pool: Pool;
  readonly #options: LanesOptions & { tickMs: number; timeoutMs: number };
  readonly #free: number[];
  readonly #open = new Set<SessionLane>();
  /** Lanes with input, in the order in which it came. */
  #waiting: SessionLane[] = [];
  #busy = false;
  #cooling = false;
  #stopped = false;
  #warming: NodeJS.Timeout | undefined;
  readonly status: LanesStatus = { open: 0, frames: 0, batches: 0, droppedFrames: 0, retries: 0 };

  constructor(options: LanesOptions) {
    this.#options = { ...options, ...defaultsOf(options) };
    this.#slab = createSlab(options.lanesMax);
    this.#pool = createPool({
      threadsMax: 1,
      queueLengthMax: 1,
      idleMs,
      timeoutMs: this.#options.timeoutMs,
      log: options.log,
      threadData: this.#slab.memory,
    });
    this.#free = Array.from(
      { length: options.lanesMax },
      (_, index) => options.lanesMax - 1 - index,
    );
  }

  open(listener: LaneListener): Lane | null {
    const slot = this.#stopped ? undefined : this.#free.pop();
    if (slot === undefined) return null;
    const lane = new SessionLane(this, new LaneInput(this.#slab, slot), listener);
    this.#open.add(lane);
    this.status.open = this.#open.size;
    if (this.#open.size === 1) {
      this.#warm();
      this.#warming = setInterval(() => this.#warm(), idleMs / 2);
      this.#warming.unref();
    }
    return lane;
  }

  /** Called by a lane: it is closed, and its slot may go to the next one. */
  release(lane: SessionLane): void {
    if (!this.#open.delete(lane)) return;
    this.#free.push(lane.input.slot);
    this.status.open = this.#open.size;
    if (this.#open.size === 0) clearInterval(this.#warming);
  }

  /** Called by a lane that has input and was not waiting. */
  enqueue(lane: SessionLane): void {
    this.#waiting.push(lane);
    if (!this.#busy && !this.#cooling) this.#cool(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    clearInterval(this.#warming);
    await this.#pool.stop();
  }

  /** Starts the thread before the first frame needs it, and keeps it while there are lanes. */
  #warm(): void {
    if (this.#busy) return;
    this.#busy = true;
    void this.#pool.run(taskFile, 0, { timeoutMs: startTimeoutMs }).then(() => {
      this.#busy = false;
      this.#next();
    });
  }

  /** The next batch begins after this time. Without a wait all frames of this turn still get in. */
  #cool(delayMs: number): void {
    this.#cooling = true;
    const over = () => {
      this.#cooling = false;
      this.#next();
    };
    if (delayMs === 0) setImmediate(over);
    else setTimeout(over, delayMs);
  }

  #next(): void {
    if (this.#busy || this.#cooling || this.#stopped || this.#waiting.length === 0) return;
    const jobs = this.#gather();
    if (jobs.length === 0) return;
    // A rest that did not fit follows as soon as this is done.
    if (this.#waiting.length === 0) this.#cool(this.#options.tickMs);
    void this.#run(jobs);
  }

  /** Makes a batch of what waits, as far as output has room. */
  #gather(): Job[] {
    const { plan, outputBytesMax } = this.#slab;
    const { up, down } = plan.ratio;
    const waiting = this.#waiting;
    this.#waiting = [];
    const jobs: Job[] = [];
    let outputByte = 0;
    for (const [index, lane] of waiting.entries()) {
      const groups = Math.floor(lane.input.samples / down);
      const { blocks, bytes } = blocksFor(plan, groups);
      if (jobs.length === jobsMax || outputByte + bytes > outputBytesMax) {
        this.#waiting = [...waiting.slice(index), ...this.#waiting];
        break;
      }
      lane.waits = false;
      if (lane.closed || groups === 0) continue;
      const half = lane.input.swap(groups * down);
      this.#slab.setJob(jobs.length, lane.input.slot, half, outputByte, blocks);
      jobs.push({ lane, outputByte, outputBytes: groups * up * 2 });
      outputByte += bytes;
      // A backlog has moved up into the other half.
      if (lane.input.samples >= down) lane.wait();
    }
    return jobs;
  }

  async #run(jobs: readonly Job[]): Promise<void> {
    this.#busy = true;
    const isDone = await this.#attempt(jobs.length);
    this.#busy = false;
    if (this.#stopped) return;
    this.status.batches += 1;
    if (isDone) this.#deliver(jobs);
    else this.#fail();
    this.#next();
  }

  async #attempt(jobs: number): Promise<boolean> {
    for (let attempt = 1; attempt <= attemptsMax && !this.#stopped; attempt++) {
      const answer = await this.#pool.run(taskFile, jobs);
      if (answer.ok) return true;
      if (attempt < attemptsMax) this.status.retries += 1;
      this.#options.log.warn({ refused: answer.refused, attempt, jobs }, 'resampling failed');
    }
    return false;
  }

  #deliver(jobs: readonly Job[]): void {
    for (const { lane, outputByte, outputBytes } of jobs) {
      if (!lane.closed) lane.listener.output(this.#slab.output(outputByte, outputBytes));
    }
  }

  #fail(): void {
    for (const lane of [...this.#open]) {
      lane.close();
      lane.listener.failed();
    }
  }
}

class SessionLane implements Lane {
  readonly #set: LaneSet;
  readonly input: LaneInput;
  readonly listener: LaneListener;
  droppedFrames = 0;
  closed = false;
  /** It is in the queue of the next batch. */
  waits = false;

  constructor(set: LaneSet, input: LaneInput, listener: LaneListener) {
    this.#set = set;
    this.input = input;
    this.listener = listener;
  }

  push(frame: Uint8Array): boolean {
    const { byteLength } = frame;
    assert(byteLength % 2 === 0 && byteLength <= frameBytesMax, 'a frame is a few whole samples');
    if (this.closed) return false;
    if (!this.input.push(frame)) {
      this.droppedFrames += 1;
      this.#set.status.droppedFrames += 1;
      return false;
    }
    this.#set.status.frames += 1;
    this.wait();
    return true;
  }

  wait(): void {
    if (this.waits) return;
    this.waits = true;
    this.#set.enqueue(this);
  }

  close(): void {
    this.closed = true;
    this.#set.release(this);
  }
}

function defaultsOf({ tickMs, timeoutMs }: LanesOptions): typeof defaults {
  return { tickMs: tickMs ?? defaults.tickMs, timeoutMs: timeoutMs ?? defaults.timeoutMs };
}

/** The lanes of one shard. No thread starts before the first lane is opened. */
export function createLanes(options: LanesOptions): Lanes {
  return new LaneSet(options);
}
