// What a shard needs to have voice sessions: their host, with clock and checkpoints, the lanes of
// their resampling, and the share of the process's memory for sound.

import type { Sql } from '../../db/driver/sql.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { checkpointSessions } from '../../db/voice-sessions.ts';
import { openAudioBudget } from '../../media/audio/budget.ts';
import { createLanes } from '../../media/audio/lanes/lanes.ts';
import { createStraightLanes } from '../../media/audio/lanes/straight.ts';
import { openLiveCall } from '../../media/providers/live/call.ts';
import { requireLiveFamily } from '../../media/providers/live/families.ts';
import { createFundsEstimate } from '../billed-request/funds-estimate.ts';
import { loseHold } from './funding.ts';
import { VoiceHost } from './host.ts';
import { voiceLimits } from './limits.ts';
import { stoodStill, watch } from './session.ts';
import { pace } from './sound.ts';
import type { VoiceDeps } from './spec.ts';

/** A session holds much and uses little: fewer of them need to fit than of generations. */
const foreseenHolds = 10n;

type Given = Pick<
  VoiceDeps,
  'instanceId' | 'wallet' | 'health' | 'sealer' | 'limits' | 'search' | 'metrics' | 'log'
> & {
  sql: Sql;
  /** Counters of the process, and the place of this shard in them. */
  audio: { counters: SharedArrayBuffer; shard: number };
};

export interface VoiceHouse {
  deps: VoiceDeps;
  stop(): Promise<void>;
}

/** Builds the voice of one shard. */
export function createVoiceHouse(given: Given): VoiceHouse {
  const { limits, log, sql, audio } = given;
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
  const deps: VoiceDeps = {
    ...given,
    fundsEstimate: createFundsEstimate(foreseenHolds),
    lanes,
    straightLanes,
    budget: openAudioBudget(audio.counters, audio.shard, audioBytesMax),
    family: requireLiveFamily,
    openCall: (family, target, setup, listener) =>
      openLiveCall(family, setup, target, { connectMs, readyMs }, listener),
    host,
  };
  return {
    deps,
    async stop() {
      host.stop();
      straightLanes.stop();
      await lanes.stop();
    },
  };
}
