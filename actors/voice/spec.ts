// What a voice session is started with, and what its shard gives to all of them.
import type { AudioBudget } from '../../media/audio/budget.ts';
import type { Lanes } from '../../media/audio/lanes/lanes.ts';
import type { StraightLanes } from '../../media/audio/lanes/straight.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type {
  LiveCall,
  LiveFamily,
  LiveListener,
  LiveSetup,
} from '../../media/providers/live/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Sealer } from '../../runtime/seal.ts';
import type { FundsEstimate } from '../billed-request/funds-estimate.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { CatalogSurface } from '../catalog/surface.ts';
import type { Limits } from '../limits.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { WebSearch } from '../search/web-search.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import type { VoiceHost } from './host.ts';
import type { VoiceMetrics } from './metrics.ts';
import type { VoiceSession } from './state.ts';

/** A voice of the catalog: the model that has it, and what its upstream calls it. */
export interface ChosenVoice {
  model: CatalogModel;
  upstreamVoice: string;
}

/** Starts one session. It stays on its shard, so it may hold functions. */
export interface VoiceSpec {
  id: string;
  /** Name of the exchange that was upgraded, for the log. */
  exchangeId: string;
  accountId: string;
  walletId: string;
  /** Who pays where that wallet refuses the hold; left out or null: nobody. */
  fallbackWalletId?: string | null | undefined;
  apiKeyId: string | null;
  /** Credentials and the account: the session ends when one of them is withdrawn. */
  dependsOn: readonly string[];
  /** The catalog of the moment in which the session starts. */
  findVoice(voiceId: string): ChosenVoice | null;
  /** Where a web search looks; null: there is none. */
  webSearch(): CatalogSurface | null;
  /** Gives the key's permit back; called once, when its connection ends. */
  releasePermit: () => void;
  /** Where the actor puts its state, for whoever has the socket. */
  link: { session: VoiceSession | null };
}

/** Opens an upstream session; the listener is never called before this has returned. */
export type OpenCall = (
  family: LiveFamily,
  target: UpstreamTarget,
  setup: LiveSetup,
  listener: LiveListener,
) => LiveCall;

export interface VoiceDeps {
  instanceId: string;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  fundsEstimate: FundsEstimate;
  /** Of the shard: generations and voice never share a route, but order and status are the same. */
  health: RouteHealth;
  sealer: Sealer;
  limits: Limits;
  lanes: Lanes;
  /** For upstreams that take our rate. */
  straightLanes: StraightLanes;
  budget: AudioBudget;
  family(name: string): LiveFamily;
  openCall: OpenCall;
  search: WebSearch;
  metrics: VoiceMetrics;
  log: Logger;
  host: VoiceHost;
}
