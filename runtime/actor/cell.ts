// One running actor: its state, its mailbox and its life from start to end. It is also the context
// that its handlers are given, so an idle actor is one object, a mailbox and a place in a map.
import { strict as assert } from 'node:assert';
import type {
  ActorAddress,
  ActorContext,
  ActorRef,
  ActorSystem,
  Answer,
  AskFailure,
  EndReason,
  Timer,
} from './contract.ts';
import { failed, PendingAsk, type ReplyTo } from './deadline.ts';
import { Envelope, Mailbox } from './mailbox.ts';
import type { NodeMachinery, Population } from './population.ts';
import { LocalRef } from './ref.ts';
import type { Runnable } from './scheduler.ts';
import { judge } from './supervisor.ts';
import { ActorTimer, type TimerOwner } from './timer.ts';

/** Messages as the machinery sees them. */
type AnyProtocol = Record<string, (payload: unknown) => unknown>;
type Phase = 'starting' | 'ready' | 'busy' | 'ended';

export class Cell implements ActorContext<AnyProtocol>, Runnable, TimerOwner {
  readonly id: string;
  readonly population: Population;
  phase: Phase = 'starting';
  nextRunnable: Runnable | null = null;
  timers: Set<ActorTimer> | null = null;
  /** The passivation tick of the last message. */
  lastTick: number;
  #state: unknown;
  readonly #args: unknown;
  readonly #mailbox = new Mailbox();
  #hasState = false;
  #hadState = false;
  #scheduled = false;
  #ending: 'no' | 'after-message' | 'after-mailbox' = 'no';
  #crashTimes: number[] | null = null;
  /** Who waits for the async handler that runs now. */
  #waiting: ReplyTo | null = null;
  /** Batches under way, the older first. */
  #batches: Envelope[][] = [];

  constructor(population: Population, id: string, args: unknown) {
    this.population = population;
    this.id = id;
    this.#args = args;
    this.lastTick = population.idleTick;
  }

  get address(): ActorAddress {
    return { node: this.#machinery.node, kind: this.population.kind.name, id: this.id };
  }

  get self(): ActorRef<AnyProtocol> {
    return new LocalRef(this.population, this.id, this);
  }

  get system(): ActorSystem {
    return this.#machinery.system;
  }

  get idle(): boolean {
    return this.phase === 'ready' && this.#mailbox.length === 0;
  }

  /** It ended without ever having had a state. */
  get neverStarted(): boolean {
    return this.phase === 'ended' && !this.#hadState;
  }

  get #machinery(): NodeMachinery {
    return this.population.machinery;
  }

  get #takesMore(): boolean {
    if (this.phase !== 'busy') return this.phase === 'ready';
    const from = this.population.batching?.overlapFrom;
    if (from === undefined || this.#batches.length !== 1) return false;
    return this.#mailbox.length >= from && this.#ending !== 'after-message';
  }

  after(delayMs: number, message: string, payload: unknown): Timer {
    return this.#addTimer(delayMs, message, payload, false);
  }

  every(periodMs: number, message: string, payload: unknown): Timer {
    return this.#addTimer(periodMs, message, payload, true);
  }

  stop(): void {
    if (this.phase === 'ended') return;
    this.#ending = 'after-message';
    if (this.phase === 'ready') this.end('stopped');
  }

