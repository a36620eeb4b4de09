// Runs a shard thread: composition only. It builds its services, asks the main thread what to
// serve, and listens on the shared port. An error that escapes closes the app before the thread
// ends: an open one would abort the whole process.
import { accountNoticesTopic } from '../../actors/app/account-notices.ts';
import { boardTopic } from '../../actors/app/board.ts';
import { openBlobStore } from '../../actors/blobs/store.ts';
import { catalogId } from '../../actors/catalog/catalog.ts';
import type { Catalog } from '../../actors/catalog/current.ts';
import type { CatalogPublication } from '../../actors/catalog/live.ts';
import { movedRoutes } from '../../actors/catalog/moved.ts';
import type { ShardGiven } from '../../actors/components.ts';
import { directorId } from '../../actors/director/director.ts';
import { createLimits, type Limits } from '../../actors/limits.ts';
import { mailDeskId } from '../../actors/mail/desk.ts';
import { createThreadMail } from '../../actors/mail/open.ts';
import { monitorId } from '../../actors/monitor/monitor.ts';
import { nodeActorId } from '../../actors/node/node.ts';
import { createClientDocuments } from '../../actors/oauth/documents.ts';
import { personalDataDeskId } from '../../actors/personal-data/desk.ts';
import { type DownRoute, downTopic } from '../../actors/provider-health/down.ts';
import { createRouteHealth } from '../../actors/provider-health/health.ts';
import { type UnpaidRoute, unpaidTopic } from '../../actors/provider-health/unpaid.ts';
import {
  createStandings,
  type SurfaceStanding,
  standingsTopic,
} from '../../actors/search/canary/standing.ts';
import { tasksId } from '../../actors/tasks/tasks.ts';
import { createProcessKinds, supervisionTree } from '../../actors/tree.ts';
import type { Board } from '../../db/app/board.ts';
import { classifyError, closePool, openPool } from '../../db/driver/sql.ts';
import { createSeals } from '../../media/model/seals.ts';
import { authorize } from '../../routes/access.ts';
import { createCredentialCache, onWithdrawal } from '../../routes/credentials.ts';
import type { AppRoute } from '../../routes/define.ts';
import { renderProblemPage } from '../../routes/problem-page.ts';
import { exposedHeaderNames, renderProblem } from '../../routes/problems.ts';
import type { Services } from '../../routes/services.ts';
import type { ActorSystem } from '../actor/contract.ts';
import { createActorSystem } from '../actor/system.ts';
import { catalogTopic, type ShardBoot } from '../boot.ts';
import { FailureLimiter } from '../failure-limiter.ts';
import { createHttpServer } from '../http/server.ts';
import { AnswerTally } from '../limiter/answers.ts';
import { GiveawayLimiter } from '../limiter/giveaways.ts';
import { Limiter } from '../limiter.ts';
import { effectiveBytesMax } from '../limits.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { MetricsRegistry } from '../metrics-registry.ts';
import { Problem } from '../problem.ts';
import { createSealer, type Sealer } from '../seal.ts';
import type { Component } from '../shard/component.ts';
import { connectShard, type ShardConnection } from '../shard/connection.ts';
import { createBus } from '../work/bus.ts';
import { loadThreads } from '../work/pool.ts';
import { drainPatienceMs, endRunning, lastWordsMs } from './drain.ts';
import { createShardOutbound } from './outbound.ts';
import type { Product } from './product.ts';

const failingGraceMs = 1_000;
const closeMs = 300;
const launchTimeoutMs = 120_000;

/** Runs the calling worker thread as a shard of this product, until the process stops. */
export async function runShard(product: Product): Promise<void> {
  const bootLog = createLog({ level: 'info', base: { thread: 'shard' }, sync: false });
  const connection = await connectShard(bootLog);
  const shard = createShard(product, connection);
  process.on('uncaughtException', shard.fail);
  process.on('unhandledRejection', shard.fail);
  connection.onDrain(shard.drain);
  shard.serve().catch(shard.fail);
}

