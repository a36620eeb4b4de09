// The supervision tree: every kind, where it lives, and what its crash leads to. The kinds are
// built here, so that a shard and the main thread agree on names; parents stand before children.
import type { AnyKind } from '../runtime/actor/contract.ts';
import { createAudioKind } from './audio/audio.ts';
import type { AudioDeps } from './audio/spec.ts';
import { type CatalogDeps, createCatalogKind } from './catalog/catalog.ts';
import { createDirectorKind, type DirectorDeps } from './director/director.ts';
import { createGenerationKind } from './generation/generation.ts';
import type { GenerationDeps } from './generation/spec.ts';
import { createMonitorKind, type MonitorDeps } from './monitor/monitor.ts';
import { nodeKind } from './node/node.ts';
import { subscriberKind } from './subscriber/subscriber.ts';
import { createTasksKind, type TasksDeps } from './tasks/tasks.ts';
import { createVoiceSessionKind } from './voice/session.ts';
import type { VoiceDeps } from './voice/spec.ts';
import type { WalletDependencies } from './wallet/ledger-access.ts';
import { createWalletKind } from './wallet/wallet.ts';

/** What the main thread's kinds need; null on shards, which only send to them. */
export interface MainDeps {
  director: DirectorDeps;
  catalog: CatalogDeps;
  monitor: MonitorDeps;
  tasks: TasksDeps;
}

/** What the shards' own kinds need; null on the main thread, which only sends to them. */
export interface ShardDeps {
  generation: GenerationDeps;
  voice: VoiceDeps | null;
  /** Null in tests that need none. */
  audio: AudioDeps | null;
}

/**
 * process
 * ├─ main thread   director (1)  catalog (1)  monitor (1)  tasks (1)
 * └─ shard × N     node (1) · money: wallet (by hash) · generations: generation, subscriber
 *                  voice: voice-session · audio: audio
 */
export function createKinds(
  wallet: WalletDependencies,
  main: MainDeps | null,
  shard: ShardDeps | null,
) {
  return {
    director: createDirectorKind(main?.director ?? null),
    catalog: createCatalogKind(main?.catalog ?? null),
    monitor: createMonitorKind(main?.monitor ?? null),
    tasks: createTasksKind(main?.tasks ?? null),
    node: nodeKind,
    wallet: createWalletKind(wallet),
    generation: createGenerationKind(shard?.generation ?? null),
    subscriber: subscriberKind,
    voiceSession: createVoiceSessionKind(shard?.voice ?? null),
    audio: createAudioKind(shard?.audio ?? null),
  };
}

export type Kinds = ReturnType<typeof createKinds>;

/** The kinds in the order of the tree, as an actor system takes them. */
export function kindList(kinds: Kinds): AnyKind[] {
  return [
    kinds.director,
    kinds.catalog,
    kinds.monitor,
    kinds.tasks,
    kinds.node,
    kinds.wallet,
    kinds.generation,
    kinds.subscriber,
    kinds.voiceSession,
    kinds.audio,
  ];
}

/** One line of the tree as it is declared, for the live view. */
export interface TreeLine {
  kind: string;
  parent: string;
  placement: 'local' | 'hashed' | 'main';
  strategy: 'restart' | 'resume' | 'stop';
  crashes_max: number;
  within_ms: number;
  idle_timeout_ms: number | null;
}

export function supervisionTree(kinds: readonly AnyKind[]): TreeLine[] {
  return kinds.map((kind) => ({
    kind: kind.name,
    parent: kind.parent,
    placement: kind.placement,
    strategy: kind.supervision.strategy,
    crashes_max: kind.supervision.crashesMax,
    within_ms: kind.supervision.withinMs,
    idle_timeout_ms: kind.idleTimeoutMs ?? null,
  }));
}