  /** Ends once everything that waits now, and what comes meanwhile, is handled. */
  drain(): void {
    this.#cancelTimers();
    if (this.idle) this.end('shutdown');
    else if (this.#ending === 'no') this.#ending = 'after-mailbox';
  }

  /** Queues a message; says why not, or null. */
  accept(message: string, payload: unknown, replyTo: ReplyTo | null): AskFailure | null {
    if (this.phase === 'ended') return 'stopped';
    if (this.#mailbox.length >= this.population.kind.mailboxLengthMax) {
      this.population.refused += 1;
      return 'overloaded';
    }
    this.#push(message, payload, replyTo);
    return null;
  }

  /** Like `accept`, but an idle actor handles the message at once, on the stack of the caller. */
  deliver(message: string, payload: unknown, replyTo: ReplyTo | null): AskFailure | null {
    const { scheduler } = this.#machinery;
    if (!this.idle || this.population.batching !== null || !scheduler.enterInline()) {
      return this.accept(message, payload, replyTo);
    }
    try {
      this.#handle(message, payload, replyTo);
    } finally {
      scheduler.leaveInline();
    }
    return null;
  }

  ask(message: string, payload: unknown, timeoutMs: number): Promise<Answer<unknown>> {
    const ask = new PendingAsk();
    const refusal = this.deliver(message, payload, ask);
    if (refusal !== null) return Promise.resolve(failed(refusal));
    return this.#machinery.wheel.wait(ask, timeoutMs);
  }

  timerFired(message: string, payload: unknown, again: boolean): void {
    if (this.phase === 'ended') return;
    // A single timer is never lost, so it passes the bound; a period has another one coming.
    if (again) this.accept(message, payload, null);
    else this.#push(message, payload, null);
  }

  runSlice(messagesMax: number): number {
    this.#scheduled = false;
    let handled = 0;
    while (this.#takesMore && this.#mailbox.length > 0 && handled < messagesMax) {
      if (this.population.batching !== null) {
        handled += this.#handleBatch(this.population.batching.lengthMax);
        continue;
      }
      const envelope = this.#shift();
      if (envelope === null) break;
      this.#handle(envelope.message, envelope.payload, envelope.replyTo);
      handled += 1;
    }
    this.#schedule();
    return handled;
  }

  /** Builds the state. Called once by whoever made the cell, then by the supervisor. */
  start(): void {
    this.phase = 'starting';
    let state: unknown;
    try {
      state = this.population.kind.start(this, this.#args);
    } catch (error) {
      this.#startFailed(error);
      return;
    }
    if (state instanceof Promise) {
      state.then(
        (value: unknown) => this.#started(value),
        (error: unknown) => this.#startFailed(error),
      );
    } else this.#started(state);
  }

  /** Ends the actor now; whoever waits gets an answer. A handler that still runs is disowned. */
  end(reason: EndReason): void {
    if (this.phase === 'ended') return;
    this.phase = 'ended';
    this.#cancelTimers();
    this.population.remove(this);
    const failure = reason === 'crashed' ? 'actor_crashed' : 'stopped';
    this.#failWaiting(failure);
    this.#failQueued(failure);
    this.#discardState(reason);
  }

  #push(message: string, payload: unknown, replyTo: ReplyTo | null): void {
    this.#mailbox.push(new Envelope(message, payload, replyTo));
    this.population.mailboxLength += 1;
    this.#schedule();
  }

  #shift(): Envelope | null {
    const envelope = this.#mailbox.shift();
    if (envelope !== null) this.population.mailboxLength -= 1;
    return envelope;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#takesMore || this.#mailbox.length === 0) return;
    this.#scheduled = true;
    const { scheduler } = this.#machinery;
    if (this.population.batching === null) scheduler.schedule(this);
    else scheduler.gather(this);
  }

  #handle(message: string, payload: unknown, replyTo: ReplyTo | null): void {
    this.#begin(1);
    let result: unknown;
    try {
      const handler = this.population.handlers.get(message);
      assert(handler !== undefined, `no handler for message ${message}`);
      result = handler(this.#state, payload, this);
    } catch (error) {
      replyTo?.settle(failed('actor_crashed'));
      this.#crashed(error, message, payload);
      return;
    }
    if (!(result instanceof Promise)) {
      replyTo?.settle({ ok: true, value: result });
      this.#done();
      return;
    }
    this.#waiting = replyTo;
    result.then(
      (value: unknown) => {
        replyTo?.settle({ ok: true, value });
        this.#done();
      },
      (error: unknown) => this.#crashed(error, message, payload),
    );
  }

  #handleBatch(lengthMax: number): number {
    const batch: Envelope[] = [];
    for (let envelope = this.#shift(); envelope !== null; envelope = this.#shift()) {
      batch.push(envelope);
      if (batch.length >= lengthMax) break;
    }
    this.#begin(batch.length);
    this.#batches.push(batch);
    try {
      const result = this.population.batching?.receive(this.#state, batch, this);
      if (result instanceof Promise) {
        result.then(
          () => this.#batchDone(batch),
          (error: unknown) => this.#batchCrashed(error, batch),
        );
      } else this.#batchDone(batch);
    } catch (error) {
      this.#batchCrashed(error, batch);
    }
    return batch.length;
  }

