// Entry of a shard thread: composition only. It builds its services, asks the main thread what to
// serve, and listens on the shared port. An error that escapes closes the app before the thread
// ends: an open one would abort the whole process.

import { audioFolders } from '../actors/audio/folders.ts';
import type { AudioDeps } from '../actors/audio/spec.ts';
import { createFundsEstimate } from '../actors/billed-request/funds-estimate.ts';
import { catalogId } from '../actors/catalog/catalog.ts';
import type { CatalogPublication } from '../actors/catalog/live.ts';
import { movedRoutes } from '../actors/catalog/moved.ts';
import { directorId } from '../actors/director/director.ts';
import { createInputCounter } from '../actors/generation/counting.ts';
import { createGenerationMetrics } from '../actors/generation/metrics.ts';
import { warmPlanning } from '../actors/generation/plan/planning.ts';
import type { CountTokens, GenerationDeps } from '../actors/generation/spec.ts';
import { createLimits } from '../actors/limits.ts';
import { nodeActorId } from '../actors/node/node.ts';
import { createRouteHealth } from '../actors/provider-health/health.ts';
import { countTexts } from '../actors/tasks/counting.ts';
import { checkAnswer } from '../actors/tasks/format.ts';
import { tasksId } from '../actors/tasks/tasks.ts';
import { createKinds, kindList, supervisionTree } from '../actors/tree.ts';
import { createVoiceHouse } from '../actors/voice/component.ts';
import { createVoiceMetrics, watchVoice } from '../actors/voice/metrics.ts';
import { walletLimits } from '../actors/wallet/limits.ts';
import { createWalletMetrics } from '../actors/wallet/metrics.ts';
import { classifyError, closePool, openPool } from '../db/driver/sql.ts';
import { createUpstreamClient } from '../media/providers/generation/call.ts';
import { requireFamily } from '../media/providers/generation/families.ts';
import { tryTarget } from '../media/providers/generation/trial.ts';
import { searchClient } from '../media/providers/search/search.ts';
import { createAudioClient } from '../media/providers/speech/call.ts';
import { requireAudioFamily } from '../media/providers/speech/families.ts';
import { authorize } from '../routes/access.ts';
import {
  type CredentialChange,
  createCredentialCache,
  credentialTopic,
} from '../routes/credentials.ts';
import type { AppRoute } from '../routes/define.ts';
import { exposedHeaderNames, renderProblem } from '../routes/problems.ts';
import type { Catalog, Services } from '../routes/services.ts';
import { routes } from '../routes/table.ts';
import type { ActorSystem } from './actor/contract.ts';
import { createActorSystem } from './actor/system.ts';
import { catalogTopic, type ShardBoot } from './boot.ts';
import { FailureLimiter } from './failure-limiter.ts';
import { createHttpServer } from './http/server.ts';
import { Limiter } from './limiter.ts';
import { effectiveBytesMax } from './limits.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { Problem } from './problem.ts';
import { createSealer } from './seal.ts';
import { connectShard } from './shard/connection.ts';
import { TransientMap } from './transient.ts';
import { createBus } from './work/bus.ts';
import { loadThreads } from './work/pool.ts';

const failingGraceMs = 1_000;
/** A failing shard settles as long as it gets on with it: what was used is not given away. */
const failingSettleMs = 3_500;
const poolCloseMs = 300;
/** Thousands of clients are told of their end in this time, beyond the deadline if need be. */
const lastWordsMs = 700;
const launchTimeoutMs = 120_000;
/** Of a test call: an administrator waits for it. */
const trialDeadlines = {
  queueMs: 5_000,
  connectMs: 5_000,
  firstEventMs: 12_000,
  idleMs: 5_000,
  totalMs: 15_000,
};
/** How the time of a close is spent: counting tokens, settling, telling clients and closing. */
const closeShares = { count: 0.25, settle: 0.7 };
/** What is kept of a drain for each that runs: its tokens, its settlement, its last words. */
const settleMsEach = 2;
/** Nothing more is expected of settlements of which none has ended for so long. */
const settleIdleMs = 2_000;

