// Polls the shards once a second and probes the provider routes when the queue says so, so that
// reading a status never waits for a shard and never contacts a provider.
import { strict as assert } from 'node:assert';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { ActorContext, ActorKind, ActorRef, Handlers } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import { everyRouteOf, routesOf } from '../catalog/moved.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { Limits } from '../limits.ts';
import type { NodeProtocol, NodeReport } from '../node/protocol.ts';
import { isRunning } from '../provider-health/breaker.ts';
import { identityOf } from '../provider-health/identity.ts';
import { healthLimits } from '../provider-health/limits.ts';
import type { UnpaidRoute } from '../provider-health/unpaid.ts';
import type {
  MonitorProtocol,
  ProbedRoute,
  RefusedRoute,
  ShardStatus,
  StatusSnapshot,
} from './protocol.ts';
import { dueRoutes, probeRound } from './round.ts';
import { modelStatuses } from './routes.ts';

const pollPeriodMs = 1_000;
const pollDeadlineMs = 800;

export interface MonitorDeps {
  shards(): { id: number; live: boolean }[];
  node(id: number): ActorRef<NodeProtocol>;
  catalog(): CatalogSnapshot;
  /** Whether a route works; at most a few seconds. */
  probe(target: UpstreamTarget): Promise<boolean>;
  limits: Limits['monitor'];
  log: Pick<Logger, 'error' | 'info'>;
}

interface MonitorState {
  deps: MonitorDeps;
  reports: Map<number, NodeReport>;
  shards: ShardStatus[];
  snapshot: StatusSnapshot | null;
  probed: Map<string, ProbedRoute>;
  /** Unpaid routes by id. One that leads elsewhere now has another identity. */
  unpaid: Map<string, UnpaidRoute & { identity: string }>;
  /** Routes whose credential is refused, likewise. */
  down: Map<string, RefusedRoute & { identity: string }>;
  isProbing: boolean;
}

export type MonitorKind = ActorKind<MonitorProtocol, MonitorState>;
export const monitorId = 'monitor';

const behaviour: Handlers<MonitorProtocol, MonitorState> = {
  shards: (state) => state.shards,

  tree: (state) => ({
    shards: state.shards,
    kinds: [...state.reports.values()].flatMap((report) => report.kinds),
    unpaid: unpaidRoutes(state, Date.now()),
    down: downRoutes(state),
  }),

  modelStatus: (state) => state.snapshot,

  async poll(state) {
    const { deps } = state;
    const answers = await Promise.all(
      deps.shards().map(async ({ id, live }): Promise<ShardStatus> => {
        const answer = live ? await deps.node(id).ask('report', null, pollDeadlineMs) : null;
        if (answer?.ok) state.reports.set(id, answer.value);
        else if (!live) state.reports.delete(id);
        const report = state.reports.get(id);
        const status = answer?.ok ? 'ok' : live ? 'unresponsive' : 'starting';
        return { id, status, actors: report?.actors ?? 0, sockets: report?.sockets ?? 0 };
      }),
    );
    state.shards = answers;
  },

  // Not awaited: reading a status must not stand behind a silent provider.
  probe(state, _payload, context) {
    const { deps } = state;
    if (state.isProbing) return;
    const nowMs = Date.now();
    const { probeMs, probesAtOnceMax } = deps.limits;
    const due = dueRoutes(routesOf(deps.catalog()), state.probed, nowMs, probeMs);
    if (due.length === 0) return;
    state.isProbing = true;
    // Before the first snapshot somebody waits for it.
    const jitterMs = probeMs * (state.snapshot === null ? 0.002 : 0.1);
    const options = { probe: deps.probe, roundMs: nowMs, jitterMs, atOnceMax: probesAtOnceMax };
    const done = probeRound(due, options);
    void done.then((routes) => context.self.tell('probed', routes));
  },

  probed(state, routes) {
    state.isProbing = false;
    for (const route of routes) state.probed.set(route.routeId, route);
    if (state.snapshot !== null) publish(state);
  },

  unpaid(state, { routeId, untilMs }) {
    const { log } = state.deps;
    const nowMs = Date.now();
    const wasUnpaid = unpaidRoutes(state, nowMs).some((route) => route.routeId === routeId);
    const target = everyRouteOf(state.deps.catalog()).find((each) => each.routeId === routeId);
    if (untilMs <= nowMs || target === undefined) state.unpaid.delete(routeId);
    else state.unpaid.set(routeId, { routeId, untilMs, identity: identityOf(target) });
    if (untilMs <= nowMs) {
      if (wasUnpaid) log.info({ route: routeId }, 'provider.paid');
    } else if (!wasUnpaid) {
      log.error({ route: routeId, until: new Date(untilMs).toISOString() }, 'provider.unpaid');
    }
    if (state.snapshot !== null) publish(state);
  },

  down(state, { routeId, identity, isDown }) {
    const { log } = state.deps;
    const wasDown = downRoutes(state).some((route) => route.routeId === routeId);
    const target = everyRouteOf(state.deps.catalog()).find((each) => each.routeId === routeId);
    // What is said of a credential that the route no longer has says nothing of the route.
    if (target === undefined || identityOf(target) !== identity || isDown === wasDown) return;
    if (isDown) {
      state.down.set(routeId, { routeId, identity, sinceMs: Date.now() });
      log.error({ route: routeId }, 'provider.down');
    } else {
      state.down.delete(routeId);
      log.info({ route: routeId }, 'provider.up');
    }
  },

  publish: (state) => publish(state),

  catalogChanged(state, _payload, context) {
    const known = new Set(routesOf(state.deps.catalog()).map(({ routeId }) => routeId));
    for (const routeId of state.probed.keys()) {
      if (!known.has(routeId)) state.probed.delete(routeId);
    }
    if (state.snapshot === null) return;
    publish(state);
    context.self.tell('probe', null);
  },
};