  #batchDone(batch: Envelope[]): void {
    if (!this.#forget(batch)) return;
    if (this.#batches.length === 0) this.#done();
    else this.#schedule();
  }

  /** The other batch, of the state that is given up, answers for itself. */
  #batchCrashed(error: unknown, batch: Envelope[]): void {
    const isOurs = this.#forget(batch);
    for (const envelope of batch) envelope.replyTo?.settle(failed('actor_crashed'));
    if (isOurs) this.#crashed(error, 'batch', undefined);
    else this.#logCrash(error, 'batch', undefined);
  }

  #forget(batch: Envelope[]): boolean {
    const index = this.#batches.indexOf(batch);
    if (index !== -1) this.#batches.splice(index, 1);
    return index !== -1;
  }

  #begin(messages: number): void {
    this.phase = 'busy';
    this.lastTick = this.population.idleTick;
    this.population.messagesHandled += messages;
  }

  #done(): void {
    if (this.phase === 'ended') return;
    this.#waiting = null;
    this.phase = 'ready';
    if (this.#ending === 'after-message') this.end('stopped');
    else if (this.#ending === 'after-mailbox' && this.#mailbox.length === 0) this.end('shutdown');
    else this.#schedule();
  }

  #started(state: unknown): void {
    this.#state = state;
    this.#hasState = true;
    this.#hadState = true;
    // Shut down while it was starting: the new state still has to be let go.
    if (this.phase === 'ended') this.#discardState('shutdown');
    else this.#done();
  }

  #startFailed(error: unknown): void {
    if (this.phase === 'ended') return;
    this.#failQueued('actor_crashed');
    this.#crashed(error, 'start', undefined);
  }

  #crashed(error: unknown, message: string, payload: unknown): void {
    this.#logCrash(error, message, payload);
    if (this.phase === 'ended') return;
    this.#waiting?.settle(failed('actor_crashed'));
    this.#waiting = null;
    this.#batches = [];
    const { kind } = this.population;
    this.#crashTimes ??= [];
    const now = this.#machinery.nowMs();
    const verdict = judge(kind.supervision, this.#crashTimes, now, this.#hasState);
    if (verdict === 'stop' || this.#ending === 'after-message') this.end('crashed');
    else if (verdict === 'resume') this.#done();
    else {
      this.#cancelTimers();
      this.#discardState('crashed');
      this.start();
    }
  }

  #logCrash(error: unknown, message: string, payload: unknown): void {
    const { kind } = this.population;
    const { log, node } = this.#machinery;
    this.population.crashes += 1;
    const details = { err: error, kind: kind.name, id: this.id, node, message };
    const requestId = requestIdOf(payload);
    log.error(requestId === null ? details : { ...details, requestId }, 'actor crashed');
  }

  #discardState(reason: EndReason): void {
    const state = this.#state;
    const had = this.#hasState;
    this.#state = undefined;
    this.#hasState = false;
    if (!had) return;
    const { kind } = this.population;
    try {
      kind.stopped?.(state, reason);
    } catch (error) {
      this.#machinery.log.error(
        { err: error, kind: kind.name, id: this.id },
        'actor threw while it ended',
      );
    }
  }

  #failWaiting(reason: AskFailure): void {
    this.#waiting?.settle(failed(reason));
    this.#waiting = null;
    for (const batch of this.#batches) {
      for (const envelope of batch) envelope.replyTo?.settle(failed(reason));
    }
    this.#batches = [];
  }

  #failQueued(reason: AskFailure): void {
    for (let envelope = this.#shift(); envelope !== null; envelope = this.#shift()) {
      envelope.replyTo?.settle(failed(reason));
    }
  }

  #addTimer(delayMs: number, message: string, payload: unknown, again: boolean): Timer {
    const timer = new ActorTimer(this, delayMs, message, payload, again);
    if (this.phase === 'ended') timer.cancel();
    else {
      this.timers ??= new Set();
      this.timers.add(timer);
    }
    return timer;
  }

  #cancelTimers(): void {
    const timers = this.timers;
    this.timers = null;
    if (timers !== null) for (const timer of timers) timer.cancel();
  }
}

function requestIdOf(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || !('requestId' in payload)) return null;
  return typeof payload.requestId === 'string' ? payload.requestId : null;
}