const bootLog = createLog({ level: 'info', base: { thread: 'shard' }, sync: false });
const connection = await connectShard(bootLog);
const { node } = connection;
const boot = connection.data as ShardBoot;
const { config } = boot;
const log = createLog({ level: config.logLevel, base: { shard: node }, sync: false });
const limits = createLimits(config);
const metrics = createMetrics(`shard-${node}`);
const generationMetrics = createGenerationMetrics(metrics.registry);
const voiceMetrics = createVoiceMetrics(metrics.registry);
const limiter = new Limiter(boot.limiter, node);
const failures = new FailureLimiter(boot.failures, limits.credentials.failuresPerMinute);
const health = createRouteHealth();
warmPlanning();
const running: GenerationDeps['running'] = new TransientMap();
const statementTimeoutMs = limits.ledger.statementTimeoutMs;
const pool = (purpose: 'ledger' | 'general', connectionsMax: number) =>
  openPool({ url: boot.databaseUrl, purpose, connectionsMax, statementTimeoutMs });
const ledgerWriter = pool('ledger', 1);
const ledgerReaders = limits.database.ledgerConnections - 1;
const ledgerSql = ledgerReaders === 0 ? ledgerWriter : pool('ledger', ledgerReaders);
const sql = pool('general', limits.database.queryConnections);
const upstream = createUpstreamClient({
  connectionsMax: limits.upstream.connectionsPerOriginMax,
});
const bus = createBus({ mesh: connection.mesh, log });
const audioUpstream = createAudioClient({
  connectionsMax: limits.upstream.connectionsPerOriginMax,
});
const audioRunning: AudioDeps['running'] = new TransientMap();
const folders = audioFolders(config.dataDir);
let catalog: Catalog | null = null;
let catalogSequence = 0;
let failing = false;
let countTimeoutMs: number = limits.work.taskTimeoutMs;

const generationDeps: GenerationDeps = {
  instanceId: boot.instanceId,
  wallet: (walletId) => system.ref(kinds.wallet, walletId),
  upstream,
  search: searchClient,
  family: requireFamily,
  health,
  fundsEstimate: createFundsEstimate(),
  limiter,
  limits,
  countTokens,
  checkAnswer: (format, text) =>
    checkAnswer(system.ref(kinds.tasks, tasksId), format, text, limits.work.taskTimeoutMs),
  metrics: generationMetrics,
  log,
  running,
};
const sealer = createSealer(boot.masterKey);
const voice = createVoiceHouse({
  instanceId: boot.instanceId,
  wallet: (walletId) => system.ref(kinds.wallet, walletId),
  health,
  sealer,
  limits,
  search: searchClient,
  metrics: voiceMetrics,
  log,
  sql,
  audio: { counters: boot.audioCounters, shard: node - 1 },
});
const { host } = voice.deps;
const audioDeps: AudioDeps = {
  instanceId: boot.instanceId,
  wallet: generationDeps.wallet,
  upstream: audioUpstream,
  family: requireAudioFamily,
  health,
  fundsEstimate: generationDeps.fundsEstimate,
  limiter,
  limits,
  metrics: generationMetrics,
  log,
  keptFolder: folders.kept,
  running: audioRunning,
};
const walletDependencies = {
  sql: ledgerSql,
  writer: ledgerWriter,
  clock: Date.now,
  limits: walletLimits,
  log,
  metrics: createWalletMetrics(metrics.registry),
};
const kinds = createKinds(walletDependencies, null, {
  generation: generationDeps,
  voice: voice.deps,
  audio: audioDeps,
});
const system: ActorSystem = createActorSystem({
  node,
  kinds: kindList(kinds),
  log,
  transport: connection.mesh,
});
const credentials = createCredentialCache(sql, bus, limiter);
const services: Services = {
  config,
  limits,
  log,
  sql,
  system,
  bus,
  limiter,
  failures,
  health,
  credentials,
  generations: {
    system,
    sql,
    generationKind: kinds.generation,
    headersHoldBackMs: limits.http.headerHoldbackMs,
  },
  audio: {
    system,
    sql,
    audioKind: kinds.audio,
    limits,
    keptFolder: folders.kept,
    recordings: { bytesLeft: limits.audio.recordingBytesMax },
  },
  scratchFolder: folders.scratch,
  countInput: createInputCounter(generationDeps),
  catalog: currentCatalog,
  monitorKind: kinds.monitor,
  tryProvider: (target) => tryTarget(upstream, target, trialDeadlines),
  catalogActor: () => system.ref(kinds.catalog, catalogId),
  tasksKind: kinds.tasks,
  wallet: (walletId) => system.ref(kinds.wallet, walletId),
  tree: supervisionTree(kindList(kinds)),
  version: boot.version,
  voice: { host, sealer, sessionKind: kinds.voiceSession, refused: voiceMetrics.refused },
};
const server = createHttpServer({
  routes: routes.map(withConfiguredBound),
  services,
  authorize: (access, exchange) => authorize(access, exchange, services),
  tenantOf: (caller) => (caller.kind === 'anonymous' ? '' : caller.accountId),
  renderProblem,
  explain,
  logger: log,
  onRequest: (sample) => {
    const { route, method, status, durationMs } = sample;
    metrics.request(route ?? 'none', method, status, durationMs / 1_000);
    log.debug(sample, 'request');
  },
  webOrigin: new URL(config.webUrl).origin,
  exposedHeaders: exposedHeaderNames,
  trustedProxies: config.trustedProxies,
  limits: {
    bodyDeadlineMs: limits.body.totalMs,
    bodyBytesTotalMax: limits.body.bufferedBytesMax,
    streamBufferBytesMax: limits.http.streamBufferBytesMax,
  },
  ...(config.tlsCertPath !== null && config.tlsKeyPath !== null
    ? { tls: { certPath: config.tlsCertPath, keyPath: config.tlsKeyPath } }
    : {}),
});

