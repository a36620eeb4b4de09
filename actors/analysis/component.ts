// The analyses of a shard: their actors and leases. Their generations are the generation
// component's, on the same shard.
import type { Sql } from '../../db/driver/sql.ts';
import { leaveVideoAnalyses, renewVideoAnalyses } from '../../db/video-analyses/moves.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { ExtractedFrames } from '../../media/video/contract.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { Config } from '../../runtime/config.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import { defineComponent } from '../../runtime/shard/component.ts';
import { TransientSet } from '../../runtime/transient.ts';
import { createLeases } from '../../runtime/work/leases.ts';
import { cancelGeneration } from '../generation/open.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { Limits } from '../limits.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { videoScratchFolder } from '../video/scratch.ts';
import { createVideoAnalysisKind, type VideoAnalysisDeps } from './analysis.ts';
import { analysisRoute } from './answering.ts';
import { analysisDeskId, createAnalysisDeskKind } from './desk.ts';
import { createAnalysisMetrics } from './metrics.ts';
import type { Run } from './run.ts';
import type { AnalysisServices } from './services.ts';

/** What is kept of a drain for each that runs. */
const settleMsEach = 2;

interface AnalysisGiven {
  shard: number;
  config: Config;
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  sql: Sql;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  blobs: BlobStore;
  outbound: Outbound;
  generations(system: ActorSystem): GenerationServices;
}

/** Builds the analyses of one shard. */
export function createAnalysisComponent(given: AnalysisGiven) {
  const { sql, limits, log, config } = given;
  const { analysis } = limits;
  const leases = createLeases({
    what: 'leases of analyses',
    renewMs: analysis.renewMs,
    rows: {
      renew: (held) => renewVideoAnalyses(sql, held, analysis.leaseMs),
      leave: (held) => leaveVideoAnalyses(sql, held),
    },
    log,
  });
  const runs = new TransientSet<Run>();
  const deskKind = createAnalysisDeskKind(null);
  const desk = () => given.system().ref(deskKind, analysisDeskId);
  const metrics = createAnalysisMetrics(given.registry);
  const generations = () => given.generations(given.system());
  const kind = createVideoAnalysisKind({
    sql,
    outbound: given.outbound,
    blobs: given.blobs,
    extract: extractOn(given),
    generations,
    scratchFolder: videoScratchFolder(config.dataDir),
    leases,
    limits: analysis,
    metrics,
    log,
    tellEnded: (id) => desk().tell('ended', { id }),
    runs,
  });
  const component = defineComponent({
    name: 'analysis',
    kinds: [kind],
    rows: {
      routes: [analysisRoute],
      cancel: (requestId) =>
        cancelGeneration(generations(), requestId, limits.generation.cancelWaitMs),
    },
    size: () => runs.size,
    settleMsEach,
    drain() {
      for (const run of runs) run.leave();
    },
    close: () => leases.close(),
  });
  const services: AnalysisServices = {
    creation: {
      sql,
      node: given.shard + 1,
      baseUrl: config.baseUrl,
      generations,
      limits: analysis,
      enqueue: (id) => desk().tell('enqueue', { id }),
      metrics,
    },
  };
  return { component, services };
}

function extractOn({ tasks, log }: AnalysisGiven): VideoAnalysisDeps['extract'] {
  return async (payload, accountId, timeoutMs) => {
    const task = { name: 'extract-frames', payload, accountId };
    const answer = await tasks().ask('run', task, timeoutMs);
    if (answer.ok && answer.value.ok) return answer.value.value as ExtractedFrames;
    log.warn({ account: accountId }, 'the source of an analysis could not be looked at');
    return null;
  };
}
