// Entry of the main process: composition only. It prepares the database, starts the shards, and
// runs what must be single: catalog, monitor, pool, queue. It prints the line `tollgate ready`.
import { createAnalysesWorking } from '../actors/analysis/working.ts';
import { createAppWorking } from '../actors/app/working.ts';
import { prepareAudioFolders, sweepAudioFolders } from '../actors/audio/folders.ts';
import { scheduleAudits } from '../actors/audit/rounds.ts';
import { openBlobStore, prepareBlobStore } from '../actors/blobs/store.ts';
import { catalogId } from '../actors/catalog/catalog.ts';
import { callableLines } from '../actors/catalog/listing.ts';
import { createLiveCatalog, type LiveCatalog } from '../actors/catalog/live.ts';
import { loadCatalog } from '../actors/catalog/load.ts';
import { planLines } from '../actors/catalog/plan-lines.ts';
import { scheduleInvoices } from '../actors/invoices/issuing.ts';
import { createLimits } from '../actors/limits.ts';
import { createMailWorking } from '../actors/mail/working.ts';
import { monitorId } from '../actors/monitor/monitor.ts';
import { followHealth } from '../actors/monitor/news.ts';
import { nodeActorId } from '../actors/node/node.ts';
import { openPayments } from '../actors/payments/open.ts';
import { registerWebhooks } from '../actors/payments/simulated.ts';
import { createPersonalDataWorking } from '../actors/personal-data/working.ts';
import { createRewardsWorking } from '../actors/reward/working.ts';
import { createProcessKinds } from '../actors/tree.ts';
import { scheduleUsage } from '../actors/usage/rounds.ts';
import { prepareVideoScratch } from '../actors/video/scratch.ts';
import { createVideosWorking } from '../actors/video/working.ts';
import { scheduleDebts } from '../actors/wallet/collecting.ts';
import { createDirectWallet } from '../actors/wallet/direct.ts';
import { createLease } from '../actors/wallet/lease.ts';
import { walletLimits } from '../actors/wallet/limits.ts';
import { createWalletMetrics } from '../actors/wallet/metrics.ts';
import { reconcile } from '../actors/wallet/reconcile.ts';
import { endsThrough, recoverDead } from '../actors/wallet/recovery.ts';
import { endExpired, sweepOnce } from '../actors/wallet/sweep.ts';
import { databaseAnswers } from '../db/driver/health.ts';
import { migrate } from '../db/driver/migrate.ts';
import { patiently } from '../db/driver/patience.ts';
import { assertDatabaseUsable } from '../db/driver/reach.ts';
import { closePool, openPool, parseDatabaseUrl } from '../db/driver/sql.ts';
import { readSealsBoundSince } from '../db/seals.ts';
import { createBudgetCounters } from '../media/audio/budget.ts';
import { probeTarget } from '../media/providers/generation/probe.ts';
import { createActorSystem } from './actor/system.ts';
import { catalogTopic, type ShardBoot } from './boot.ts';
import { startBlobUpkeep } from './composition/blob-upkeep.ts';
import { createProcessCanaries } from './composition/canaries.ts';
import { scheduleIdentity } from './composition/identity-upkeep.ts';
import { scheduleOrganizations } from './composition/organization-upkeep.ts';
import { schedulePromotions } from './composition/promotion-upkeep.ts';
import { createTaskPools } from './composition/task-pools.ts';
import {
  warnOfAccess,
  warnOfDatabase,
  warnOfMail,
  warnOfProxies,
  warnOfSurfaces,
} from './composition/warnings.ts';
import { ConfigError, localOrigin, withPort } from './config.ts';
import {
  developmentNotice,
  prepareDevelopment,
  preparePageKeys,
  writeDevelopmentFile,
} from './development.ts';
import { createFailureBuffers } from './failure-limiter.ts';
import { createGate } from './gate.ts';
import { connectToParent } from './launch.ts';
import { createAnswerBuffers } from './limiter/answers.ts';
import { createGiveawayBuffers } from './limiter/giveaways.ts';
import { createLimiterBuffers, Limiter } from './limiter.ts';
import { databaseConnections } from './limits.ts';
import { createLog } from './log.ts';
import { createMetrics, type MetricsServer, startMetricsServer } from './metrics.ts';
import type { MetricsJson } from './metrics-registry.ts';
import { assertPortFree, freePort, type Listener } from './port.ts';
import { createSealer } from './seal.ts';
import { Mesh } from './shard/mesh.ts';
import { startThreads, type Threads } from './shard/threads.ts';
import { version } from './version.ts';
import { createBus } from './work/bus.ts';
import { loadThreads } from './work/pool.ts';
import { createQueue } from './work/queue.ts';
import { repeat } from './work/repeat.ts';

