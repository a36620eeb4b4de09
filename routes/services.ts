// What handlers may use, by domain, and who calls them. A handler takes what it names, no more; a
// helper takes the domain that it needs.
import type { AnalysisServices } from '../actors/analysis/services.ts';
import type { AppServices } from '../actors/app/services.ts';
import type { AudioServices } from '../actors/audio/open.ts';
import type { AuditServices } from '../actors/audit/component.ts';
import type { Catalog } from '../actors/catalog/current.ts';
import type { CatalogProtocol } from '../actors/catalog/protocol.ts';
import type { Scope } from '../actors/credentials/scope.ts';
import type { GenerationServices } from '../actors/generation/start.ts';
import type { IdentityServices } from '../actors/identity/services.ts';
import type { Limits } from '../actors/limits.ts';
import type { ThreadMail } from '../actors/mail/services.ts';
import type { MonitorProtocol } from '../actors/monitor/protocol.ts';
import type { OAuthScope } from '../actors/oauth/client.ts';
import type { ClientDocuments } from '../actors/oauth/documents.ts';
import type { OrganizationContext } from '../actors/organization/context.ts';
import type { PaymentServices } from '../actors/payments/services.ts';
import type { PersonalDataServices } from '../actors/personal-data/services.ts';
import type { QueryServices } from '../actors/query/open.ts';
import type { RewardServices } from '../actors/reward/services.ts';
import type { Standings } from '../actors/search/canary/standing.ts';
import type { SearchServices } from '../actors/search/component.ts';
import type { TasksProtocol } from '../actors/tasks/protocol.ts';
import type { TreeLine } from '../actors/tree.ts';
import type { VideoServices } from '../actors/video/services.ts';
import type { VoiceHost } from '../actors/voice/host.ts';
import type { VoiceSessionKind } from '../actors/voice/session.ts';
import type { WalletProtocol } from '../actors/wallet/protocol.ts';
import type { Sql } from '../db/driver/sql.ts';
import type { SignInMethod } from '../db/sessions.ts';
import type { BlobStore } from '../media/blobs/contract.ts';
import type { Seals } from '../media/model/seals.ts';
import type { UpstreamTarget } from '../media/providers/generation/contract.ts';
import type { TrialResult } from '../media/providers/generation/trial.ts';
import type { ActorRef, ActorSystem } from '../runtime/actor/contract.ts';
import type { Config } from '../runtime/config.ts';
import type { FailureLimiter, FailureRule } from '../runtime/failure-limiter.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Logger } from '../runtime/log.ts';
import type { Outbound } from '../runtime/outbound/contract.ts';
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
  /** Clients that describe themselves. */
  documents: ClientDocuments;
  /** Where it is changed. */
  actor(): ActorRef<CatalogProtocol>;
  /** One small real call of a provider. */
  tryProvider(target: UpstreamTarget): Promise<TrialResult>;
  /** How surfaces stand by their canaries. */
  standings: Standings;
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
  /** Under the master key. */
  sealer: Sealer;
  /** The one way to a URL that somebody else names. */
  outbound: Outbound;
  /** What an account's clients carry for providers. */
  seals(accountId: string): Seals;

  // What other threads keep, as this shard sees it.
  access: AccessServices;
  catalog: CatalogServices;
  monitor: MonitorServices;
  /** CPU work that is too heavy for a shard. */
  tasks(): ActorRef<TasksProtocol>;

  // The domains.
  wallet(walletId: string): ActorRef<WalletProtocol>;
  generations: GenerationServices;
  voice: VoiceServices;
  audio: AudioServices;
  video: VideoServices;
  analysis: AnalysisServices;
  reward: RewardServices;
  query: QueryServices;
  search: SearchServices;
  audit: AuditServices;
  identity: IdentityServices;
  mail: ThreadMail;
  personalData: PersonalDataServices;
  app: AppServices;
  blobs: BlobStore;
  payments: PaymentServices;
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

/** As whom a caller acts, and who pays. */
interface Acting {
  /** The account that it acts as: a person's, a membership's, or an organization's own. */
  accountId: string;
  /** The person behind it; of an organization's key its account. */
  personId: string;
  /** Null: it acts as the person. */
  organization: OrganizationContext | null;
  /** The wallet that pays. */
  walletId: string;
  /** Who pays where that wallet refuses the first hold; null: nobody. */
  fallbackWalletId: string | null;
}