/** What a shard has before its domains. */
function createBase(boot: ShardBoot, { node, mesh }: ShardConnection) {
  const { config } = boot;
  const limits = createLimits(config);
  const log = createLog({ level: config.logLevel, base: { shard: node }, sync: false });
  const limiter = new Limiter(boot.limiter, node);
  const { giveawayTokensMax } = limits.generation;
  const metrics = createMetrics(`shard-${node}`);
  const sealer = createSealer(boot.masterKey);
  const bus = createBus({ mesh, log });
  return {
    config,
    limits,
    log,
    metrics,
    limiter,
    giveaways: new GiveawayLimiter(boot.giveaways, limiter, giveawayTokensMax),
    tally: new AnswerTally(boot.answers, limits.query.unpaidMax),
    failures: new FailureLimiter(boot.failures),
    health: createRouteHealth(
      (found) => void bus.publish(unpaidTopic, found),
      (found) => void bus.publish(downTopic, found),
    ),
    sealer,
    blobs: openBlobStore({ config, masterKey: boot.masterKey, node }),
    seals: createAccountSeals(boot, sealer, limits, metrics.registry),
    bus,
    standings: createStandings(),
    outbound: createShardOutbound(boot, log),
    sql: openPool({
      url: boot.databaseUrl,
      purpose: 'general',
      connectionsMax: limits.database.queryConnections,
      statementTimeoutMs: limits.ledger.statementTimeoutMs,
    }),
  };
}

/** `unboundUntilMs` is set before the first request: the launch order says it. */
function createAccountSeals(
  { config: { previousSecret } }: ShardBoot,
  sealer: Sealer,
  { generation }: Limits,
  registry: MetricsRegistry,
) {
  const times = { unboundUntilMs: 0 };
  const help = 'Seals of requests that were left out, by what is wrong with them.';
  const of = createSeals({
    sealer,
    previousSealer: previousSecret === null ? null : createSealer(previousSecret),
    unboundUntilMs: () => times.unboundUntilMs,
    clock: Date.now,
    openedMax: generation.sealsOpenedMax,
    refused: registry.counter('tollgate_seals_left_out_total', help, ['fault']),
  });
  return { of, times };
}

type Base = ReturnType<typeof createBase>;

/** The domains, and the actor system that has the kinds of all of them. */
function createDomains(
  product: Product,
  base: Base,
  boot: ShardBoot,
  { node, mesh }: ShardConnection,
  catalog: () => Catalog,
  isFailing: () => boolean,
) {
  const kinds = createProcessKinds(null);
  let system: ActorSystem | null = null;
  const running = () => {
    if (system === null) throw new Error('the actor system is asked for before it is there');
    return system;
  };
  const given: ShardGiven = {
    ...base,
    instanceId: boot.instanceId,
    shard: node - 1,
    databaseUrl: boot.databaseUrl,
    registry: base.metrics.registry,
    system: running,
    tasks: () => running().ref(kinds.tasks, tasksId),
    holders: product.holders,
    catalog,
    soundCounters: boot.soundCounters,
    isFailing,
  };
  const components = product.createComponents(given);
  const all = [...Object.values(kinds), ...components.list.flatMap((component) => component.kinds)];
  system = createActorSystem({ node, kinds: all, log: base.log, transport: mesh });
  return { kinds, components, system, tree: supervisionTree(all) };
}

type Domains = ReturnType<typeof createDomains>;

