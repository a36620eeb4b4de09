// One process's work on one analysis, under one epoch. Every write of it names the epoch, so a run
// that was replaced changes nothing. Its clock is the database's, as it was when it was taken.
import type { VideoAnalysis } from '../../db/video-analyses.ts';
import type { LeasedWork } from '../../runtime/work/leases.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { AnalysisDeps } from './deps.ts';
import type { ShownFrame } from './request.ts';
import type { SourceFacts } from './source-facts.ts';

/** Parts of the work, with the progress at their ends and how long they usually take. */
const steps = {
  source: { from: 1, to: 25, usualMs: 5_000 },
  frames: { from: 25, to: 50, usualMs: 3_000 },
  answer: { from: 50, to: 95, usualMs: 15_000 },
} as const;

type StepName = keyof typeof steps;

/** A source as far as it was looked at here. */
export interface Prepared {
  facts: SourceFacts;
  frames: readonly ShownFrame[];
}

export class Run implements LeasedWork {
  readonly deps: AnalysisDeps;
  /** As it was taken. */
  readonly row: VideoAnalysis;
  /** As the row has them; here or by an earlier run. */
  facts: SourceFacts | null;
  /** Frames are made once in a run. */
  prepared: Prepared | null = null;
  /** A model is asked: that is waited for by a stop, and begun no more. */
  isAnswering = false;
  isLeaving = false;
  readonly #stopping = new AbortController();
  readonly #late: AbortSignal;
  /** Stopped or late: what is under way is cut off. */
  readonly signal: AbortSignal;
  readonly #untilMs: number;
  #step: StepName = 'source';
  #stepMs = performance.now();
  #progress: number;

  constructor(deps: AnalysisDeps, row: VideoAnalysis) {
    this.deps = deps;
    this.row = row;
    this.facts = row.source === null ? null : (JSON.parse(row.source) as SourceFacts);
    this.#progress = row.progress;
    const usedMs = row.nowMs - (row.runningMs ?? row.nowMs);
    const leftMs = Math.max(0, deps.limits.runningForMs - usedMs);
    this.#untilMs = performance.now() + leftMs;
    this.#late = AbortSignal.timeout(leftMs);
    this.signal = AbortSignal.any([this.#stopping.signal, this.#late]);
  }

  get id(): string {
    return this.row.id;
  }

  get epoch(): number {
    return this.row.epoch;
  }

  /** It never falls, and within a step comes ever closer to its end. */
  get progress(): number {
    const { from, to, usualMs } = steps[this.#step];
    const share = 1 - Math.exp((this.#stepMs - performance.now()) / usualMs);
    this.#progress = Math.max(this.#progress, Math.floor(from + (to - from) * share));
    return this.#progress;
  }

  begin(step: StepName): void {
    // What is attached to needs no frames again: it does not go back.
    if (steps[step].from < steps[this.#step].from) return;
    this.#step = step;
    this.#stepMs = performance.now();
  }

  /** It is another's, or this process stops: nothing more is written. */
  get isGone(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Its deadline has passed. */
  get isLate(): boolean {
    return this.#late.aborted || this.leftMs === 0;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - performance.now());
  }

  stop(): void {
    this.#stopping.abort();
  }

  lost(): void {
    this.#stopping.abort();
  }

  /** The process stops: an answer is waited for, nothing else is. */
  leave(): void {
    this.isLeaving = true;
    if (!this.isAnswering) this.stop();
  }

  pause(ms: number): Promise<void> {
    return pause(Math.min(ms, this.leftMs), this.signal);
  }

  /** While nobody else has it, also behind its deadline. */
  pauseToWrite(ms: number): Promise<void> {
    return pause(ms, this.#stopping.signal);
  }
}