export interface KeyCaller extends Acting {
  kind: 'key';
  keyId: string;
  scopes: ReadonlySet<string>;
  /** Aliases that it may name; null: all. */
  allowedModels: ReadonlySet<string> | null;
  permit: Permit;
  /** Ids whose withdrawal ends what this caller has begun. */
  dependsOn: readonly string[];
  /** Who comes with a ticket: it is used up, so nobody may be quicker. */
  sessionPermit?: SessionPermit;
}

/** How a person is signed in. */
export interface SignedIn {
  /** Where the credential stood. */
  by: 'cookie' | 'header' | 'bearer';
  kind: 'browser' | 'app' | 'oauth';
  /** `ses_…`, or `auth_…` of what an app was let do. */
  id: string;
  method: SignInMethod;
  createdAtMs: number;
  authenticatedAtMs: number;
  lastUsedAtMs: number;
  expiresAtMs: number;
  /** Null unless an app shows an access token. */
  client: { id: string; scopes: readonly string[]; tokenHash: Buffer } | null;
}

/** A user on a connection that lasts: by a session, an access token, or a ticket of one. */
export interface SocketUser extends Acting {
  kind: 'user';
  admin: boolean;
  permit: Permit;
  /** As a key's. */
  dependsOn: readonly string[];
  /** As a key's. */
  sessionPermit?: SessionPermit;
}

export interface UserCaller extends SocketUser {
  signedIn: SignedIn;
  /** The account typed an address that it has not proved: it may not buy, nor be given credits. */
  isUnverified: boolean;
}

export interface AnonymousCaller {
  kind: 'anonymous';
}

/** A caller that has an account. */
export type AccountCaller = KeyCaller | UserCaller;
export type SocketCaller = KeyCaller | SocketUser;
export type Caller = AccountCaller | SocketCaller | AnonymousCaller;

/** What stays possible while the organization is suspended, beside what reads (section 8). */
interface Standing {
  isForSuspended?: true;
}

/**
 * Who may call a route (identity.md, section 1), and as whom (organizations.md, section 1). Users
 * of `user`, `key-or-user` and `socket` act in an organization. The others act as the person.
 */
export type Access =
  | { kind: 'none' }
  /** `isUncounted`: it stays possible when all permits of the key are taken. */
  | ({ kind: 'key'; scope: Scope; isUncounted?: true } & Standing)
  /** A cookie, a session header, or an access token with `app`. */
  | ({ kind: 'user'; isPersonal?: true } & Standing)
  /** As `user`, or nobody. With a rule each network is counted before anything is read. */
  | { kind: 'optional-user'; networkRule?: FailureRule }
  /** The person itself: a cookie or a session header; no app for it. */
  | { kind: 'self' }
  /** A session header, or an access token with `app`; no cookie. */
  | { kind: 'app' }
  /** A cookie and nothing else. */
  | { kind: 'cookie' }
  /** A cookie, or nobody; other credentials are not looked at. */
  | { kind: 'optional-cookie' }
  /** An access token with one of the scopes. */
  | { kind: 'bearer'; scopes: readonly OAuthScope[] }
  | { kind: 'admin' }
  | ({ kind: 'key-or-user'; scope: Scope } & Standing)
  /** A WebSocket handshake: header, ticket, or key in the subprotocol. */
  | { kind: 'socket'; scope: Scope };

/** Whom each kind of access admits: handlers get exactly that caller. */
interface Admitted extends Record<Access['kind'], Caller> {
  none: AnonymousCaller;
  key: KeyCaller;
  user: UserCaller;
  'optional-user': UserCaller | AnonymousCaller;
  self: UserCaller;
  app: UserCaller;
  cookie: UserCaller;
  'optional-cookie': UserCaller | AnonymousCaller;
  bearer: UserCaller;
  admin: UserCaller;
  'key-or-user': AccountCaller;
  socket: SocketCaller;
}

/** The caller that handlers of this access get. */
export type CallerOf<A extends Access> = Admitted[A['kind']];