/** The catalog of the moment; a publication may overtake the launch order that was made before. */
function createCatalogView(forget: (routeId: string) => void) {
  let catalog: Catalog | null = null;
  let last = 0;
  return {
    current(): Catalog {
      if (catalog === null) throw new Error('the catalog is asked for before the shard serves');
      return catalog;
    },
    set({ sequence, snapshot }: CatalogPublication): void {
      if (sequence < last) return;
      last = sequence;
      const moved = catalog === null ? [] : movedRoutes(catalog.snapshot, snapshot);
      for (const routeId of moved) forget(routeId);
      const models = new Map(snapshot.models.map((model) => [model.alias, model]));
      const managed = new Map(snapshot.routes.map((route) => [route.alias, route]));
      const clients = new Map(snapshot.clients.map((client) => [client.id, client]));
      catalog = { snapshot, models, routes: managed, clients };
    },
  };
}

type CatalogView = ReturnType<typeof createCatalogView>;

function createServices(
  base: Base,
  { kinds, components, system, tree }: Domains,
  catalog: () => Catalog,
  version: string,
): Services {
  const { sql, bus, limiter, config, sealer } = base;
  const mailGiven = { config, sealer, node: system.node };
  const { list } = components;
  return {
    config,
    version,
    limits: base.limits,
    log: base.log,
    sql,
    system,
    bus,
    sealer: base.sealer,
    outbound: base.outbound,
    blobs: base.blobs,
    seals: base.seals.of,
    access: {
      credentials: createCredentialCache(sql, bus, limiter),
      limiter,
      failures: base.failures,
    },
    catalog: {
      current: catalog,
      documents: createClientDocuments({ outbound: base.outbound, clock: Date.now }),
      actor: () => system.ref(kinds.catalog, catalogId),
      tryProvider: components.tryProvider,
      standings: base.standings,
    },
    monitor: { actor: () => system.ref(kinds.monitor, monitorId), tree },
    tasks: () => system.ref(kinds.tasks, tasksId),
    wallet: components.wallet,
    mail: createThreadMail(mailGiven, () => system.ref(kinds.mailDesk, mailDeskId)),
    personalData: {
      enqueueExport: (id) =>
        system.ref(kinds.personalDataDesk, personalDataDeskId).tell('enqueue', { id }),
      blobs: base.blobs,
      limits: base.limits.personalData,
    },
    rows: requestRows(list),
    ...components.services(system),
  };
}

/** Finds the domain that owns the rows of a canonical route. */
function requestRows(components: readonly Component[]): Services['rows'] {
  const byRoute = new Map(
    components.flatMap(({ rows }) => (rows?.routes ?? []).map((route) => [route, rows] as const)),
  );
  return (route) => {
    const rows = byRoute.get(route) ?? null;
    if (rows === null) throw new Error(`no domain owns the rows of ${route}`);
    return rows;
  };
}

