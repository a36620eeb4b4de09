// One node's view of the others: a link to each, and which shards are live for placement.
// The actor system sends through it; the bus is served beside the actors.
import { strict as assert } from 'node:assert';
import type { ActorLog, AskFailure } from '../actor/contract.ts';
import { failed, type PendingAsk, type ReplyTo } from '../actor/deadline.ts';
import type { Inbound, Transport } from '../actor/transport.ts';
import { BusyPoll } from './busy-poll.ts';
import { Link, type LinkEnd, type LinkListener, ReturnPath } from './link.ts';
import { placeId } from './placement.ts';
import { type AskFrame, frameType, type TellFrame } from './wire.ts';

/** A receiver beside the actors: it owns one reserved kind name. `replyTo` is null for a tell. */
export type Service = (
  id: string,
  message: string,
  payload: unknown,
  replyTo: ReplyTo | null,
) => void;

export class Mesh implements Transport, LinkListener {
  readonly node: number;
  readonly #log: ActorLog;
  readonly #links = new Map<number, Link>();
  readonly #busyPoll = new BusyPoll();
  readonly #services = new Map<string, Service>();
  #inbound: Inbound | null = null;
  #live: readonly number[] = [];
  #placementVersion = 0;

  constructor(node: number, log: ActorLog) {
    this.node = node;
    this.#log = log;
  }

  get placementVersion(): number {
    return this.#placementVersion;
  }

  /** The shards that placement uses. */
  get liveShards(): readonly number[] {
    return this.#live;
  }

  /** Every node that a link leads to, live for placement or not. */
  get linkedNodes(): number[] {
    return [...this.#links.keys()];
  }

  nodeOf(id: string): number | null {
    return placeId(id, this.#live);
  }

  /** Replaces the set of live shards: ids move from those that left, and to those that came. */
  setLive(shards: readonly number[]): void {
    this.#live = [...shards];
    this.#placementVersion += 1;
  }

  /** Adds the link to a node, in place of an older one. */
  attach(end: LinkEnd): void {
    this.detach(end.node);
    const link = new Link(end, this, this.#log);
    this.#links.set(end.node, link);
    if (this.#inbound !== null) link.open();
  }

  /** Closes the link to a node that is down; its pending asks are answered `unreachable`. */
  detach(node: number): void {
    this.#links.get(node)?.close();
  }

  bind(inbound: Inbound): void {
    assert(this.#inbound === null, 'a mesh serves one actor system');
    this.#inbound = inbound;
    // Only now, so that no message comes before there is somebody to take it.
    for (const link of this.#links.values()) link.open();
  }

  serve(kind: string, service: Service): void {
    assert(!this.#services.has(kind), `service ${kind} is there already`);
    this.#services.set(kind, service);
  }

  send(
    node: number,
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    ask: PendingAsk | null,
  ): AskFailure | null {
    const link = this.#links.get(node);
    if (link === undefined) return 'unreachable';
    return link.offer(kind, id, message, payload, ask);
  }

  /** Asks a service of another node; never refused for load. */
  askService(
    node: number,
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    ask: PendingAsk,
  ): void {
    const link = this.#links.get(node);
    if (link === undefined) ask.settle(failed('unreachable'));
    else link.post(kind, id, message, payload, ask);
  }

  /** Closes every link. */
  close(): void {
    for (const link of [...this.#links.values()]) link.close();
  }

  heard(): void {
    this.#busyPoll.heard();
  }

  received(link: Link, frame: TellFrame | AskFrame): void {
    const [type, kind, id, message, payload] = frame;
    const replyTo = type === frameType.ask ? new ReturnPath(link, frame[5]) : null;
    const service = this.#services.get(kind);
    if (service !== undefined) {
      service(id, message, payload, replyTo);
      return;
    }
    const refusal = this.#inbound?.receive(kind, id, message, payload, replyTo) ?? null;
    if (refusal !== null) replyTo?.settle(failed(refusal));
  }

  closed(link: Link): void {
    if (this.#links.get(link.node) === link) this.#links.delete(link.node);
  }
}
