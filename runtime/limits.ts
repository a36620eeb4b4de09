// The kernel's bounds, with the arithmetic behind them. Each domain has its own in its folder. Few
// are configurable. The relations between them are asserted at the start.
import assert from 'node:assert/strict';
import type { Config } from './config.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Bounds that no variable changes. Route declarations take their `bytesMax` from `body`. */
export const fixedLimits = {
  /** Request bodies by route class (decisions.md, section 2). */
  body: {
    jsonBytesMax: MIB,
    /** For requests that carry conversations and media. */
    largeBytesMax: 8 * MIB,
    /** 8 MiB at 150 KB/s, a poor mobile uplink, takes 56 s. */
    totalMs: 60_000,
    /**
     * How long a refusal waits for the rest of a body: 64 MiB come in it at 17 MB/s, from a proxy
     * beside us; and for how long a client may send nothing before it is taken to be done.
     */
    unreadMs: 4_000,
    silenceMs: 500,
    /** Chunks that may be shorter on average: uSockets hands over as many as come, 1 us each. */
    chunksMax: 32_768,
    chunkBytesMin: 16,
    /**
     * All bodies of one shard together, until they are parsed. Half of them may be of one account:
     * 64 requests, a key's permits, of 1 MiB. The last of 128 MiB waits 1 s for its turn.
     */
    bufferedBytesMax: 128 * MIB,
    /** From here on each step has a turn of the loop to itself: 7 ms to parse or encode 1 MiB. */
    longBytesMin: 64 * KIB,
    /**
     * Members and items of one long body: behind the parser each costs 0.5 µs to check and as much
     * to hash, in one turn. 10,000 messages with a part of content each have 60,000.
     */
    longValuesMax: 65_536,
  },
  http: {
    /** Must be in the environment of the process at launch; the server answers 431 above it. */
    headerBytesMax: 16 * KIB,
    /** Headers of a stream wait for its first event at most this long. */
    headerHoldbackMs: 10_000,
    /** A quarter of the usual 60 s after which proxies drop a silent connection. */
    keepAliveMs: 15_000,
    /** Of one event stream: about 1,000 events, which a client on a good line reads in 50 ms. */
    streamBufferBytesMax: 256 * KIB,
    /** A client that takes nothing of a passed-through reply for this long is gone. */
    stalledMs: 30_000,
  },
  /** Files that are sent: a client has one piece in memory, and 128 KiB for all around it. */
  file: {
    /** A longer piece is refused. */
    pieceBytesMax: 256 * KIB,
    /** One file has no more of a turn of the loop: 4 pieces of 64 KiB take 400 us to decrypt. */
    turnBytesMax: 256 * KIB,
    /** A disk brings a piece in milliseconds; clients give up after a minute or more. */
    readMs: 30_000,
  },
  /** One upstream call. `totalMs` is a whole answer: 30,000 tokens at 50 a second. */
  upstream: {
    /** For our own encoding: at 7 ms for 1 MiB, 140 of the longest requests before it. */
    queueMs: 8_000,
    connectMs: 10_000,
    firstEventMs: 120_000,
    idleMs: 60_000,
    totalMs: 600_000,
    /** Of one shard: each generation that runs has one, and waits for nobody's. */
    connectionsPerOriginMax: 16_384,
  },
  instance: {
    leaseMs: 15_000,
    leaseRenewalMs: 5_000,
    /** How often a process looks whether another one changed the catalog. */
    catalogLookMs: 5_000,
  },
  actors: {
    mailboxLengthMax: 1_024,
    askTimeoutMs: 5_000,
    /** Actors of one kind on one shard, a kilobyte each when idle. */
    populationMax: 131_072,
  },
  work: {
    poolThreadsMax: 4,
    /** Waiting tasks: at 10 ms each on two threads the last one waits 1.3 s. */
    poolQueueLengthMax: 256,
    /** Of these, kept for what money is held for. */
    poolReservedLength: 64,
    /** A check that found no room is offered again, at first so soon and at last so late. */
    poolPauseMs: 50,
    poolPauseMsMax: 1_000,
    poolIdleMs: 30_000,
    taskTimeoutMs: 30_000,
  },
  database: {
    connectTimeoutMs: 5_000,
    /** A server says that it gave a statement up; one that does not within this is lost. */
    silenceMs: 250,
    /** A transaction with nothing under way: whoever asked for it is answered long before. */
    idleTransactionMs: 10_000,
    /** One that comes back is found within this long, and who asks is told meanwhile. */
    retryMs: 200,
    awayMs: 1_000,
    /** Of a connection: the server keeps plans and tables in its process. */
    lifetimeMs: 45 * 60_000,
    /** How long a request waits for a query; the server has given it up before. */
    queryTimeoutMs: 5_000,
    /** Beside those of the shards: its main thread's two, and five of each of four queues. */
    ownConnections: 22,
    /** Of the embedded server. */
    connectionsMax: 100,
    /** Beside those of the shards: main thread, queue, migrations, tools, superuser reserve. */
    connectionsReserved: 32,
    healthTimeoutMs: 1_000,
  },
  process: {
    restartsMax: 10,
    restartsWithinMs: 60_000,
    /** Longest wait for a ready main process before it counts as hung. */
    readyTimeoutMs: 120_000,
    /** For a process before us, which stops listening at once when it is told or killed. */
    portWaitMs: 3_000,
    /** The main process is asked for a sign of life this often, and killed without one. */
    pingMs: 5_000,
    hungMs: 30_000,
    /** Beyond the drain: settling, closing, writing the last rows; each step has its own bound. */
    stopGraceMs: 15_000,
  },
} as const;

