// 16 → 24 kHz for all live sessions of a shard: what they bring within a tick is one batch for the
// shard's own Piscina. A batch that fails is run again: its input is still in the slab. Who brings
// seconds at once gets a few frames into each batch, so that the others wait for no more than that.
import { strict as assert } from 'node:assert';
import type { Logger } from '../../../runtime/log.ts';
import { LaneInput } from './input.ts';
import { type BatchRunner, createBatchRunner, idleMs } from './runner.ts';
import { blocksFor, createSlab, frameBytesMax, jobsMax, type Slab } from './slab.ts';

export interface LaneListener {
  /**
   * 24 kHz pcm_s16le of one or several frames, in order and without gaps. The bytes are in shared
   * memory and valid during the call only.
   */
  output(pcm: Uint8Array): void;
  /** The threads do not answer. The lane is closed; what it held is lost. */
  failed(): void;
  /** What one of the two threw. The lane is closed; the others of the batch notice nothing. */
  fault(error: unknown): void;
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
  /** Batches begin at most this often; a frame waits so long at most, when threads answer. */
  tickMs?: number;
  /** Of one attempt. */
  timeoutMs?: number;
  /** Of the thread's task, which ends by itself and is begun again. */
  termMs?: number;
}

/** A batch costs 20 to 40 µs of CPU whatever it has to do: 300 sessions bring 37 frames in 4 ms. */
const defaults = { tickMs: 4, timeoutMs: 700, termMs: 30_000 };
/** The first batch also waits for the thread to start. */
const startPatience = { timeoutMs: 10_000, attemptsMax: 1 };

interface Job {
  lane: SessionLane;
  outputByte: number;
  outputBytes: number;
}

/** Batches in their order, one in flight. */
class LaneSet implements Lanes {
  readonly #slab: Slab;
  readonly #runner: BatchRunner;
  readonly #tickMs: number;
  readonly #free: number[];
  readonly #open = new Set<SessionLane>();
  /** Lanes with input, in the order in which it came. */
  #waiting: SessionLane[] = [];
  /** A batch is being computed. */
  #busy = false;
  /** The next one has its moment. */
  #isDue = false;
  #begunMs = 0;
  /** More waits than there was room for in the batch. */
  #hasRest = false;
  #stopped = false;
  #warming: NodeJS.Timeout | undefined;
  readonly status: LanesStatus = { open: 0, frames: 0, batches: 0, droppedFrames: 0, retries: 0 };

  constructor(options: LanesOptions) {
    const { tickMs, ...patience } = { ...defaults, ...options };
    this.#tickMs = tickMs;
    this.#slab = createSlab(options.lanesMax);
    this.#runner = createBatchRunner(this.#slab, patience);
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
    if (!this.#busy && !this.#isDue) this.#plan();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    clearInterval(this.#warming);
    await this.#runner.stop();
  }

  /** Starts the thread before the first frame needs it, and keeps it while there are lanes. */
  #warm(): void {
    if (this.#busy) return;
    this.#busy = true;
    void this.#runner.run(0, startPatience).then(() => {
      this.#busy = false;
      this.#next();
    });
  }

  /** Gives the next batch its moment. One that is due now still gets all frames of this turn. */
  #plan(): void {
    this.#isDue = true;
    const waitMs = this.#begunMs + this.#tickMs - performance.now();
    if (waitMs > 0) setTimeout(() => this.#begin(), waitMs);
    else setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#isDue = false;
    this.#next();
  }

  #next(): void {
    if (this.#busy || this.#isDue || this.#stopped || this.#waiting.length === 0) return;
    // Before it is made: what waits for the one after it, as a backlog does, must not plan that.
    this.#busy = true;
    this.#begunMs = performance.now();
    const jobs = this.#gather();
    if (jobs.length > 0) void this.#run(jobs);
    else this.#busy = false;
  }

  /** Makes a batch of what waits, as far as output has room. */
  #gather(): Job[] {
    const { plan, outputBytesMax } = this.#slab;
    const { up, down } = plan.ratio;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#hasRest = false;
    const jobs: Job[] = [];
    let outputByte = 0;
    for (const [index, lane] of waiting.entries()) {
      const groups = Math.floor(lane.input.samples / down);
      const { blocks, bytes } = blocksFor(plan, groups);
      if (jobs.length === jobsMax || outputByte + bytes > outputBytesMax) {
        this.#waiting = [...waiting.slice(index), ...this.#waiting];
        this.#hasRest = true;
        break;
      }
      lane.waits = false;
      if (lane.closed || groups === 0) continue;
      const half = lane.input.swap(groups * down);
      this.#slab.setJob(jobs.length, lane.input.slot, half, outputByte, blocks);
      jobs.push({ lane, outputByte, outputBytes: groups * up * 2 });
      outputByte += bytes;
      // A backlog has moved up into the other half: its turn is the next tick, behind the others.
      if (lane.input.samples >= down) lane.wait();
    }
    return jobs;
  }

  async #run(jobs: readonly Job[]): Promise<void> {
    const isDone = await this.#runner.run(jobs.length);
    this.#busy = false;
    if (this.#stopped) return;
    this.status.batches += 1;
    this.status.retries = this.#runner.retries;
    if (isDone) this.#deliver(jobs);
    else this.#fail();
    if (this.#waiting.length === 0) return;
    // What did not fit follows at once.
    if (this.#hasRest) this.#next();
    else if (!this.#isDue) this.#plan();
  }

  #deliver(jobs: readonly Job[]): void {
    for (const { lane, outputByte, outputBytes } of jobs) {
      if (lane.closed) continue;
      try {
        lane.listener.output(this.#slab.output(outputByte, outputBytes));
      } catch (error) {
        lane.close();
        lane.listener.fault(error);
      }
    }
  }

  #fail(): void {
    for (const lane of [...this.#open]) {
      lane.close();
      try {
        lane.listener.failed();
      } catch (error) {
        lane.listener.fault(error);
      }
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

/** The lanes of one shard. No thread starts before the first lane is opened. */
export function createLanes(options: LanesOptions): Lanes {
  return new LaneSet(options);
}
