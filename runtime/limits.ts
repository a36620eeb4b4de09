// Every bound of the product in one place, with the arithmetic behind it. Few are configurable; the
// relations between them are asserted at start, so a bad combination never serves a request.
import assert from 'node:assert/strict';
import type { Config } from './config.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Bounds that no variable changes. Route declarations take their `bytesMax` from `body`. */
export const fixedLimits = {
  /** Request bodies by route class (decisions.md, section 2). */
  body: {
    jsonBytesMax: MIB,
    generationBytesMax: 8 * MIB,
    /** A recording of 3 MiB, and its fields. */
    transcriptionBytesMax: 3 * MIB + 64 * KIB,
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
     * 64 requests, a key's places, of 1 MiB. The last of 128 MiB waits 1 s for its turn.
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
  generation: {
    /** Upstream calls for one generation: the first and two failovers. */
    attemptsMax: 3,
    /**
     * No further attempt is begun this long after the request: behind a search (10 s) and its queue
     * the first provider may say nothing until its deadline, and another is still asked.
     */
    failoverWithinMs: 150_000,
    mailboxLengthMax: 1_024,
    /** Of one answer: 128,000 output tokens of 60 characters. What is longer is nonsense. */
    answerCharactersMax: 8 * MIB,
    /** What is told of its native items before their ends: images of 2 MiB, each a few times. */
    answerStagesCharactersMax: 32 * MIB,
    /** Deltas of one background answer, which are kept: eight times those of the longest one. */
    answerCutsMax: MIB,
    /** 50 attached clients must fit; each costs one encoder. */
    subscribersMax: 128,
    /** Running at once on one shard; above it new ones get `overloaded`. */
    runningMax: 16_384,
    idempotencyMs: 24 * 3_600_000,
    /** How long a stored response can be read and continued. */
    storedMs: 24 * 3_600_000,
    /** Whoever comes back to a conversation later has its model chosen anew. */
    conversationMs: 30 * 86_400_000,
    /** Of a conversation that `previous_response_id` continues; read in one query. */
    chainTurnsMax: 200,
    chainBytesMax: 16 * MIB,
    /** How long a cancel waits for its settlement to be durable. */
    cancelWaitMs: 10_000,
  },
  /** One voice connection (specification, 2.1 and 8; decisions.md, section 4). */
  voice: {
    /** 512 samples at 16 kHz: 32 ms. */
    frameBytes: 1_024,
    frameMs: 32,
    startBytesMax: 32 * KIB,
    /**
     * What is over its own bound is told so; what is far over it ends the connection. The server
     * keeps a message until it is whole: 256 MiB when 1,000 sessions send their longest at once.
     */
    messageBytesMax: 256 * KIB,
    startMs: 5_000,
    /** Frames that are kept until the upstream is ready. */
    earlyAudioMs: 2_000,
    ticketMs: 60_000,
    continuationMs: 600_000,
    /** The next malformed message ends the session. */
    malformedMax: 3,
    /** What a network that stalled may send at once, and how much of a flood is only dropped. */
    frameBurstMs: 5_000,
    frameExcessMs: 5_000,
    /** Control messages of a client, all of which are answered: far more than hands can send. */
    controlBurst: 1_000,
    controlEveryMs: 10,
    /** Far more than lie unread after a standstill: 60 s of sound are 1,875 frames. */
    framesPerSecondMax: 4_096,
    /** What a client has not read of what was sent: 48 bytes a millisecond of audio. */
    slowMs: 5_000,
    bufferedBytesMax: 512 * KIB,
    /** A client that answers no ping for this long is gone. */
    silenceSeconds: 20,
    /** How often audio that waits is looked at, within its lead of 200 ms; and deadlines. */
    tickMs: 40,
    watchMs: 200,
    connectMs: 5_000,
    readyMs: 5_000,
    /** From the start message to `session.ready`, however many upstreams are tried. */
    startingMs: 15_000,
    /** A transcript that comes after its answer is complete when no part came for this long. */
    lateTranscriptMs: 1_000,
    /**
     * What is kept of an utterance until it is complete: half an hour of fast speech. A session has
     * up to four of them, with its codec: 256 KB; 4 MB in parts of one character, 32 bytes each.
     */
    utteranceCharactersMax: 32_768,
    /** After the end the upstream may report what it still owes, and the client is told by then. */
    lingerMs: 4_000,
    lastWordsMs: 1_000,
    /** From a client's last mistake to the end of its session. */
    expelledMs: 1_000,
    /** What an upstream may generate of an answer until it is left, faster than it is heard. */
    aheadMs: 30_000,
    /** An upstream that owes the rest of an answer and says nothing for this long is lost. */
    stalledMs: 30_000,
    /** An upstream that is going away is left this long before it goes. */
    goingAwayMs: 3_000,
    /** Of one session's upstream, half a kilobyte each; what comes after them is counted. */
    problemsLoggedMax: 20,
    holdMarginMs: 120_000,
    /** A ledger that is away is asked for what is due beyond the hold until the session ends. */
    uncoveredMs: 15_000,
    toolMs: 10_000,
    toolCallsMax: 8,
    checkpointMs: 1_000,
    checkpointRowsMax: 500,
    /** Audio that waits for clients, of the whole process. */
    audioBytesMax: 512 * MIB,
    mailboxLengthMax: 64,
  },
  /** Speech and transcription (specification 2.2 and 2.3). */
  audio: {
    charactersMax: 4_096,
    fileBytesMax: 3 * MIB,
    secondsMax: 120,
    /** 4,096 characters are 5 minutes: 15 MB of 24 kHz PCM, 48 MB where the voice is slow. */
    speechBytesMax: 64 * MIB,
    /** Of one transcript. */
    transcriptBytesMax: MIB,
    /** Beside its hold: decoding 120 s takes 0.3 s, several at once on a slow core more. */
    inspectTimeoutMs: 15_000,
    /** Recordings that are looked at, each by one process at a time, or wait for it. */
    inspectThreadsMax: 2,
    inspectQueueLengthMax: 64,
    /** Recordings in the memory of one shard, waiting or on their way: 85 of the largest. */
    recordingBytesMax: 256 * MIB,
    /** Loading the threads again costs 60 ms. */
    inspectIdleMs: 120_000,
    /** Of the tools that read what strangers send. */
    toolMemoryBytesMax: 768 * MIB,
    toolCpuSecondsMax: 10,
    /** A decoder is ended before the task that waits for it, and nobody leaves one behind. */
    decodeTimeoutMs: 13_000,
    /** Read ahead of a client that is slow. */
    aheadBytesMax: 256 * KIB,
    /** A client that let the provider wait this long in all is why the provider gave up. */
    slowMs: 5_000,
    runningMax: 4_096,
    keptMs: 24 * 3_600_000,
    /** A private file that should be gone by now. */
    leftoverMs: 10 * 60_000,
  },
  /** What a shard remembers of tokens, a kilobyte each. */
  credentials: {
    entriesMax: 20_000,
    /** Tokens that are nobody's: enough for clients that repeat a mistake. */
    unknownMax: 1_000,
    /**
     * Of one address, or 64 bits of IPv6: as often as a key may call, so a client that is not told
     * of its key's end hears 401. Guesses need no bound: a key has 256 bits.
     */
    failuresPerMinute: 600,
    /** A change is told at once; this is for what was changed behind our back. */
    ttlMs: 30_000,
    /** Of one credential for one request, each time that a change is told while it is read. */
    readsMax: 3,
  },
  /** CPU time of a pool thread for a client's JSON Schema: so long, and more by its length. */
  structured: {
    /** Many times of what an honest pattern takes, and all that one takes that never ends. */
    msMin: 200,
    /** Five times of what the largest schema (128 KiB) takes: 10 µs a character. */
    compileMicrosPerCharacter: 50,
    /** The first check also pays for the engine's own compiling: 5 µs a character. */
    checkMicrosPerCharacter: 40,
    /** Whoever had so much of it and is not done never will be: honest work takes a fifth. */
    usedShare: 0.25,
    /** Of wall-clock time, where others have the processor: 6 s in all for a small schema. */
    stretchMax: 16,
  },
  /** Of an API key that names no limits of its own (decisions.md, section 2). */
  keys: {
    /** That are active, of one account: each has limits of its own, so they bound the account. */
    activeMax: 1_000,
    requestsPerMinute: 600,
    concurrencyMax: 64,
  },
  ledger: {
    /** Covers every failover and the longest answer; asserted below. Extensions begin it anew. */
    holdExpiryMs: 15 * 60_000,
    askTimeoutMs: 5_000,
    /** A statement that takes longer is cancelled before its asker gives up. */
    statementTimeoutMs: 4_000,
    /** Group commit: at 64 callers a batch holds 64, at 256 it holds 256. */
    batchLengthMax: 512,
    /** 1,000 requests at once on one wallet, each with a hold and a settlement. */
    mailboxLengthMax: 4_096,
    sweepMs: 15_000,
    /** An active hold this long past its expiry is an orphan: no sweep has released it. */
    orphanAfterMs: 60_000,
    /** An owner that has not ended this long after its hold expired will never do so. */
    abandonedAfterMs: 3_600_000,
    /**
     * A wallet with holds in doubt looks again after as long as the doubt has lasted, within these.
     */
    doubtMsMin: 1_000,
    doubtMsMax: 8_000,
    /** Wallets without a message are dropped from memory; their state is in the database. */
    idleMs: 60_000,
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
  monitor: {
    /** The first model status; probes begin before it. */
    firstSnapshotMs: 10_000,
    /** A provider that takes longer to describe a model will not serve well either. */
    probeTimeoutMs: 3_000,
    probesAtOnceMax: 8,
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
    /** Of one process beside those of its shards: its main thread's two, and the queue's. */
    ownConnections: 7,
    /** Of the embedded server. */
    connectionsMax: 100,
    /** Beside those of the shards: main thread, queue, migrations, tools, superuser reserve. */
    connectionsReserved: 24,
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
type Widened<T> = { readonly [K in keyof T]: T[K] extends number ? number : Widened<T[K]> };

export type Limits = Widened<typeof fixedLimits> & {
  readonly generation: {
    /** Output tokens covered by one slice of a hold. */
    readonly sliceTokens: number;
    /** Detached generations of the whole process. */
    readonly detachedMax: number;
  };
  readonly voice: {
    readonly secondsMax: number;
    readonly contextCharactersMax: number;
    readonly idleMs: number;
    /** Of each shard. */
    readonly sessionsMax: number;
  };
  /** Every provider route is probed at most this often. */
  readonly monitor: { readonly probeMs: number };
  /** Only processes that share a database are judged by their leases. */
  readonly instance: { readonly isShared: boolean };
  readonly process: { readonly drainMs: number };
  readonly database: {
    /** Connections of each shard. */
    readonly ledgerConnections: number;
    readonly queryConnections: number;
  };
};

function assertRelations(limits: Limits): void {
  const { body, http, upstream, generation, ledger, instance, work, database } = limits;
  assert.ok(upstream.connectMs < upstream.firstEventMs, 'connecting is part of the first event');
  assert.ok(upstream.firstEventMs < upstream.totalMs, 'the first event is part of the answer');
  assert.ok(upstream.idleMs < upstream.totalMs, 'a pause is part of the answer');
  const { attemptsMax } = generation;
  const failoversMs = (attemptsMax - 1) * (upstream.connectMs + upstream.firstEventMs);
  assert.ok(
    failoversMs + attemptsMax * upstream.queueMs + upstream.totalMs + 2 * ledger.askTimeoutMs <
      ledger.holdExpiryMs,
    'a hold outlives failovers, queues, the longest answer and its settlement; repairs renew it',
  );
  assert.ok(
    upstream.queueMs + upstream.firstEventMs < generation.failoverWithinMs,
    'a provider that says nothing is followed by another',
  );
  assert.ok(ledger.statementTimeoutMs < ledger.askTimeoutMs, 'a statement ends before its asker');
  assert.ok(ledger.statementTimeoutMs < database.queryTimeoutMs, 'a statement ends before it');
  assert.ok(database.queryTimeoutMs < database.idleTransactionMs, 'its asker has gone before');
  assert.ok(ledger.batchLengthMax <= ledger.mailboxLengthMax, 'a batch comes from the mailbox');
  assert.ok(ledger.doubtMsMax < ledger.idleMs, 'a wallet in doubt stays in memory');
  assert.ok(ledger.sweepMs < ledger.orphanAfterMs, 'sweeps find a hold before it is an orphan');
  assert.ok(
    ledger.holdExpiryMs < ledger.abandonedAfterMs,
    'who still answers settles late before it is given up',
  );
  assert.ok(2 * instance.leaseRenewalMs < instance.leaseMs, 'one lost renewal is no death');
  assert.ok(http.keepAliveMs * 2 < 60_000, 'proxies close connections after 60 s of silence');
  assert.ok(http.keepAliveMs < upstream.idleMs, 'a quiet upstream must not look dead to clients');
  assert.ok(2 * body.generationBytesMax <= body.bufferedBytesMax, 'a body must fit in a share');
  assert.ok(2 * limits.process.pingMs < limits.process.hungMs, 'one lost ping is no death');
  assert.ok(
    2 * limits.monitor.probeTimeoutMs < limits.monitor.firstSnapshotMs,
    'the first probes are over when the first snapshot is made',
  );
  const { voice } = limits;
  assert.ok(
    voice.lingerMs + voice.startingMs < voice.holdMarginMs,
    'the hold of a voice session outlives its start, its longest duration and its last usage',
  );
  assert.ok(voice.connectMs + voice.readyMs < voice.startingMs, 'a second upstream has its time');
  assert.ok(2 * ledger.askTimeoutMs < voice.uncoveredMs, 'a ledger that is away is asked twice');
  assert.ok(48 * voice.slowMs < voice.bufferedBytesMax, 'a slow client is ended before it loses');
  assert.ok(
    voice.controlBurst + 60_000 / voice.frameMs < voice.framesPerSecondMax,
    'a client that was not read for a minute is no flood',
  );
  assert.ok(voice.startBytesMax < voice.messageBytesMax, 'a start that is too long is told so');
  assert.ok(
    limits.audio.toolCpuSecondsMax * 1_000 < limits.audio.decodeTimeoutMs &&
      limits.audio.decodeTimeoutMs < limits.audio.inspectTimeoutMs,
    'a tool that spins ends by itself, one that waits before its task',
  );
  assert.ok(
    upstream.connectionsPerOriginMax >= limits.generation.runningMax &&
      upstream.connectionsPerOriginMax >= limits.audio.runningMax,
    'no call that may run waits for the connection of another one',
  );
  assert.ok(work.taskTimeoutMs < upstream.totalMs, 'a task is shorter than what waits for it');
}

/** All bounds of this process. Throws when configured values break a relation between them. */
export function createLimits(config: Config): Limits {
  const limits: Limits = {
    ...fixedLimits,
    body: {
      ...fixedLimits.body,
      jsonBytesMax: config.jsonBytesMax,
      generationBytesMax: config.generationBytesMax,
    },
    generation: {
      ...fixedLimits.generation,
      sliceTokens: config.sliceTokens,
      detachedMax: config.detachedMax,
    },
    voice: {
      ...fixedLimits.voice,
      secondsMax: config.voiceSecondsMax,
      contextCharactersMax: config.voiceContextChars,
      idleMs: config.voiceIdleSeconds * 1_000,
      sessionsMax: config.voiceSessionsMax,
    },
    monitor: { ...fixedLimits.monitor, probeMs: config.probeSeconds * 1_000 },
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
export function effectiveBytesMax(declaredBytesMax: number, limits: Limits): number {
  if (declaredBytesMax === fixedLimits.body.jsonBytesMax) return limits.body.jsonBytesMax;
  if (declaredBytesMax === fixedLimits.body.generationBytesMax) {
    return limits.body.generationBytesMax;
  }
  return declaredBytesMax;
}

function shardConnections({ database }: Limits, shards: number): number {
  return shards * (database.ledgerConnections + database.queryConnections);
}

/** How many connections a busy process with this many shards has. */
export function databaseConnections(limits: Limits, shards: number): number {
  return shardConnections(limits, shards) + limits.database.ownConnections;
}

/** How many connections the embedded server must accept for this many shards. */
export function databaseConnectionsMax(limits: Limits, shards: number): number {
  const needed = shardConnections(limits, shards) + limits.database.connectionsReserved;
  return Math.max(needed, limits.database.connectionsMax);
}