/** The same as plain numbers: what is configured differs from the constants above. */
export type Widened<T> = {
  readonly [K in keyof T]: T[K] extends number ? number : Widened<T[K]>;
};

export type KernelLimits = Widened<typeof fixedLimits> & {
  /** Only processes that share a database are judged by their leases. */
  readonly instance: { readonly isShared: boolean };
  readonly process: { readonly drainMs: number };
  readonly database: {
    /** Connections of each shard. */
    readonly ledgerConnections: number;
    readonly queryConnections: number;
  };
};

function assertRelations(limits: KernelLimits): void {
  const { body, http, upstream, instance, work, database, process } = limits;
  assert.ok(upstream.connectMs < upstream.firstEventMs, 'connecting is part of the first event');
  assert.ok(upstream.firstEventMs < upstream.totalMs, 'the first event is part of the answer');
  assert.ok(upstream.idleMs < upstream.totalMs, 'a pause is part of the answer');
  assert.ok(database.queryTimeoutMs < database.idleTransactionMs, 'its asker has gone before');
  assert.ok(2 * instance.leaseRenewalMs < instance.leaseMs, 'one lost renewal is no death');
  assert.ok(http.keepAliveMs * 2 < 60_000, 'proxies close connections after 60 s of silence');
  assert.ok(http.keepAliveMs < upstream.idleMs, 'a quiet upstream must not look dead to clients');
  assert.ok(2 * body.largeBytesMax <= body.bufferedBytesMax, 'a body must fit in a share');
  assert.ok(2 * process.pingMs < process.hungMs, 'one lost ping is no death');
  assert.ok(work.taskTimeoutMs < upstream.totalMs, 'a task is shorter than what waits for it');
}

/** The kernel's bounds in this process. Throws when configured values break a relation. */
export function createKernelLimits(config: Config): KernelLimits {
  const limits: KernelLimits = {
    ...fixedLimits,
    body: {
      ...fixedLimits.body,
      jsonBytesMax: config.jsonBytesMax,
      largeBytesMax: config.generationBytesMax,
    },
    work: { ...fixedLimits.work, poolThreadsMax: config.poolThreads },
    instance: { ...fixedLimits.instance, isShared: config.databaseUrl !== null },
    process: { ...fixedLimits.process, drainMs: config.drainSeconds * 1_000 },
    database: {
      ...fixedLimits.database,
      ledgerConnections: config.ledgerConnections,
      queryConnections: config.queryConnections,
    },
  };
  assertRelations(limits);
  return limits;
}

/**
 * The configured bound of a route that declares the default one of its class: declarations are
 * constants, and this is where configuration reaches them.
 */
export function effectiveBytesMax(declaredBytesMax: number, limits: KernelLimits): number {
  if (declaredBytesMax === fixedLimits.body.jsonBytesMax) return limits.body.jsonBytesMax;
  if (declaredBytesMax === fixedLimits.body.largeBytesMax) {
    return limits.body.largeBytesMax;
  }
  return declaredBytesMax;
}

function shardConnections({ database }: KernelLimits, shards: number): number {
  return shards * (database.ledgerConnections + database.queryConnections);
}

/** How many connections a busy process with this many shards has. */
export function databaseConnections(limits: KernelLimits, shards: number): number {
  return shardConnections(limits, shards) + limits.database.ownConnections;
}

/** How many connections the embedded server must accept for this many shards. */
export function databaseConnectionsMax(limits: KernelLimits, shards: number): number {
  const needed = shardConnections(limits, shards) + limits.database.connectionsReserved;
  return Math.max(needed, limits.database.connectionsMax);
}
