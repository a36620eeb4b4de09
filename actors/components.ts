// Every domain of a shard, in the order in which it is built, drained and closed. Read this first.
// A new domain is a line here, with its component in its own folder.
import type { Sql } from '../db/driver/sql.ts';
import type { BlobStore } from '../media/blobs/contract.ts';
import type { ActorRef, ActorSystem } from '../runtime/actor/contract.ts';
import type { Config } from '../runtime/config.ts';
import type { AnswerTally } from '../runtime/limiter/answers.ts';
import type { GiveawayLimiter } from '../runtime/limiter/giveaways.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Logger } from '../runtime/log.ts';
import type { MetricsRegistry } from '../runtime/metrics-registry.ts';
import type { Outbound } from '../runtime/outbound/contract.ts';
import type { Sealer } from '../runtime/seal.ts';
import type { Component } from '../runtime/shard/component.ts';
import { createAnalysisComponent } from './analysis/component.ts';
import { createAppComponent } from './app/component.ts';
import { createAudioComponent } from './audio/component.ts';
import { createAuditComponent } from './audit/component.ts';
import { createFundsEstimate } from './billed-request/funds-estimate.ts';
import { createRequestMetrics } from './billed-request/metrics.ts';
import type { Catalog } from './catalog/current.ts';
import { createGenerationComponent } from './generation/component.ts';
import { createIdentityCounter } from './identity/metrics.ts';
import { createPasswords } from './identity/passwords.ts';
import type { IdentityServices } from './identity/services.ts';
import type { Limits } from './limits.ts';
import { createPaymentDeskKind, paymentDeskId } from './payments/desk.ts';
import type { RouteHealth } from './provider-health/health.ts';
import { createQueryComponent } from './query/component.ts';
import { createRewardComponent } from './reward/component.ts';
import { createSearchComponent } from './search/component.ts';
import type { TasksProtocol } from './tasks/protocol.ts';
import { createVideoComponent } from './video/component.ts';
import { createVoiceComponent } from './voice/component.ts';
import { createWalletComponent } from './wallet/component.ts';
import type { Holders } from './wallet/holder.ts';

/** What a shard gives to all of its domains. */
export interface ShardGiven {
  instanceId: string;
  /** From 0. */
  shard: number;
  config: Config;
  databaseUrl: string;
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  sql: Sql;
  /** It is there once every component is. */
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  health: RouteHealth;
  limiter: Limiter;
  giveaways: GiveawayLimiter;
  /** Paid and unpaid answers of accounts. */
  tally: AnswerTally;
  sealer: Sealer;
  blobs: BlobStore;
  /** The one way to a URL that somebody else names. */
  outbound: Outbound;
  holders: Holders;
  /** The catalog of this moment; it is there once the shard serves. */
  catalog(): Catalog;
  /** Counters of the process's memory for sound that waits. */
  soundCounters: SharedArrayBuffer;
  /** The shard ends for an error: what takes long is left out. */
  isFailing(): boolean;
}

/** The domains of a shard. */
export function createComponents(given: ShardGiven) {
  const deskKind = createPaymentDeskKind(null);
  const desk = () => given.system().ref(deskKind, paymentDeskId);
  const money = createWalletComponent({ ...given, low: (wallet) => desk().tell('low', wallet) });
  const searches = createSearchComponent({
    ...given,
    generations: () => generation.services(given.system()),
  });
  const shared = {
    ...given,
    search: searches.webSearch,
    wallet: money.wallet,
    fundsEstimate: createFundsEstimate(),
    metrics: createRequestMetrics(given.registry),
  };
  const generation = createGenerationComponent(shared);
  const voice = createVoiceComponent({
    ...given,
    search: searches.webSearch,
    wallet: money.wallet,
  });
  const audio = createAudioComponent(shared);
  const query = createQueryComponent({ ...shared, desk: searches.desk });
  const video = createVideoComponent({ ...given, wallet: money.wallet });
  const analysis = createAnalysisComponent({ ...given, generations: generation.services });
  const app = createAppComponent(given);
  const paid = { ...given, wallet: money.wallet, generations: generation.services };
  const reward = createRewardComponent(paid);
  const audit = createAuditComponent(given);
  const identity: IdentityServices = {
    passwords: createPasswords(given.tasks, given.limits.passwords),
    count: createIdentityCounter(given.registry),
  };
  const list: readonly Component[] = [
    money.component,
    searches.component,
    generation.component,
    voice.component,
    audio.component,
    query.component,
    video.component,
    analysis.component,
    app.component,
    reward.component,
    audit.component,
  ];
  return {
    list,
    wallet: money.wallet,
    tryProvider: generation.tryProvider,
    /** What apps are told; it is there once the shard serves. */
    board: app.services.board,
    notices: app.services.notices,
    /** What each offers to routes. */
    services: (system: ActorSystem) => ({
      generations: generation.services(system),
      voice: voice.services,
      audio: audio.services(system),
      query: query.services(system),
      video: video.services(system),
      analysis: analysis.services,
      reward: reward.services,
      search: searches.services,
      audit: audit.services,
      identity,
      app: app.services,
      payments: { desk, limits: given.limits.payments },
    }),
  };
}
