// The voice of a shard: its host with clock and checkpoints, the lanes of its resampling, and its
// share of the memory for sound.
import type { Sql } from '../../db/driver/sql.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { checkpointSessions } from '../../db/voice/sessions.ts';
import { openAudioBudget } from '../../media/audio/budget.ts';
import { createLanes } from '../../media/audio/lanes/lanes.ts';
import { createStraightLanes } from '../../media/audio/lanes/straight.ts';
import { openLiveCall } from '../../media/providers/live/call.ts';
import { requireLiveFamily } from '../../media/providers/live/families.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { type Component, defineComponent, type Withdrawn } from '../../runtime/shard/component.ts';
import { createFundsEstimate } from '../billed-request/funds-estimate.ts';
import { loseHold } from './funding.ts';
import { VoiceHost } from './host.ts';
import { voiceLimits } from './limits.ts';
import { createVoiceMetrics, watchVoice } from './metrics.ts';
import { createVoiceSessionKind, stoodStill, watch } from './session.ts';
import { pace } from './sound.ts';
import type { VoiceDeps, VoiceSpec } from './spec.ts';

/** A session holds much and uses little: fewer of them need to fit than of generations. */
const foreseenHolds = 10n;

type GivenDeps = 'instanceId' | 'wallet' | 'health' | 'search' | 'sealer' | 'limits' | 'log';
type Given = Pick<VoiceDeps, GivenDeps> & {
  sql: Sql;
  registry: MetricsRegistry;
  /** Counters of the process's memory for sound, and the part of this shard in them. */
  soundCounters: SharedArrayBuffer;
  shard: number;
};

/** Builds the voice of one shard. */
export function createVoiceComponent(given: Given) {
  const { limits, log, sql, registry, sealer } = given;
  const { connectMs, readyMs, audioBytesMax } = voiceLimits;
  const host = new VoiceHost({
    sessionsMax: limits.voice.sessionsMax,
    pace,
    watch,
    stoodStill,
    fault: (session, error) => void session.self.tell('fault', error),
    checkpoint: (rows) => withDeadline(checkpointSessions(sql, rows)),
    lost: loseHold,
    log,
  });
  const lanes = createLanes({ lanesMax: Math.max(1, limits.voice.sessionsMax), log });
  const straightLanes = createStraightLanes();
  const metrics = createVoiceMetrics(registry);
  watchVoice(registry, () => ({ sessions: host.size, ...host.counters }));
  const deps: VoiceDeps = {
    instanceId: given.instanceId,
    wallet: given.wallet,
    health: given.health,
    sealer,
    limits,
    search: given.search,
    metrics,
    log,
    fundsEstimate: createFundsEstimate(foreseenHolds),
    lanes,
    straightLanes,
    budget: openAudioBudget(given.soundCounters, given.shard, audioBytesMax),
    family: requireLiveFamily,
    openCall: (family, target, setup, listener) =>
      openLiveCall(family, setup, target, { connectMs, readyMs }, listener),
    host,
  };
  const kind = createVoiceSessionKind(deps);
  const component: Component = defineComponent({
    name: 'voice',
    kinds: [kind],
    size: () => host.size,
    has: (id) => host.has(id),
    drain() {
      host.finishAll('server_draining');
      void host.checkpoint();
    },
    giveUp: () => host.giveUpAll(),
    // A request that runs ends by itself, but a session spends for minutes.
    withdraw: (withdrawn) => host.withdraw((spec) => isTheirs(spec, withdrawn)),
    async close() {
      host.stop();
      straightLanes.stop();
      await lanes.stop();
    },
  });
  return { component, services: { host, sealer, sessionKind: kind, refused: metrics.refused } };
}

function isTheirs({ dependsOn }: VoiceSpec, withdrawn: Withdrawn): boolean {
  return dependsOn.some((id) => withdrawn.has(id));
}
