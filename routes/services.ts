// What handlers may use, and who calls them. A handler takes what it names, no more.

import type { AudioServices } from '../actors/audio/open.ts';
import type { ManagedRoute } from '../actors/catalog/managed.ts';
import type { CatalogModel } from '../actors/catalog/model.ts';
import type { CatalogProtocol } from '../actors/catalog/protocol.ts';
import type { CatalogSnapshot } from '../actors/catalog/snapshot.ts';
import type { Scope } from '../actors/credentials/scope.ts';
import type { CountInput } from '../actors/generation/counting.ts';
import type { OpenServices } from '../actors/generation/open.ts';
import type { Limits } from '../actors/limits.ts';
import type { MonitorKind } from '../actors/monitor/monitor.ts';
import type { RouteHealth } from '../actors/provider-health/health.ts';
import type { TasksKind } from '../actors/tasks/tasks.ts';
import type { TreeLine } from '../actors/tree.ts';
import type { VoiceHost } from '../actors/voice/host.ts';
import type { VoiceSessionKind } from '../actors/voice/session.ts';
import type { WalletProtocol } from '../actors/wallet/protocol.ts';
import type { Sql } from '../db/driver/sql.ts';
import type { UpstreamTarget } from '../media/providers/generation/contract.ts';
import type { TrialResult } from '../media/providers/generation/trial.ts';
import type { ActorRef, ActorSystem } from '../runtime/actor/contract.ts';
import type { Config } from '../runtime/config.ts';
import type { FailureLimiter } from '../runtime/failure-limiter.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Logger } from '../runtime/log.ts';
import type { Sealer } from '../runtime/seal.ts';
import type { OwnedRows } from '../runtime/shard/component.ts';
import type { Bus } from '../runtime/work/bus.ts';
import type { CredentialCache } from './credentials.ts';

export interface Catalog {
  snapshot: CatalogSnapshot;
  models: Map<string, CatalogModel>;
  /** Managed routes by alias; an alias is in one of the two. */
  routes: Map<string, ManagedRoute>;
}

/** What the voice routes need. */
export interface VoiceServices {
  host: VoiceHost;
  sessionKind: VoiceSessionKind;
  sealer: Sealer;
  refused(code: string): void;
}

export interface Services {
  config: Config;
  limits: Limits;
  log: Logger;
  sql: Sql;
  system: ActorSystem;
  bus: Bus;
  limiter: Limiter;
  /** Of credentials that are nobody's, by address. */
  failures: FailureLimiter;
  /** How provider routes did lately, as this shard saw it. */
  health: RouteHealth;
  credentials: CredentialCache;
  generations: OpenServices;
  audio: AudioServices;
  /** The domain that owns the rows of a canonical route. */
  rows(route: string): OwnedRows;
  /** Input tokens of a request, free of charge. */
  countInput: CountInput;
  /** The catalog of this moment; replaced whole when it changes. */
  catalog(): Catalog;
  monitorKind: MonitorKind;
  /** One small real call of a provider. */
  tryProvider(target: UpstreamTarget): Promise<TrialResult>;
  /** Where the catalog is changed. */
  catalogActor(): ActorRef<CatalogProtocol>;
  /** The way to the pool for CPU work. */
  tasksKind: TasksKind;
  wallet(walletId: string): ActorRef<WalletProtocol>;
  /** The supervision tree as declared. */
  tree: TreeLine[];
  version: string;
  voice: VoiceServices;
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
  /** `isUncounted`: it stays possible when the key's places are all taken. */
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