/** What of a database's error is not our bug. */
function explain(error: unknown): Problem | null {
  const failure = classifyError(error);
  if (failure === 'unavailable') return new Problem('dependency_unavailable');
  if (failure !== 'unstorable') return null;
  return new Problem('invalid_request', { message: 'A text contains a NUL character.' });
}

/** Declarations are constants; here the configured bound of their class takes its place. */
function withConfiguredBound(route: AppRoute): AppRoute {
  const { body } = route;
  if (body === undefined) return route;
  return { ...route, body: { ...body, bytesMax: effectiveBytesMax(body.bytesMax, limits) } };
}

function currentCatalog(): Catalog {
  if (catalog === null) throw new Error('the catalog is asked for before the shard serves');
  return catalog;
}

/** A publication may overtake the launch order that was made before it. */
function setCatalog({ sequence, snapshot }: CatalogPublication): void {
  if (sequence < catalogSequence) return;
  catalogSequence = sequence;
  const moved = catalog === null ? [] : movedRoutes(catalog.snapshot, snapshot);
  for (const routeId of moved) health.forget(routeId);
  const models = new Map(snapshot.models.map((model) => [model.alias, model]));
  const managed = new Map(snapshot.routes.map((route) => [route.alias, route]));
  catalog = { snapshot, models, routes: managed };
}

/** A request that runs ends by itself, but a session spends for minutes. */
function endWithdrawn(change: CredentialChange): void {
  if ('keyId' in change) host.withdraw(({ apiKeyId }) => apiKeyId === change.keyId);
  else if (change.isDisabled) host.withdraw(({ accountId }) => accountId === change.accountId);
}

/** Counts with the tokenizer on the pool of the main thread; a failing shard takes the estimate. */
async function countTokens(texts: Parameters<CountTokens>[0]): ReturnType<CountTokens> {
  // The tokenizer takes a second to load, on the cores that the next shard needs to start.
  if (failing) return null;
  const tasks = system.ref(kinds.tasks, tasksId);
  const counts = await countTexts(
    tasks,
    [texts.input, texts.output, texts.reasoning],
    countTimeoutMs,
  );
  if (counts === null) return null;
  const [input = 0, output = 0, reasoning = 0] = counts;
  return { input, output, reasoning };
}

