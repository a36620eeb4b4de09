// The three handles behind ActorRef: an actor of this node, of another one, or placed by its id.
// A reference names an id, not one life of it: it finds whoever has the id when a message is sent.
import type { Cell } from './cell.ts';
import type { Answer, AskFailure } from './contract.ts';
import { failed, PendingAsk } from './deadline.ts';
import type { Population } from './population.ts';
import type { Transport } from './transport.ts';

/** Finds or starts the actor that a placed message is for; null when none may start any more. */
export type Activate = (population: Population, id: string) => Cell | AskFailure;

/** An actor that was spawned on this node. */
export class LocalRef {
  readonly #population: Population;
  readonly id: string;
  #cell: Cell | null;

  constructor(population: Population, id: string, cell: Cell | null) {
    this.#population = population;
    this.id = id;
    this.#cell = cell;
  }

  get kind(): string {
    return this.#population.kind.name;
  }

  tell(message: string, payload: unknown): boolean {
    return this.#find()?.deliver(message, payload, null) === null;
  }

  ask(message: string, payload: unknown, timeoutMs: number): Promise<Answer<unknown>> {
    const cell = this.#find();
    if (cell === null) return Promise.resolve(failed('stopped'));
    return cell.ask(message, payload, timeoutMs);
  }

  #find(): Cell | null {
    if (this.#cell === null || this.#cell.phase === 'ended') {
      this.#cell = this.#population.cells.get(this.id) ?? null;
    }
    return this.#cell;
  }
}

/** An actor on one given other node. */
export class RemoteRef {
  readonly #population: Population;
  readonly #transport: Transport;
  readonly #node: number;
  readonly id: string;

  constructor(population: Population, transport: Transport, node: number, id: string) {
    this.#population = population;
    this.#transport = transport;
    this.#node = node;
    this.id = id;
  }

  get kind(): string {
    return this.#population.kind.name;
  }

  tell(message: string, payload: unknown): boolean {
    const refusal = this.#transport.send(this.#node, this.kind, this.id, message, payload, null);
    return refusal === null;
  }

  ask(message: string, payload: unknown, timeoutMs: number): Promise<Answer<unknown>> {
    const ask = new PendingAsk();
    const refusal = this.#transport.send(this.#node, this.kind, this.id, message, payload, ask);
    if (refusal !== null) return Promise.resolve(failed(refusal));
    return this.#population.machinery.wheel.wait(ask, timeoutMs);
  }
}

/** An actor of a hashed or main kind: wherever its id lives now, started by its first message. */
export class PlacedRef {
  readonly #population: Population;
  readonly #transport: Transport | null;
  readonly #activate: Activate;
  readonly id: string;
  #cell: Cell | null = null;
  #node: number | null = null;
  #placementVersion = -1;

  constructor(population: Population, transport: Transport | null, activate: Activate, id: string) {
    this.#population = population;
    this.#transport = transport;
    this.#activate = activate;
    this.id = id;
  }

  get kind(): string {
    return this.#population.kind.name;
  }

  tell(message: string, payload: unknown): boolean {
    const node = this.#place();
    if (node === this.#population.machinery.node) {
      const cell = this.#find();
      return typeof cell !== 'string' && cell.accept(message, payload, null) === null;
    }
    return this.#send(node, message, payload, null) === null;
  }

  ask(message: string, payload: unknown, timeoutMs: number): Promise<Answer<unknown>> {
    const node = this.#place();
    if (node === this.#population.machinery.node) {
      const cell = this.#find();
      if (typeof cell === 'string') return Promise.resolve(failed(cell));
      return cell.ask(message, payload, timeoutMs);
    }
    const ask = new PendingAsk();
    const refusal = this.#send(node, message, payload, ask);
    if (refusal !== null) return Promise.resolve(failed(refusal));
    return this.#population.machinery.wheel.wait(ask, timeoutMs);
  }

  #send(
    node: number | null,
    message: string,
    payload: unknown,
    replyTo: PendingAsk | null,
  ): AskFailure | null {
    if (node === null || this.#transport === null) return 'unreachable';
    return this.#transport.send(node, this.kind, this.id, message, payload, replyTo);
  }

  #place(): number | null {
    if (this.#transport === null) return this.#population.machinery.node;
    const { placementVersion } = this.#transport;
    if (this.#placementVersion !== placementVersion) {
      this.#placementVersion = placementVersion;
      const { placement } = this.#population.kind;
      this.#node = placement === 'main' ? 0 : this.#transport.nodeOf(this.id);
    }
    return this.#node;
  }

  #find(): Cell | AskFailure {
    if (this.#cell !== null && this.#cell.phase !== 'ended') return this.#cell;
    const cell = this.#activate(this.#population, this.id);
    this.#cell = typeof cell === 'string' ? null : cell;
    return cell;
  }
}
