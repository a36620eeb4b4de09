// What handlers may use, by domain, and who calls them. A handler takes what it names, no more; a
// helper takes the domain that it needs.
import type { AnalysisServices } from '../actors/analysis/services.ts';
import type { AudioServices } from '../actors/audio/open.ts';
import type { Catalog } from '../actors/catalog/current.ts';
import type { CatalogProtocol } from '../actors/catalog/protocol.ts';
import type { Scope } from '../actors/credentials/scope.ts';
import type { GenerationServices } from '../actors/generation/start.ts';
import type { Limits } from '../actors/limits.ts';
import type { MonitorProtocol } from '../actors/monitor/protocol.ts';
import type { TreeLine } from '../actors/tree.ts';
import type { VideoServices } from '../actors/video/services.ts';
import type { VoiceHost } from '../actors/voice/host.ts';
import type { VoiceSessionKind } from '../actors/voice/session.ts';
import type { WalletProtocol } from '../actors/wallet/protocol.ts';
import type { Sql } from '../db/driver/sql.ts';
import type { Seals } from '../media/model/seals.ts';
import type { UpstreamTarget } from '../media/providers/generation/contract.ts';
import type { TrialResult } from '../media/providers/generation/trial.ts';
import type { ActorRef, ActorSystem } from '../runtime/actor/contract.ts';
import type { Config } from '../runtime/config.ts';
import type { FailureLimiter } from '../runtime/failure-limiter.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Logger } from '../runtime/log.ts';
import type { Sealer } from '../runtime/seal.ts';
import type { RequestRows } from '../runtime/shard/component.ts';
import type { Bus } from '../runtime/work/bus.ts';
import type { CredentialCache } from './credentials.ts';

/** Who is calling, and how often. */
export interface AccessServices {
  credentials: CredentialCache;
  limiter: Limiter;
  /** Attempts with credentials that are nobody's, by address. */
  failures: FailureLimiter;
}

export interface CatalogServices {
  /** The catalog of this moment; replaced whole when it changes. */
  current(): Catalog;
  /** Where it is changed. */
  actor(): ActorRef<CatalogProtocol>;
  /** One small real call of a provider. */
  tryProvider(target: UpstreamTarget): Promise<TrialResult>;
}

export interface MonitorServices {
  actor(): ActorRef<MonitorProtocol>;
  /** The supervision tree as declared. */
  tree: TreeLine[];
}

export interface VoiceServices {
  host: VoiceHost;
  sessionKind: VoiceSessionKind;
  sealer: Sealer;
  refused(code: string): void;
}

export interface Services {
  // The process.
  config: Config;
  version: string;
  limits: Limits;
  log: Logger;
  sql: Sql;
  system: ActorSystem;
  bus: Bus;
  /** What an account's clients carry for providers. */
  seals(accountId: string): Seals;

  // What other threads keep, as this shard sees it.
  access: AccessServices;
  catalog: CatalogServices;
  monitor: MonitorServices;

  // The domains.
  wallet(walletId: string): ActorRef<WalletProtocol>;
  generations: GenerationServices;
  voice: VoiceServices;
  audio: AudioServices;
  video: VideoServices;
  analysis: AnalysisServices;
  /** The domain that owns the rows of a canonical route. */
  rows(route: string): RequestRows;
}

/** A key's permit among its open requests, until the exchange and whoever took it are over. */
export interface Permit {
  /**
   * The taker gives it back; calling the function again is harmless. Null: everybody has left it,
   * such as a client that went away while its request was prepared.
   */
  take(): (() => void) | null;
}

/** A permit of the shard's voice that a handshake has taken before it is accepted. */
export interface SessionPermit {
  /** The session has it now; else it is given back with the handshake. */
  isTaken: boolean;
}

export interface KeyCaller {
  kind: 'key';
  keyId: string;
  accountId: string;
  walletId: string;
  scopes: ReadonlySet<string>;
  permit: Permit;
  /** Who comes with a ticket: it is used up, so nobody may be quicker. */
  sessionPermit?: SessionPermit;
}

export interface UserCaller {
  kind: 'user';
  accountId: string;
  walletId: string;
  admin: boolean;
  /** One of the account's, where the route counts them: connections that last. */
  permit: Permit;
  /** As a key's. */
  sessionPermit?: SessionPermit;
}

export interface AnonymousCaller {
  kind: 'anonymous';
}

/** A caller that has an account. */
export type AccountCaller = KeyCaller | UserCaller;
export type Caller = AccountCaller | AnonymousCaller;

/** Who may call a route. */
export type Access =
  | { kind: 'none' }
  /** `isUncounted`: it stays possible when all permits of the key are taken. */
  | { kind: 'key'; scope: Scope; isUncounted?: true }
  | { kind: 'user' }
  | { kind: 'admin' }
  | { kind: 'key-or-user'; scope: Scope }
  /** A WebSocket handshake: header, ticket, or key in the subprotocol. */
  | { kind: 'socket'; scope: Scope };

/** Whom each kind of access admits: handlers get exactly that caller. */
interface Admitted extends Record<Access['kind'], Caller> {
  none: AnonymousCaller;
  key: KeyCaller;
  user: UserCaller;
  admin: UserCaller;
  'key-or-user': AccountCaller;
  socket: AccountCaller;
}

/** The caller that handlers of this access get. */
export type CallerOf<A extends Access> = Admitted[A['kind']];