async function serve(): Promise<void> {
  bus.subscribe(credentialTopic, (change) => endWithdrawn(change as CredentialChange));
  bus.subscribe(catalogTopic, (publication) => setCatalog(publication as CatalogPublication));
  metrics.observeActors(() => system.status());
  watchVoice(metrics.registry, () => ({ sessions: host.size, ...host.counters }));
  metrics.observeStreams(() => server.counts().streams);
  const self = system.spawn(kinds.node, nodeActorId, {
    sockets: () => server.counts().sockets,
    metrics: () => metrics.collect(),
    health,
    isRunning: (id) => running.has(id) || host.has(id) || audioRunning.has(id),
  });
  if (self === null) throw new Error('the node actor did not start');
  await connection.ready();
  const director = system.ref(kinds.director, directorId);
  const order = await director.ask('launch', null, launchTimeoutMs);
  if (!order.ok) throw new Error(`no launch order: ${order.reason}`);
  setCatalog(order.value.catalog);
  await server.listen(config.host, order.value.port);
  director.tell('serving', { node });
  await loadThreads();
}

const countRunning = () => running.size + host.size + audioRunning.size;
/** What is still read, decoded or counted will want a hold, and runs only then. */
const countOpen = () => countRunning() + server.counts().exchanges;

/** Resolves when nothing is left, nothing has ended for `idleMs`, or `timeoutMs` have passed. */
async function quiet(timeoutMs: number, idleMs = timeoutMs, count = countRunning): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let idleUntil = performance.now() + idleMs;
  for (let before = Infinity; ; ) {
    const left = count();
    const now = performance.now();
    if (left < before) idleUntil = now + idleMs;
    if (left === 0 || now >= Math.min(deadline, idleUntil)) return;
    before = left;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Ends what still runs, with what was used settled, then closes everything in order. What cannot
 * be settled in time is told to its clients while their sockets are open; reconciliation or the
 * next start releases its hold.
 */
async function close(deadlineMs: number, patienceMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  const left = () => Math.max(100, deadline - performance.now());
  server.stopListening();
  host.finishAll('server_draining');
  void host.checkpoint();
  await quiet(patienceMs, patienceMs, countOpen);
  countTimeoutMs = left() * closeShares.count;
  for (const generation of running.values()) generation.tell('interrupt', null);
  for (const audio of audioRunning.values()) audio.tell('interrupt', null);
  await (failing ? quiet(failingSettleMs, settleIdleMs) : quiet(left() * closeShares.settle));
  for (const generation of running.values()) generation.tell('giveUp', null);
  host.giveUpAll();
  for (const audio of audioRunning.values()) audio.tell('giveUp', null);
  await quiet(lastWordsMs);
  // Only now: until then other shards may need the wallets here, and these generations theirs.
  connection.failing();
  await server.close(Math.max(left(), lastWordsMs));
  await system.stop(left());
  credentials.close();
  metrics.stop();
  const pools = [ledgerWriter, ledgerSql, sql].map((each) => closePool(each, poolCloseMs));
  const upstreams = [upstream.close(), audioUpstream.close(), voice.stop()];
  const closed = Promise.all([...upstreams, ...pools]);
  // The app is closed: what is left ends with the thread, which must not be late.
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, poolCloseMs))]);
}

connection.onDrain((deadlineMs) => close(deadlineMs, drainPatienceMs(deadlineMs)));

/** How long what runs may go on by itself: who is many is ended earlier, to be settled in time. */
function drainPatienceMs(deadlineMs: number): number {
  const settlingMs = (running.size + audioRunning.size) * settleMsEach;
  return deadlineMs - Math.min(deadlineMs * 0.8, Math.max(deadlineMs * 0.3, settlingMs));
}

const fail = (error: unknown) => {
  log.fatal({ err: error }, 'shard fails: an error escaped');
  if (failing) return;
  failing = true;
  connection.failing();
  close(failingGraceMs, 0)
    .catch((closeError: unknown) => log.error({ err: closeError }, 'failing shard did not close'))
    .finally(() => {
      connection.leave();
      // One turn for the closed app's sockets; the exit code tells the supervisor that it failed.
      setTimeout(() => process.exit(1), 50);
    });
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

serve().catch(fail);