function createServer(routes: readonly AppRoute[], services: Services, { metrics, log }: Base) {
  const { config, limits } = services;
  return createHttpServer({
    routes: routes.map((route) => withConfiguredBound(route, limits)),
    services,
    authorize: (access, exchange) => authorize(access, exchange, services),
    tenantOf: (caller) => (caller.kind === 'anonymous' ? '' : caller.accountId),
    renderProblem,
    renderProblemPage,
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
}

/** What of a database's error is not our bug. */
function explain(error: unknown): Problem | null {
  const failure = classifyError(error);
  if (failure === 'unavailable') return new Problem('dependency_unavailable');
  if (failure !== 'unstorable') return null;
  return new Problem('invalid_request', { message: 'A text contains a NUL character.' });
}

/** Declarations are constants; here the configured bound of their class takes its place. */
function withConfiguredBound(route: AppRoute, limits: Limits): AppRoute {
  const { body } = route;
  if (body === undefined) return route;
  return { ...route, body: { ...body, bytesMax: effectiveBytesMax(body.bytesMax, limits) } };
}

interface Shard {
  /** Takes its work from the main thread, and listens. */
  serve(): Promise<void>;
  drain(deadlineMs: number): Promise<void>;
  /** Ends it for an error that escaped. */
  fail(error: unknown): void;
}

function createShard(product: Product, connection: ShardConnection): Shard {
  const boot = connection.data as ShardBoot;
  let isFailing = false;
  const base = createBase(boot, connection);
  const { log, metrics, health, sql, outbound } = base;
  const catalog = createCatalogView((routeId) => health.forget(routeId));
  const failing = () => isFailing;
  const domains = createDomains(product, base, boot, connection, catalog.current, failing);
  const { system } = domains;
  const { list } = domains.components;
  const services = createServices(base, domains, catalog.current, boot.version);
  const server = createServer(product.routes, services, base);

  const close = async (deadlineMs: number, patienceMs: number): Promise<void> => {
    const deadline = performance.now() + deadlineMs;
    const left = () => Math.max(100, deadline - performance.now());
    server.stopListening();
    const countExchanges = () => server.counts().exchanges;
    await endRunning(list, { left, patienceMs, isFailing, countExchanges });
    // Only now: until then other shards may need the wallets here, and these generations theirs.
    connection.failing();
    await server.close(Math.max(left(), lastWordsMs));
    await system.stop(left());
    services.access.credentials.close();
    outbound.close();
    metrics.stop();
    const closing = [...list.map((component) => component.close(closeMs)), closePool(sql, closeMs)];
    // The app is closed: what is left ends with the thread, which must not be late.
    const late = new Promise((resolve) => setTimeout(resolve, closeMs));
    await Promise.race([Promise.all(closing), late]);
  };

  return {
    serve: () => serve(base, domains, catalog, server, connection),
    drain: (deadlineMs) => close(deadlineMs, drainPatienceMs(list, deadlineMs)),
    fail(error) {
      log.fatal({ err: error }, 'shard fails: an error escaped');
      if (isFailing) return;
      isFailing = true;
      connection.failing();
      close(failingGraceMs, 0)
        .catch((closeError: unknown) =>
          log.error({ err: closeError }, 'failing shard did not close'),
        )
        .finally(() => {
          connection.leave();
          // One turn for the closed app's sockets; the exit code tells the supervisor it failed.
          setTimeout(() => process.exit(1), 50);
        });
    },
  };
}

/** Asks the main thread what to serve, and listens; resolves when the first request may come. */
async function serve(
  { bus, metrics, health, standings, config, seals }: Base,
  { kinds, components, system }: Domains,
  catalog: CatalogView,
  server: ReturnType<typeof createServer>,
  connection: ShardConnection,
): Promise<void> {
  const { list } = components;
  onWithdrawal(bus, (withdrawn) => {
    for (const component of list) component.withdraw(withdrawn);
  });
  bus.subscribe(unpaidTopic, (found) => health.rest(found as UnpaidRoute, Date.now()));
  bus.subscribe(downTopic, (found) => health.down.heard(found as DownRoute));
  bus.subscribe(standingsTopic, (told) => standings.set(told as SurfaceStanding[]));
  bus.subscribe(catalogTopic, (publication) => catalog.set(publication as CatalogPublication));
  bus.subscribe(boardTopic, (board) => components.board.set(board as Board));
  bus.subscribe(accountNoticesTopic, (id) => components.notices.forget(id as string));
  metrics.observeActors(() => system.status());
  metrics.observeStreams(() => server.counts().streams);
  const self = system.spawn(kinds.node, nodeActorId, {
    sockets: () => server.counts().sockets,
    metrics: () => metrics.collect(),
    health,
    isRunning: (id) => list.some((component) => component.has(id)),
  });
  if (self === null) throw new Error('the node actor did not start');
  await connection.ready();
  const director = system.ref(kinds.director, directorId);
  const order = await director.ask('launch', null, launchTimeoutMs);
  if (!order.ok) throw new Error(`no launch order: ${order.reason}`);
  catalog.set(order.value.catalog);
  components.board.set(order.value.board);
  seals.times.unboundUntilMs = order.value.unboundSealsUntilMs;
  await server.listen(config.host, order.value.port);
  director.tell('serving', { node: connection.node });
  await loadThreads();
}
