// Lanes of upstreams that take 16 kHz as it is. A frame goes on at once; of what a client sends in
// a burst each lane passes on a few frames a tick, in one message, so that nobody waits for it all.
import { strict as assert } from 'node:assert';
import { backlogBytesMax } from './input.ts';
import type { Lane, LaneListener } from './lanes.ts';
import { inputFrameBytes } from './slab.ts';

type Listener = Pick<LaneListener, 'output' | 'fault'>;

export interface StraightLanes {
  /** Its output is 16 kHz pcm_s16le, one or several frames, valid during the call only. */
  open(listener: Listener): Lane;
  /** What waits is lost. */
  stop(): void;
}

/** 64 times real time: 5 s have gone on after 80 ms. */
const tickMs = 2;
const framesPerTick = 4;
const bytesPerTick = framesPerTick * inputFrameBytes;
/** Messages of one turn, about a millisecond's: a thousand lanes still catch up. */
const lanesPerTick = 64;

class StraightSet implements StraightLanes {
  /** Lanes with a backlog, in the order of their turns. */
  #behind: StraightLane[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #tickEndMs = 0;

  open(listener: Listener): Lane {
    return new StraightLane(this, listener);
  }

  /** The number of the tick that runs. */
  get tick(): number {
    const nowMs = performance.now();
    if (nowMs >= this.#tickEndMs) {
      this.#tick += 1;
      this.#tickEndMs = nowMs + tickMs;
    }
    return this.#tick;
  }

  /** Called by a lane that has begun a backlog. */
  enqueue(lane: StraightLane): void {
    this.#behind.push(lane);
    if (this.#behind.length === 1) this.#plan();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#behind = [];
  }

  #plan(): void {
    this.#timer = setTimeout(() => this.#drain(), tickMs);
  }

  #drain(): void {
    const turn = this.#behind.slice(0, lanesPerTick);
    const left = turn.filter((lane) => lane.drain());
    this.#behind = [...this.#behind.slice(turn.length), ...left];
    if (this.#behind.length > 0) this.#plan();
  }
}

class StraightLane implements Lane {
  readonly #set: StraightSet;
  readonly #listener: Listener;
  droppedFrames = 0;
  #closed = false;
  #backlog: Uint8Array[] = [];
  #backlogBytes = 0;
  /** What went on at once within the tick. */
  #tick = 0;
  #passed = 0;

  constructor(set: StraightSet, listener: Listener) {
    this.#set = set;
    this.#listener = listener;
  }

  push(frame: Uint8Array): boolean {
    const { byteLength } = frame;
    assert(byteLength % 2 === 0 && byteLength <= bytesPerTick, 'a frame is a few whole samples');
    if (this.#closed) return false;
    if (this.#backlog.length === 0 && this.#mayPass()) {
      this.#listener.output(frame);
      return true;
    }
    if (this.#backlogBytes + byteLength > backlogBytesMax) {
      this.droppedFrames += 1;
      return false;
    }
    this.#backlog.push(new Uint8Array(frame));
    this.#backlogBytes += byteLength;
    if (this.#backlog.length === 1) this.#set.enqueue(this);
    return true;
  }

  /** Passes on what one tick may have; true: there is more. */
  drain(): boolean {
    let bytes = 0;
    let frames = 0;
    for (const { byteLength } of this.#backlog) {
      if (bytes + byteLength > bytesPerTick) break;
      bytes += byteLength;
      frames += 1;
    }
    if (frames === 0) return false;
    const pcm = Buffer.concat(this.#backlog.slice(0, frames), bytes);
    this.#backlog = this.#backlog.slice(frames);
    this.#backlogBytes -= bytes;
    try {
      this.#listener.output(pcm);
    } catch (error) {
      this.close();
      this.#listener.fault(error);
    }
    return this.#backlog.length > 0;
  }

  close(): void {
    this.#closed = true;
    this.#backlog = [];
    this.#backlogBytes = 0;
  }

  #mayPass(): boolean {
    const { tick } = this.#set;
    if (tick !== this.#tick) {
      this.#tick = tick;
      this.#passed = 0;
    }
    this.#passed += 1;
    return this.#passed <= framesPerTick;
  }
}

/** The straight lanes of one shard. */
export function createStraightLanes(): StraightLanes {
  return new StraightSet();
}