const reportTimeoutMs = 1_000;
/** To settle and close, beyond the drain; and what is waited for a shard that is late. */
const drainReserveMs = 1_000;
const drainGraceMs = 5_000;

// A reader that went away must not take the process with it, each time that it starts.
process.stdout.on('error', () => undefined);
const link = await connectToParent();
const { boot } = link;
const { singleProcess, instanceId } = boot;
const port = boot.config.port === 0 ? await freePort(boot.config.host) : boot.config.port;
const config = withPort(boot.config, port);
const log = createLog({ level: config.logLevel, base: { thread: 'main' }, sync: false });
const limits = createLimits(config);
const metrics = createMetrics('main');
const sql = openPool({
  url: boot.databaseUrl,
  purpose: 'general',
  connectionsMax: limits.database.queryConnections,
  statementTimeoutMs: limits.ledger.statementTimeoutMs,
});
const { detachedMax } = limits.generation;
const limiterBuffers = createLimiterBuffers(Date.now(), config.shards, detachedMax);
const limiter = new Limiter(limiterBuffers, 0);
const tasks = createTaskPools(config, limits, log);
const blobs = openBlobStore({ config, masterKey: boot.masterKey, node: 0 });
const database = parseDatabaseUrl(boot.databaseUrl);
const queue = createQueue({ database, log });
const working = { sql, database, system: () => system, sweepMs: limits.ledger.sweepMs, log };
const jobs = createVideosWorking({ ...working, blobs, limits: limits.video });
const analyses = createAnalysesWorking({ ...working, limits: limits.analysis });
const rewards = createRewardsWorking({ ...working, limits: limits.reward });
const { registry } = metrics;
const mails = createMailWorking({ ...working, boot, config, limits: limits.mail, registry });
const people = createPersonalDataWorking({
  ...{ sql, database, blobs, registry, log },
  limits: limits.personalData,
  mail: mails.services,
});
const mesh = new Mesh(0, log);
const bus = createBus({ mesh, log });
const { masterKey } = boot;
const apps = createAppWorking({
  ...{ sql, bus, masterKey, log },
  previousSecret: config.previousSecret,
  limits: limits.app,
});
const launch = createGate<LiveCatalog>();
const allServing = createGate<void>();
const servingNodes = new Set<number>();
let threads: Threads | null = null;
let metricsServer: MetricsServer | null = null;
let unboundSealsUntilMs = 0;
let endLease = () => {};
let endOwnSweep = () => {};
let endBlobUpkeep = () => {};
let endFollowing = () => {};

const walletDependencies = {
  sql,
  clock: Date.now,
  limits: walletLimits,
  log,
  metrics: createWalletMetrics(metrics.registry),
};
const { leaseMs } = limits.instance;
const lease = createLease({ sql, instanceId, leaseMs, clock: () => performance.now(), log });
const performOnWallet = createDirectWallet(walletDependencies);
const ends = endsThrough(performOnWallet, log);

let serving: LiveCatalog | null = null;
void launch.opened.then((live) => {
  serving = live;
});
const payments = openPayments({
  ...{ sql, wallet: performOnWallet, config, registry, log },
  catalog: () => serving?.current().snapshot ?? null,
  mail: mails.services,
  limits: limits.payments,
});

const canaries = createProcessCanaries({ catalog: () => launch.value.current(), bus, log });

