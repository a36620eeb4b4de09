// All actors of one kind on one node, their counters, and what their cells need from the system.
import { strict as assert } from 'node:assert';
import { TransientMap } from '../transient.ts';
import type { Cell } from './cell.ts';
import type {
  ActorLog,
  ActorSystem,
  AnyKind,
  EndReason,
  KindStatus,
  Placement,
  Supervision,
} from './contract.ts';
import type { DeadlineWheel } from './deadline.ts';
import type { Envelope } from './mailbox.ts';
import type { Scheduler } from './scheduler.ts';

export type Handler = (state: unknown, payload: unknown, context: unknown) => unknown;

export interface Batching {
  lengthMax: number;
  overlapFrom?: number;
  receive(state: unknown, batch: Envelope[], context: unknown): unknown;
}

/** A kind as the machinery calls it; its types were checked where it was declared. */
export interface RunnableKind {
  readonly name: string;
  readonly parent: string;
  readonly placement: Placement;
  readonly supervision: Supervision;
  readonly mailboxLengthMax: number;
  readonly populationMax?: number;
  readonly idleTimeoutMs?: number;
  start(context: unknown, args: unknown): unknown;
  readonly behaviour: Record<string, Handler> | { readonly batch: Batching };
  stopped?(state: unknown, reason: EndReason): void;
}

/** What the cells of all kinds of one node use together. */
export interface NodeMachinery {
  readonly node: number;
  readonly system: ActorSystem;
  readonly scheduler: Scheduler;
  readonly wheel: DeadlineWheel;
  readonly log: ActorLog;
  nowMs(): number;
}

export class Population {
  readonly kind: RunnableKind;
  readonly machinery: NodeMachinery;
  readonly cells = new TransientMap<string, Cell>();
  /** By message; a Map, so that no message can name what an object inherits. */
  readonly handlers: Map<string, Handler>;
  readonly batching: Batching | null;
  mailboxLength = 0;
  messagesHandled = 0;
  crashes = 0;
  refused = 0;
  /** Counts passivation ticks; a cell notes the one at which it last had a message. */
  idleTick = 0;
  /** No actor of this kind starts any more. */
  closed = false;
  onStart: ((cell: Cell) => void) | null = null;
  #onEmpty: (() => void) | null = null;

  constructor(kind: AnyKind, machinery: NodeMachinery) {
    this.kind = kind as unknown as RunnableKind;
    this.machinery = machinery;
    const { behaviour, name, mailboxLengthMax } = this.kind;
    assert(mailboxLengthMax > 0, `kind ${name} has no mailbox`);
    // A protocol may well have a message called `batch`: then it is a function.
    const batching = 'batch' in behaviour && typeof behaviour.batch === 'object';
    this.batching = batching ? (behaviour.batch as Batching) : null;
    this.handlers = new Map(batching ? [] : Object.entries(behaviour as Record<string, Handler>));
    assert(this.batching === null || this.batching.lengthMax > 0, `kind ${name} has no batch`);
  }

  get full(): boolean {
    return this.cells.size >= (this.kind.populationMax ?? Number.POSITIVE_INFINITY);
  }

  remove(cell: Cell): void {
    if (this.cells.get(cell.id) === cell) this.cells.delete(cell.id);
    if (this.cells.size === 0) this.#onEmpty?.();
  }

  /** Ends every actor once its mailbox is empty; resolves when the last one is gone. */
  drain(): Promise<void> {
    this.closed = true;
    for (const cell of [...this.cells.values()]) cell.drain();
    if (this.cells.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends every actor now, whatever it is doing. */
  endAll(): void {
    for (const cell of [...this.cells.values()]) cell.end('shutdown');
  }

  status(): KindStatus {
    return {
      node: this.machinery.node,
      kind: this.kind.name,
      parent: this.kind.parent,
      alive: this.cells.size,
      mailboxLength: this.mailboxLength,
      messagesHandled: this.messagesHandled,
      crashes: this.crashes,
      refused: this.refused,
    };
  }
}
