// Video jobs of a shard: their actors, leases and slots, and the connections to providers.
import type { Sql } from '../../db/driver/sql.ts';
import { leaveVideoJobs, renewVideoJobs } from '../../db/video-jobs/moves.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import { createVideoClient } from '../../media/providers/video/call.ts';
import { requireVideoFamily } from '../../media/providers/video/families.ts';
import type { InspectedVideo } from '../../media/video/contract.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { Config } from '../../runtime/config.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import { defineComponent } from '../../runtime/shard/component.ts';
import { TransientSet } from '../../runtime/transient.ts';
import { createLeases } from '../../runtime/work/leases.ts';
import type { Catalog } from '../catalog/current.ts';
import type { Limits } from '../limits.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { CreationDeps } from './create.ts';
import { createVideoDeskKind, videoDeskId } from './desk.ts';
import { createDurations } from './durations.ts';
import { createVideoJobKind, type VideoJobDeps } from './job.ts';
import { createVideoMetrics } from './metrics.ts';
import { createQueuedCount } from './queued-count.ts';
import type { Run } from './run.ts';
import { videoScratchFolder } from './scratch.ts';
import type { VideoServices } from './services.ts';
import { createSlots } from './slots.ts';

/** What is kept of a drain for each that runs. */
const settleMsEach = 2;

export interface VideoGiven {
  instanceId: string;
  shard: number;
  config: Config;
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  sql: Sql;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  health: RouteHealth;
  blobs: BlobStore;
  outbound: Outbound;
  catalog(): Catalog;
}

/** Builds the video jobs of one shard. */
export function createVideoComponent(given: VideoGiven) {
  const { limits, sql, log, health } = given;
  const { video } = limits;
  const client = createVideoClient({ connectionsMax: limits.upstream.connectionsPerOriginMax });
  const leases = createLeases({
    what: 'video leases',
    renewMs: video.renewMs,
    rows: {
      renew: (jobs) => renewVideoJobs(sql, jobs, video.leaseMs),
      leave: (jobs) => leaveVideoJobs(sql, jobs),
    },
    log,
  });
  const runs = new TransientSet<Run>();
  const deskKind = createVideoDeskKind(null);
  const desk = () => given.system().ref(deskKind, videoDeskId);
  const deps: VideoJobDeps = {
    instanceId: given.instanceId,
    sql,
    wallet: given.wallet,
    client,
    family: requireVideoFamily,
    outbound: given.outbound,
    blobs: given.blobs,
    inspect: inspectOn(given),
    scratchFolder: videoScratchFolder(given.config.dataDir),
    target: (routeId) => targetOf(given.catalog(), routeId),
    health,
    durations: createDurations(video.durationsKept),
    leases,
    slots: createSlots(sql, video.slotMs),
    limits: video,
    ledger: limits.ledger,
    metrics: createVideoMetrics(given.registry),
    log,
    tellEnded: (id) => desk().tell('ended', { id }),
    runs,
  };
  const kind = createVideoJobKind(deps);
  const creation = creationOf(given, deps, (id) => desk().tell('enqueue', { id }));
  const component = defineComponent({
    name: 'video',
    kinds: [kind],
    size: () => runs.size,
    settleMsEach,
    // Others go on with them: a submission that is under way is waited for.
    drain() {
      for (const run of runs) run.stop();
    },
    async close() {
      creation.queued.close();
      await leases.close();
      await client.close();
    },
  });
  const services = (system: ActorSystem): VideoServices => ({
    creation,
    job: (id) => system.ref(kind, id),
    blobs: given.blobs,
    limits: video,
  });
  return { component, services };
}

function creationOf(
  { instanceId, shard, sql, wallet, catalog, health, log, limits }: VideoGiven,
  { durations, metrics }: VideoJobDeps,
  enqueue: (id: string) => void,
): CreationDeps {
  return {
    instanceId,
    node: shard + 1,
    sql,
    wallet,
    catalog,
    routes: {
      // A provider that asks for a pause is waited for: the job is queued.
      allows: (routeId) => health.stats(routeId, Date.now()).state !== 'open',
      successRate: (routeId) => health.stats(routeId, Date.now()).successRate,
      medianMs: durations.medianMs,
    },
    queued: createQueuedCount(sql, limits.video, log),
    limits: limits.video,
    ledger: limits.ledger,
    enqueue,
    metrics,
  };
}

function inspectOn({ tasks, limits, log }: VideoGiven): VideoJobDeps['inspect'] {
  return async (payload, accountId) => {
    const task = { name: 'inspect-video', payload, accountId };
    const answer = await tasks().ask('run', task, limits.video.inspectMs);
    if (answer.ok && answer.value.ok) return answer.value.value as InspectedVideo;
    log.warn({ account: accountId }, 'a finished video could not be looked at');
    return null;
  };
}

function targetOf({ snapshot, models }: Catalog, routeId: string) {
  const target = snapshot.videoTargets.find((each) => each.routeId === routeId);
  if (target === undefined) return null;
  for (const { video } of models.values()) {
    const isEnabled = video?.targets.some((each) => each.routeId === routeId) === true;
    if (isEnabled) return { target, enabled: true };
  }
  return { target, enabled: false };
}