const kinds = createProcessKinds({
  director: {
    order: async () => ({
      catalog: (await launch.opened).current(),
      board: apps.board(),
      port,
      unboundSealsUntilMs,
    }),
    serving: (node) => {
      if (servingNodes.has(node)) reconcileAfterLoss(node);
      servingNodes.add(node);
      if (servingNodes.size === config.shards) allServing.open();
    },
  },
  catalog: { live: () => launch.value },
  monitor: {
    shards: shardStates,
    node: nodeActor,
    catalog: () => launch.value.current().snapshot,
    probe: async (target) => {
      const { failure } = await probeTarget(target, limits.monitor.probeTimeoutMs);
      return failure === null || failure === 'busy';
    },
    limits: limits.monitor,
    log,
  },
  tasks: { run: tasks.run },
  videoDesk: jobs.desk,
  analysisDesk: analyses.desk,
  mailDesk: mails.desk,
  personalDataDesk: people.desk,
  rewardDesk: rewards.desk,
  paymentDesk: payments.desk,
});
const system = createActorSystem({
  node: 0,
  kinds: [...Object.values(kinds), jobs.kind, analyses.kind, rewards.kind],
  log,
  transport: mesh,
});
followHealth(bus, () => system.ref(kinds.monitor, monitorId));

function shardStates(): { id: number; live: boolean }[] {
  return (threads?.status() ?? []).map(({ node, status }) => ({
    id: node,
    live: status === 'ready',
  }));
}

function nodeActor(node: number) {
  return system.at(kinds.node, { node, kind: kinds.node.name, id: nodeActorId });
}

/** After an outage all leases have lapsed: a process that has just started may not go by them. */
function judgedDead() {
  if (singleProcess) return 'all';
  return lease.isSettled() ? 'lapsed' : 'none';
}

function recover(previousInstanceIds: string[]) {
  return recoverDead(sql, { instanceId, others: judgedDead(), previousInstanceIds, ...ends });
}

/** Ends the holds of owners that run nowhere any more. */
function reconcileOwn(ageMs: number): Promise<number> {
  const lost = async (node: number, ownerIds: string[]) => {
    const answer = await nodeActor(node).ask('lost', ownerIds, reportTimeoutMs);
    return answer.ok ? answer.value : null;
  };
  return reconcile(sql, { instanceId, ageMs, lost, ...ends });
}

/** A shard is back: what its predecessor could not settle need not wait for the next sweep. */
function reconcileAfterLoss(node: number): void {
  reconcileOwn(0).then(
    (holds) => log.warn({ node, holds }, 'a lost shard is back'),
    (error: unknown) => log.warn({ err: error, node }, 'holds of a lost shard wait for the sweep'),
  );
}

/** Migrates, takes over from dead instances, and reads the catalog. */
async function prepareDatabase(): Promise<LiveCatalog> {
  // Processes that share a database may share the folder, as in a rolling deploy: the first start
  // of one takes nothing away. What a crash of its own left goes at once.
  const isAlone = singleProcess || boot.previousInstanceIds.length > 0;
  await prepareAudioFolders(config.dataDir, isAlone);
  await prepareBlobStore(config.dataDir, blobs, isAlone);
  await prepareVideoScratch(config.dataDir, isAlone);
  const { applied, unknown } = await patiently(() => migrate(boot.databaseUrl), log);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  if (unknown.length > 0) {
    log.warn({ migrations: unknown }, 'a newer build has migrated the database; it only added');
  }
  await patiently(lease.register, log);
  endLease = repeat('lease', limits.instance.leaseRenewalMs, lease.renew, log);
  const recovered = await patiently(() => recover(boot.previousInstanceIds), log);
  if (recovered.instances > 0) log.info({ ...recovered }, 'recovered from dead instances');
  const boundSince = await patiently(() => readSealsBoundSince(sql), log);
  unboundSealsUntilMs = boundSince.getTime() + limits.generation.unboundSealsMs;
  const sealer = createSealer(boot.masterKey);
  const previous = config.previousSecret;
  const previousSealer = previous === null ? null : createSealer(previous);
  await patiently(apps.prepare, log);
  const { simulatorUrl } = boot;
  const catalogOptions = { config, simulatorUrl, sql, sealer, previousSealer, log };
  const { snapshot, plan } = await patiently(() => loadCatalog(catalogOptions), log);
  if (config.configPath !== null || config.mode === 'production') {
    for (const line of planLines(plan)) process.stdout.write(`catalog: ${line}\n`);
  }
  warnOfSurfaces(snapshot.surfaces, log);
  const publish = async (publication: object) => {
    await bus.publish(catalogTopic, publication);
    system.ref(kinds.monitor, monitorId).tell('catalogChanged', null);
  };
  return createLiveCatalog({ sql, sealer, snapshot, publish, log });
}

