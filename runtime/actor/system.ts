// The actors of one node (thread): finds, starts and stops them, and receives for them.
// Kinds are given once, by name, so that a message from another node can activate an actor.
import { strict as assert } from 'node:assert';
import { awakeMs } from '../awake.ts';
import { Cell } from './cell.ts';
import type {
  ActorAddress,
  ActorKind,
  ActorLog,
  ActorRef,
  ActorSystem,
  AnyKind,
  AskFailure,
  KindStatus,
  Protocol,
} from './contract.ts';
import { DeadlineWheel, type ReplyTo } from './deadline.ts';
import { startPassivation } from './passivation.ts';
import { type NodeMachinery, Population } from './population.ts';
import { LocalRef, PlacedRef, RemoteRef } from './ref.ts';
import { Scheduler } from './scheduler.ts';
import type { Inbound, Transport } from './transport.ts';

export interface ActorSystemOptions {
  /** 0 is the main thread, 1 and up are shards. */
  node: number;
  /** In the order of the tree, parents first: `stop` ends the last ones first. */
  kinds: readonly AnyKind[];
  log: ActorLog;
  /** The way to other nodes; without one, hashed and main kinds live here. */
  transport?: Transport;
  /** Milliseconds that never go back; default those awake. */
  nowMs?: () => number;
}

/** Builds the actor system of one node. */
export function createActorSystem(options: ActorSystemOptions): ActorSystem {
  return new NodeActorSystem(options);
}

class NodeActorSystem implements ActorSystem, Inbound {
  readonly node: number;
  readonly #populations = new Map<string, Population>();
  readonly #transport: Transport | null;
  readonly #log: ActorLog;
  readonly #endPassivation: () => void;

  constructor(options: ActorSystemOptions) {
    const nowMs = options.nowMs ?? awakeMs;
    this.node = options.node;
    this.#transport = options.transport ?? null;
    this.#log = options.log;
    const machinery: NodeMachinery = {
      node: options.node,
      system: this,
      scheduler: new Scheduler(),
      wheel: new DeadlineWheel(nowMs),
      log: options.log,
      nowMs,
    };
    for (const kind of options.kinds) {
      assert(!this.#populations.has(kind.name), `kind ${kind.name} is listed twice`);
      this.#populations.set(kind.name, new Population(kind, machinery));
    }
    this.#endPassivation = startPassivation(this.#populations.values());
    this.#transport?.bind(this);
  }

  spawn<P extends Protocol<P>, S, A>(
    kind: ActorKind<P, S, A>,
    id: string,
    args: A,
  ): ActorRef<P> | null {
    const population = this.#populationOf(kind.name);
    assert(kind.placement === 'local', `kind ${kind.name} is activated, not spawned`);
    if (population.closed || population.full || population.cells.has(id)) {
      population.refused += 1;
      return null;
    }
    const cell = startCell(population, id, args);
    return cell.neverStarted ? null : typed<P>(new LocalRef(population, id, cell));
  }

  ref<P extends Protocol<P>, S, A>(kind: ActorKind<P, S, A>, id: string): ActorRef<P> {
    const population = this.#populationOf(kind.name);
    if (kind.placement === 'local') return typed<P>(new LocalRef(population, id, null));
    return typed<P>(new PlacedRef(population, this.#transport, activate, id));
  }

  at<P extends Protocol<P>, S, A>(kind: ActorKind<P, S, A>, address: ActorAddress): ActorRef<P> {
    assert.equal(kind.name, address.kind, 'the address names another kind');
    if (kind.placement !== 'local' || address.node === this.node || this.#transport === null) {
      return this.ref(kind, address.id);
    }
    const population = this.#populationOf(kind.name);
    return typed<P>(new RemoteRef(population, this.#transport, address.node, address.id));
  }

  receive(
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    replyTo: ReplyTo | null,
  ): AskFailure | null {
    const population = this.#populations.get(kind);
    if (population === undefined) {
      this.#log.error({ kind, id, message, node: this.node }, 'message for an unknown kind');
      return 'unreachable';
    }
    const cell =
      population.kind.placement === 'local'
        ? (population.cells.get(id) ?? 'stopped')
        : activate(population, id);
    if (typeof cell === 'string') return cell;
    if (replyTo === null) return cell.accept(message, payload, null);
    return cell.deliver(message, payload, replyTo);
  }

  status(): KindStatus[] {
    return [...this.#populations.values()].map((population) => population.status());
  }

  async stop(deadlineMs: number): Promise<void> {
    let expire: NodeJS.Timeout | undefined;
    const deadline = new Promise<'expired'>((resolve) => {
      expire = setTimeout(resolve, deadlineMs, 'expired');
    });
    // Later kinds use earlier ones (a generation its wallet), so they empty their mailboxes first.
    for (const population of [...this.#populations.values()].reverse()) {
      if ((await Promise.race([population.drain(), deadline])) === 'expired') break;
    }
    clearTimeout(expire);
    this.#endPassivation();
    for (const population of this.#populations.values()) {
      population.closed = true;
      population.endAll();
    }
  }

  #populationOf(kind: string): Population {
    const population = this.#populations.get(kind);
    assert(population !== undefined, `kind ${kind} is not registered on node ${this.node}`);
    return population;
  }
}

function startCell(population: Population, id: string, args: unknown): Cell {
  const cell = new Cell(population, id, args);
  population.cells.set(id, cell);
  population.onStart?.(cell);
  cell.start();
  return cell;
}

function activate(population: Population, id: string): Cell | AskFailure {
  const cell = population.cells.get(id);
  if (cell !== undefined) return cell;
  if (population.closed) return 'stopped';
  if (population.full) {
    population.refused += 1;
    return 'overloaded';
  }
  return startCell(population, id, undefined);
}

/** The one place where the protocol's types are put back on; they were checked at the kind. */
function typed<P>(ref: LocalRef | PlacedRef | RemoteRef): ActorRef<P> {
  return ref as unknown as ActorRef<P>;
}