function publish(state: MonitorState): void {
  const catalog = state.deps.catalog();
  const current = routesOf(catalog).flatMap((target) => {
    const route = state.probed.get(target.routeId);
    return route?.identity === identityOf(target) ? [route] : [];
  });
  const probed = new Map(current.map(({ routeId, isWell }) => [routeId, isWell]));
  const observed = [...state.reports.values()].flatMap((report) => report.routes);
  const now = Date.now();
  const unpaid = new Set(unpaidRoutes(state, now).map(({ routeId }) => routeId));
  state.snapshot = {
    generated_at: new Date(now).toISOString(),
    next_refresh_at: new Date(now + state.deps.limits.probeMs).toISOString(),
    models: modelStatuses(catalog, probed, observed, unpaid),
  };
}

/** The unpaid routes that still rest, and lead where they led. */
function unpaidRoutes(state: MonitorState, nowMs: number): UnpaidRoute[] {
  if (state.unpaid.size === 0) return [];
  const targets = everyRouteOf(state.deps.catalog());
  const identities = new Map(targets.map((target) => [target.routeId, identityOf(target)]));
  for (const [routeId, { untilMs, identity }] of state.unpaid) {
    const isResting = isRunning(untilMs, healthLimits.unpaidRestMs, nowMs);
    if (!isResting || identities.get(routeId) !== identity) state.unpaid.delete(routeId);
  }
  return [...state.unpaid.values()].map(({ routeId, untilMs }) => ({ routeId, untilMs }));
}

/** The routes whose credential is refused, and that have it still. */
function downRoutes(state: MonitorState): RefusedRoute[] {
  if (state.down.size === 0) return [];
  const targets = everyRouteOf(state.deps.catalog());
  const identities = new Map(targets.map((target) => [target.routeId, identityOf(target)]));
  for (const [routeId, { identity }] of state.down) {
    if (identities.get(routeId) !== identity) state.down.delete(routeId);
  }
  return [...state.down.values()].map(({ routeId, sinceMs }) => ({ routeId, sinceMs }));
}

/** `deps` is null on shards: they only send to it. */
export function createMonitorKind(deps: MonitorDeps | null): MonitorKind {
  return {
    name: 'monitor',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'restart', crashesMax: 10, withinMs: 60_000 },
    mailboxLengthMax: 10_000,
    start(context) {
      assert(deps !== null, 'the monitor runs on the main thread');
      startTimers(context, deps.limits);
      const shards = deps.shards().map(({ id }) => startingShard(id));
      return {
        deps,
        reports: new Map(),
        shards,
        snapshot: null,
        probed: new Map(),
        unpaid: new Map(),
        down: new Map(),
        isProbing: false,
      };
    },
    behaviour,
  };
}

function startTimers(context: ActorContext<MonitorProtocol>, limits: Limits['monitor']): void {
  context.self.tell('poll', null);
  context.every(pollPeriodMs, 'poll', null);
  // The first probes begin early enough to be in the first snapshot.
  context.after(limits.firstSnapshotMs - limits.probeTimeoutMs - 1_000, 'probe', null);
  context.after(limits.firstSnapshotMs, 'publish', null);
}

function startingShard(id: number): ShardStatus {
  return { id, status: 'starting', actors: 0, sockets: 0 };
}