function startShards(): Promise<Threads> {
  const { databaseUrl } = boot;
  const data: ShardBoot = {
    config,
    databaseUrl,
    simulatorUrl: boot.simulatorUrl,
    instanceId,
    limiter: limiterBuffers,
    failures: createFailureBuffers(Date.now()),
    giveaways: createGiveawayBuffers(Date.now()),
    answers: createAnswerBuffers(Date.now()),
    masterKey: boot.masterKey,
    soundCounters: createBudgetCounters(config.shards),
    version,
  };
  return startThreads({
    mesh,
    entry: new URL('./shard.js', import.meta.url),
    shardCount: config.shards,
    data,
    readyTimeoutMs: limits.process.readyTimeoutMs,
    failingTimeoutMs: limits.process.stopGraceMs,
    restartsMax: limits.process.restartsMax,
    restartsWithinMs: limits.process.restartsWithinMs,
    onEnded: (node) => limiter.forgetNode(node),
    onGivenUp: (node) => {
      log.fatal({ node }, 'a shard cannot be kept alive: the process ends');
      process.exit(1);
    },
    log,
  });
}

/** @throws ConfigError */
async function assertPortsFree(): Promise<void> {
  const { metricsHost, metricsPort } = config;
  const { portWaitMs } = limits.process;
  const listeners: Listener[] = [{ variables: ['HOST', 'PORT'], host: config.host, port }];
  if (metricsPort !== null) {
    const variables = ['TOLLGATE_METRICS_HOST', 'TOLLGATE_METRICS_PORT'] as const;
    listeners.push({ variables, host: metricsHost, port: metricsPort });
  }
  await Promise.all(listeners.map((listener) => assertPortFree(listener, portWaitMs)));
}

async function start(): Promise<void> {
  // Before there are threads, which a process that gives up at once would end in the middle.
  if (config.databaseUrl !== null) {
    const facts = await assertDatabaseUsable(config.databaseUrl);
    warnOfDatabase(facts, databaseConnections(limits, config.shards), log);
  }
  const [catalog, started] = await Promise.all([
    prepareDatabase(),
    startShards(),
    assertPortsFree(),
  ]);
  threads = started;
  warnOfProxies({ config, log }, port);
  if (config.mode === 'dev') {
    const own = { config, sql, performOnWallet };
    const account = await patiently(() => prepareDevelopment(own), log);
    await patiently(() => preparePageKeys({ config, sql }, account), log);
    await writeDevelopmentFile(config, { ...account, simulator_url: boot.simulatorUrl });
    log.warn('development mode: answers of svc-sim models are simulated');
    process.stdout.write(developmentNotice(config, account));
  } else {
    await warnOfAccess({ config, log }, sql);
    warnOfMail({ config, log });
  }
  launch.open(catalog);
  await allServing.opened;
  await connectSimulator(catalog);
  process.stdout.write(`tollgate ready on ${localOrigin(config, port)}\n`);
  for (const line of callableLines(catalog.current().snapshot)) process.stdout.write(`${line}\n`);
  link.sendReady();
  await startBackground();
}

/** Simulated payment providers call back here. */
async function connectSimulator(catalog: LiveCatalog): Promise<void> {
  const { simulatorUrl } = boot;
  if (simulatorUrl === null) return;
  const { payments: providers } = catalog.current().snapshot;
  try {
    await registerWebhooks(providers, simulatorUrl, localOrigin(config, port));
  } catch (error) {
    log.warn({ err: error }, 'the simulated payment providers call nobody back');
  }
}

/** What no other process on the database can do for this one. */
function startOwnSweep(): void {
  const sweepOwn = async () => {
    const reconciled = await reconcileOwn(limits.ledger.sweepMs);
    const ended = await endExpired(sql, { clock: Date.now, instanceId, ...ends });
    await sweepAudioFolders(config.dataDir, limits.audio);
    log.debug({ reconciled, ...ended }, 'swept what is its own');
  };
  endOwnSweep = repeat('sweep', limits.ledger.sweepMs, sweepOwn, log);
}

