// The supervision tree: every kind, where it lives, and what its crash leads to. Parents stand
// before children: what is single in a process first, then the kinds of each component of a shard.
import type { AnyKind } from '../runtime/actor/contract.ts';
import type { TurnDesk } from '../runtime/work/turn-desk.ts';
import { type AnalysisDesk, createAnalysisDeskKind } from './analysis/desk.ts';
import { type CatalogDeps, createCatalogKind } from './catalog/catalog.ts';
import { createDirectorKind, type DirectorDeps } from './director/director.ts';
import { createMailDeskKind, type MailDesk } from './mail/desk.ts';
import { createMonitorKind, type MonitorDeps } from './monitor/monitor.ts';
import { nodeKind } from './node/node.ts';
import { createPaymentDeskKind, type PaymentDesk } from './payments/desk.ts';
import { createPersonalDataDeskKind, type PersonalDataDesk } from './personal-data/desk.ts';
import { createRewardDeskKind } from './reward/desk.ts';
import { createTasksKind, type TasksDeps } from './tasks/tasks.ts';
import { createVideoDeskKind, type VideoDesk } from './video/desk.ts';

/** What the main thread's kinds need; null on shards, which only send to them. */
export interface MainDeps {
  director: DirectorDeps;
  catalog: CatalogDeps;
  monitor: MonitorDeps;
  tasks: TasksDeps;
  videoDesk: VideoDesk;
  analysisDesk: AnalysisDesk;
  mailDesk: MailDesk;
  personalDataDesk: PersonalDataDesk;
  rewardDesk: TurnDesk;
  paymentDesk: PaymentDesk;
}

/**
 * process
 * ├─ main thread   director (1)  catalog (1)  monitor (1)  tasks (1)  video-desk (1)
 *                  analysis-desk (1)  mail-desk (1)  personal-data-desk (1)  reward-desk (1)
 *                  payment-desk (1)
 * └─ shard × N     node (1), and the kinds of `components.ts`: money: wallet (by hash) ·
 *                  generations: generation, subscriber · voice: voice-session · audio: audio ·
 *                  video: video-job (by hash) · analysis: video-analysis (by hash)
 *                  · reward: reward (by hash) · audit: audit (by hash)
 */
export function createProcessKinds(main: MainDeps | null) {
  return {
    director: createDirectorKind(main?.director ?? null),
    catalog: createCatalogKind(main?.catalog ?? null),
    monitor: createMonitorKind(main?.monitor ?? null),
    tasks: createTasksKind(main?.tasks ?? null),
    videoDesk: createVideoDeskKind(main?.videoDesk ?? null),
    analysisDesk: createAnalysisDeskKind(main?.analysisDesk ?? null),
    mailDesk: createMailDeskKind(main?.mailDesk ?? null),
    personalDataDesk: createPersonalDataDeskKind(main?.personalDataDesk ?? null),
    rewardDesk: createRewardDeskKind(main?.rewardDesk ?? null),
    paymentDesk: createPaymentDeskKind(main?.paymentDesk ?? null),
    node: nodeKind,
  };
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
