// Speech and transcription of a shard: their actors, and the connections to their providers.
import type { Sql } from '../../db/driver/sql.ts';
import type { BlobStore } from '../../media/blobs/contract.ts';
import { createAudioClient } from '../../media/providers/speech/call.ts';
import { requireAudioFamily } from '../../media/providers/speech/families.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { Config } from '../../runtime/config.ts';
import { Budget } from '../../runtime/limiter/budget.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps } from '../billed-request/spec.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { createAudioKind } from './audio.ts';
import { audioFolders } from './folders.ts';
import { type AudioServices, cancelAudio } from './open.ts';
import type { AudioDeps } from './spec.ts';

/** The canonical paths of speech and transcription. */
const routes = ['/v1/audio/speech', '/v1/audio/transcriptions'];
/** What is kept of a drain for each that runs. */
const settleMsEach = 2;

type Given = Omit<RequestDeps, 'running'> & {
  config: Config;
  sql: Sql;
  blobs: BlobStore;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
};

/** Builds the audio of one shard. */
export function createAudioComponent(given: Given) {
  const { limits, sql } = given;
  const running: AudioDeps['running'] = new TransientMap();
  const folders = audioFolders(given.config.dataDir);
  const upstream = createAudioClient({ connectionsMax: limits.upstream.connectionsPerOriginMax });
  const kind = createAudioKind({
    instanceId: given.instanceId,
    wallet: given.wallet,
    upstream,
    family: requireAudioFamily,
    health: given.health,
    fundsEstimate: given.fundsEstimate,
    limiter: given.limiter,
    limits,
    metrics: given.metrics,
    log: given.log,
    blobs: given.blobs,
    running,
  });
  const recordings = new Budget(limits.audio.recordingBytesMax);
  const services = (system: ActorSystem): AudioServices => ({
    system,
    sql,
    audioKind: kind,
    limits,
    blobs: given.blobs,
    formerFolder: folders.kept,
    scratchFolder: folders.scratch,
    recordings,
    limiter: given.limiter,
    health: given.health,
    wallet: given.wallet,
    fundsEstimate: given.fundsEstimate,
    tasks: given.tasks,
  });
  const component: Component = defineComponent({
    name: 'audio',
    kinds: [kind],
    rows: { routes, cancel: (requestId) => cancelAudio(services(given.system()), requestId) },
    size: () => running.size,
    has: (id) => running.has(id),
    settleMsEach,
    finish() {
      for (const audio of running.values()) audio.tell('interrupt', null);
    },
    giveUp() {
      for (const audio of running.values()) audio.tell('giveUp', null);
    },
    close: () => upstream.close(),
  });
  return { component, services };
}