/** In development each process has simulated providers of its own in its catalog. */
function startFollowing(): void {
  if (singleProcess || config.mode === 'dev') return;
  const { catalogLookMs } = limits.instance;
  const follow = () => system.ref(kinds.catalog, catalogId).ask('follow', null, catalogLookMs);
  endFollowing = repeat('catalog', catalogLookMs, follow, log);
}

/** What the first request need not wait for. */
async function startBackground(): Promise<void> {
  if (config.metricsPort !== null) {
    const { metricsPort, metricsHost } = config;
    metricsServer = await startMetricsServer({
      port: metricsPort,
      host: metricsHost,
      collect: collectMetrics,
    });
  }
  const monitor = system.ref(kinds.monitor, monitorId);
  monitor.tell('poll', null);
  tasks.tellPrograms();
  startOwnSweep();
  endBlobUpkeep = startBlobUpkeep({ sql, blobs, config, limits: limits.blobs, log });
  startFollowing();
  await loadThreads();
  queue.schedule('sweep', limits.ledger.sweepMs, async () => {
    const swept = await sweepOnce(sql, {
      clock: Date.now,
      instanceId,
      keyKeptMs: limits.generation.idempotencyMs,
      ...ends,
    });
    log.debug({ ...swept }, 'swept');
  });
  scheduleDebts(queue, { sql, perform: performOnWallet, log });
  scheduleInvoices(queue, { sql, config, log });
  scheduleIdentity(queue, { sql, bus, limits, log });
  scheduleOrganizations(queue, { sql, bus, config, mail: mails.services, log });
  schedulePromotions(queue, {
    ...{ sql, registry, log, limits: limits.promotions },
    wallet: performOnWallet,
    billing: () => launch.value.current().snapshot.billing,
  });
  scheduleAudits(queue, { sql, masterKey, config, log });
  scheduleUsage(queue, { sql, limits: limits.usage, registry, log });
  // With one process, too: the recovery at its start may not have been complete.
  queue.schedule('recover', limits.instance.leaseMs, async () => {
    await recover([]);
  });
  for (const each of [jobs, analyses, rewards, mails, people, apps, payments, canaries]) {
    each.schedule(queue);
  }
  queue.schedule('probe', limits.monitor.probeMs, async () => {
    monitor.tell('probe', null);
  });
  queue.start();
  for (const each of [jobs, analyses, rewards]) {
    each.start();
    if (singleProcess) await patiently(each.takeOver, log);
  }
  people.start();
  await patiently(() => people.takeOver(singleProcess), log);
  mails.start();
  await patiently(mails.takeOver, log);
}

async function collectMetrics(): Promise<MetricsJson[]> {
  const live = shardStates().filter((shard) => shard.live);
  const answers = await Promise.all(
    live.map(({ id }) => nodeActor(id).ask('metrics', null, reportTimeoutMs)),
  );
  const shards = answers.flatMap((answer) => (answer.ok ? [answer.value as MetricsJson] : []));
  return [await metrics.collect(), ...shards];
}

async function stop(): Promise<void> {
  endOwnSweep();
  endBlobUpkeep();
  endFollowing();
  const ending = [queue, jobs, analyses, rewards, mails, people, apps, payments, canaries];
  await Promise.all(ending.map((each) => each.stop(reportTimeoutMs)));
  await threads?.stop(limits.process.drainMs + drainReserveMs, drainGraceMs);
  await metricsServer?.close();
  await system.stop(reportTimeoutMs);
  await tasks.stop();
  // Until now others had to see it alive: it was draining. Whatever the shards could not end is
  // ended as that of a dead instance, which it is from now on.
  endLease();
  if ((await databaseAnswers(sql, reportTimeoutMs)) !== null) {
    const previousInstanceIds = [instanceId];
    await recoverDead(sql, { instanceId: '', others: judgedDead(), previousInstanceIds, ...ends });
  }
  await closePool(sql, reportTimeoutMs);
}

link.onStop((reason) => {
  log.info({ reason }, 'stopping');
  stop().then(
    () => process.exit(0),
    (error: unknown) => {
      log.error({ err: error }, 'the stop failed');
      process.exit(1);
    },
  );
});

start().catch(async (error: unknown) => {
  // A bad configuration is told in one line by the parent; a stack would only hide it.
  if (!(error instanceof ConfigError)) log.fatal({ err: error }, 'the start failed');
  await link.sendFailed(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
