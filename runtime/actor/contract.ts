// What an actor is, in types: a protocol of functions, a kind that handles it, a reference to it.
// A reference hides where the actor lives; same-node calls are function calls, others cross a port.

/**
 * A protocol maps each message name to a function type, payload in and reply out. Payloads and
 * replies are plain data (msgpackr carries them between threads; bigint, Date, Map and Uint8Array
 * survive). Declare it as a `type`, so that a missing handler or a wrong payload does not compile.
 */
export type Protocol<P> = { [M in keyof P]: (payload: never) => unknown };
export type MessageOf<P> = keyof P & string;
export type PayloadOf<P, M extends keyof P> = P[M] extends (payload: infer T) => unknown
  ? T
  : never;
export type ReplyOf<P, M extends keyof P> = P[M] extends (payload: never) => infer R ? R : never;

/** Why an ask got no reply: each is an outcome that the caller must read. */
export type AskFailure = 'timeout' | 'overloaded' | 'actor_crashed' | 'stopped' | 'unreachable';
export type Answer<T> = { ok: true; value: T } | { ok: false; reason: AskFailure };

/** Plain data that names one actor of this process; send it in messages, resolve with `at`. */
export interface ActorAddress {
  node: number;
  kind: string;
  id: string;
}

/** A typed handle on one actor. */
export interface ActorRef<P> {
  readonly kind: string;
  readonly id: string;
  /** Sends and forgets. False when the mailbox is full or the actor is known to be gone. */
  tell<M extends MessageOf<P>>(message: M, payload: PayloadOf<P, M>): boolean;
  /** Sends and waits for the reply at most `timeoutMs`. Never rejects. */
  ask<M extends MessageOf<P>>(
    message: M,
    payload: PayloadOf<P, M>,
    timeoutMs: number,
  ): Promise<Answer<ReplyOf<P, M>>>;
}

export interface Timer {
  cancel(): void;
}

/** What a handler may do besides answering. Everything in it dies with the actor. */
export interface ActorContext<P> {
  readonly id: string;
  readonly address: ActorAddress;
  readonly self: ActorRef<P>;
  readonly system: ActorSystem;
  /** Delivers a message to this actor later; cancelled when the actor stops. */
  after<M extends MessageOf<P>>(delayMs: number, message: M, payload: PayloadOf<P, M>): Timer;
  every<M extends MessageOf<P>>(periodMs: number, message: M, payload: PayloadOf<P, M>): Timer;
  /** Stops this actor once the current message is handled; queued asks are answered `stopped`. */
  stop(): void;
}

/** One function per message; messages are handled one at a time, also when a handler is async. */
export type Handlers<P, S> = {
  [M in MessageOf<P>]: (
    state: S,
    payload: PayloadOf<P, M>,
    context: ActorContext<P>,
  ) => ReplyOf<P, M> | Promise<ReplyOf<P, M>>;
};

/** One queued message of a batch; `reply` is a no-op for a tell. */
export type BatchEntry<P> = {
  [M in MessageOf<P>]: {
    message: M;
    payload: PayloadOf<P, M>;
    reply(value: ReplyOf<P, M>): void;
  };
}[MessageOf<P>];

/**
 * Takes everything that waits, up to `lengthMax`; the next batch starts when this one resolves, or,
 * with `overlapFrom`, as soon as so many messages wait: then two are under way, and no more. What
 * order they keep is theirs to see to.
 */
export interface BatchReceive<P, S> {
  lengthMax: number;
  overlapFrom?: number;
  receive(state: S, batch: BatchEntry<P>[], context: ActorContext<P>): void | Promise<void>;
}

/**
 * What the supervisor does after a crash: `restart` builds the state anew with the same id and
 * mailbox, `resume` keeps the state, `stop` ends the actor. More than `crashesMax` within
 * `withinMs` ends it in any case.
 */
export interface Supervision {
  strategy: 'restart' | 'resume' | 'stop';
  crashesMax: number;
  withinMs: number;
}

/**
 * `local`: spawned explicitly, lives on the node that spawned it. `hashed`: activated by its first
 * message on the shard that its id hashes to (rendezvous over the live shards). `main`: likewise,
 * on the main thread, one per process.
 */
export type Placement = 'local' | 'hashed' | 'main';

export interface ActorKind<P extends Protocol<P>, S, A = undefined> {
  readonly name: string;
  /** Name of the parent group in the supervision tree, for the live view. */
  readonly parent: string;
  readonly placement: Placement;
  readonly supervision: Supervision;
  readonly mailboxLengthMax: number;
  /** At most this many actors of the kind on one node; absent: no bound of its own. */
  readonly populationMax?: number;
  /** Passivated after this long without a message (timers do not keep it); absent: never. */
  readonly idleTimeoutMs?: number;
  /** Builds the state; `args` is what `spawn` was given (undefined for hashed and main kinds). */
  start(context: ActorContext<P>, args: A): S | Promise<S>;
  readonly behaviour: Handlers<P, S> | { readonly batch: BatchReceive<P, S> };
  /** Called once for each state that ends, also before a restart builds anew; must not throw. */
  stopped?(state: S, reason: EndReason): void;
}

export type EndReason = 'stopped' | 'crashed' | 'passivated' | 'shutdown';

/** A kind with its type parameters erased, as it stands in the list of a system's kinds. */
export interface AnyKind {
  readonly name: string;
  readonly parent: string;
  readonly placement: Placement;
  readonly supervision: Supervision;
  readonly mailboxLengthMax: number;
  readonly populationMax?: number;
  readonly idleTimeoutMs?: number;
  start(context: never, args: never): unknown;
  readonly behaviour: object;
  stopped?(state: never, reason: EndReason): void;
}

/** Where actors report; pino's loggers fit. */
export interface ActorLog {
  error(details: object, text: string): void;
  warn(details: object, text: string): void;
  info(details: object, text: string): void;
}

/** One row of the live view (`GET /api/admin/status`). */
export interface KindStatus {
  node: number;
  kind: string;
  parent: string;
  alive: number;
  mailboxLength: number;
  messagesHandled: number;
  crashes: number;
  refused: number;
}

/** The actors of one node (thread), and the way to those of the others. */
export interface ActorSystem {
  readonly node: number;
  /**
   * Starts a local actor. Null when the id is taken, the kind's population bound is reached, or its
   * start threw: then what `args` hand over is still the caller's.
   */
  spawn<P extends Protocol<P>, S, A>(
    kind: ActorKind<P, S, A>,
    id: string,
    args: A,
  ): ActorRef<P> | null;
  /** A reference by placement: hashed and main kinds are activated on their first message. */
  ref<P extends Protocol<P>, S, A>(kind: ActorKind<P, S, A>, id: string): ActorRef<P>;
  /** A reference to the actor that an address names, on whichever node it lives. */
  at<P extends Protocol<P>, S, A>(kind: ActorKind<P, S, A>, address: ActorAddress): ActorRef<P>;
  status(): KindStatus[];
  /** Stops all actors of this node; resolves when they are gone or the deadline has passed. */
  stop(deadlineMs: number): Promise<void>;
}
