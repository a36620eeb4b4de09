// Credentials by token hash, in bounded caches in front of the database. What is withdrawn is
// forgotten on every shard before the request that withdrew it is answered.
import { isKeyToken, isToken } from '../actors/credentials/token.ts';
import { sessionEndMs } from '../actors/identity/lifetime.ts';
import {
  contextOf,
  organizationChangeId,
  payerFrom,
  payerOf,
} from '../actors/organization/acting.ts';
import type { OrganizationContext } from '../actors/organization/context.ts';
import { findAccessToken, touchAuthorizations } from '../db/authorizations.ts';
import type { Sql } from '../db/driver/sql.ts';
import { type FoundKey, findKeyByHash, touchKeys } from '../db/keys.ts';
import { findContext, type StoredContext } from '../db/organizations/contexts.ts';
import { findSession, type SessionKind, type SignInMethod, touchSessions } from '../db/sessions.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Bus } from '../runtime/work/bus.ts';
import { ChangeLog, LookupCache } from './lookup-cache.ts';

const credentialTopic = 'credential-changed';

/** What is published when credentials change. */
interface CredentialChange {
  /**
   * They name keys, sessions, authorizations, accounts, an access token by `tokenId`, a client by
   * `clientChangeId`, or an organization by `organizationChangeId`.
   */
  ids: readonly string[];
  /** They are good for nothing from now on; else they may do something else, or again. */
  isWithdrawn: boolean;
}

/** Every shard of this process knows of the change when this resolves. */
export function tellChange(
  bus: Bus,
  ids: readonly string[],
  { isWithdrawn }: { isWithdrawn: boolean },
): Promise<void> {
  const change: CredentialChange = { ids, isWithdrawn };
  return bus.publish(credentialTopic, change);
}

/** Calls for each change that withdraws something, with its ids. */
export function onWithdrawal(bus: Bus, listener: (ids: ReadonlySet<string>) => void): void {
  bus.subscribe(credentialTopic, (told) => {
    const { ids, isWithdrawn } = told as CredentialChange;
    if (isWithdrawn) listener(new Set(ids));
  });
}

/** An access token among the ids of credentials: it may be withdrawn by itself. */
export function tokenId(tokenHash: Uint8Array): string {
  return `at_${Buffer.from(tokenHash).toString('base64url')}`;
}

/** A client among the ids of credentials: what it was let do ends or rests with it. */
export function clientChangeId(client: string): string {
  return `client:${client}`;
}

const touchPeriodMs = 10_000;
const sessionPattern = /^[A-Za-z0-9_-]{20,200}$/;

/** A token with a prefix of ours is whole; older sessions have none. */
function isSessionToken(token: string): boolean {
  if (token.startsWith('svc_')) return isToken('browser', token) || isToken('app', token);
  return sessionPattern.test(token);
}

export interface KeyCredential {
  keyId: string;
  accountId: string;
  /** The person of the account; of an organization's key its account. */
  personId: string;
  walletId: string;
  fallbackWalletId: string | null;
  /** Null: it acts as the person. */
  organization: OrganizationContext | null;
  scopes: ReadonlySet<string>;
  requestsPerMinute: number;
  concurrencyMax: number;
  /** Null: all. */
  allowedModels: ReadonlySet<string> | null;
  /** When the key, or a token that was replaced, ends; null: it does not end by itself. */
  expiresAtMs: number | null;
  /** The key's permit in the shared limiter. */
  slot: number;
  /** A change of one of these makes what was read old. */
  ids: readonly string[];
}

/** A signed-in person's credential: a session, or what an app was let do. */
interface PersonCredential {
  /** `ses_…` or `auth_…` */
  id: string;
  accountId: string;
  walletId: string;
  method: SignInMethod;
  createdAtMs: number;
  authenticatedAtMs: number;
  lastUsedAtMs: number;
  expiresAtMs: number;
  /** The account typed an address that it has not proved. */
  isUnverified: boolean;
  /** Where requests act that name no organization; null: as the person. */
  defaultOrganizationId: number | null;
  requestsPerMinute: number;
  concurrencyMax: number;
  slot: number;
  ids: readonly string[];
}

export interface SessionCredential extends PersonCredential {
  /** Null: of before there was a sign-in; good as cookie and as header. */
  kind: SessionKind | null;
  admin: boolean;
}

export interface AccessCredential extends PersonCredential {
  client: string;
  scopes: readonly string[];
  tokenHash: Buffer;
}

/** A person in an organization: as which account it acts, and who pays. */
export interface MemberContext {
  accountId: string;
  walletId: string;
  fallbackWalletId: string | null;
  organization: OrganizationContext;
  ids: readonly string[];
}

type Found<T> = T | null | Promise<T | null>;

export interface CredentialCache {
  /** The mark of this moment, for `hasChanged`. */
  readonly mark: number;
  /** Whether a change of one of the ids was told since the mark. */
  hasChanged(ids: readonly string[], mark: number): boolean;
  /** The active key of a token, or null. Immediate when cached. */
  key(token: string, nowMs: number): Found<KeyCredential>;
  session(token: string, nowMs: number): Found<SessionCredential>;
  access(token: string, nowMs: number): Found<AccessCredential>;
  /** A person in an organization; null: it is no member. Its canonical owner reads a closed one. */
  context(personId: string, organizationId: number, nowMs: number): Found<MemberContext>;
  /** Remembers that a key, session or authorization was used; written in batches. */
  used(id: string, nowMs: number): void;
  close(): void;
}

/** An app may do as much as a key by default. */
const accessLimits = { requestsPerMinute: 600, concurrencyMax: 64 };

export function createCredentialCache(sql: Sql, bus: Bus, limiter: Limiter): CredentialCache {
  const log = new ChangeLog();
  const idsOf = (credential: { ids: readonly string[] }) => credential.ids;
  const keys = new LookupCache(isKeyToken, keyFinder(sql, limiter), idsOf, log);
  const sessions = new LookupCache(isSessionToken, sessionFinder(sql, limiter), idsOf, log);
  const isAccessToken = (token: string) => isToken('access', token);
  const accesses = new LookupCache(isAccessToken, accessFinder(sql, limiter), idsOf, log);
  const contexts = new LookupCache(() => true, contextFinder(sql), idsOf, log);
  bus.subscribe(credentialTopic, (told) => {
    const { ids, isWithdrawn } = told as CredentialChange;
    log.add(ids, isWithdrawn);
    for (const cache of [keys, sessions, accesses, contexts]) cache.forget(ids, isWithdrawn);
  });
  const uses = createUses(sql);
  return {
    get mark() {
      return log.mark;
    },
    hasChanged: (ids, mark) => log.concerns(ids, mark),
    key: (token, nowMs) => keys.get(token, nowMs),
    session: (token, nowMs) => sessions.get(token, nowMs),
    access: (token, nowMs) => accesses.get(token, nowMs),
    context: (personId, organizationId, nowMs) =>
      contexts.get(`${personId} ${organizationId}`, nowMs),
    used: uses.add,
    close: uses.close,
  };
}

function keyFinder(sql: Sql, limiter: Limiter) {
  return async (hash: Buffer): Promise<KeyCredential | null> => {
    const row = await findKeyByHash(sql, hash);
    if (row === null || row.status !== 'active' || row.accountDisabled) return null;
    const { context } = row;
    if (context !== null && (!context.isActive || context.status === 'closed')) return null;
    const organization = context && contextOf(context);
    return {
      keyId: row.id,
      accountId: row.accountId,
      personId: context?.personId ?? row.accountId,
      ...payerFrom(organization, row.walletId, row.spendLimit !== null),
      organization,
      scopes: new Set(row.scopes),
      requestsPerMinute: row.requestsPerMinute,
      concurrencyMax: row.concurrencyMax,
      allowedModels: row.allowedModels && new Set(row.allowedModels),
      expiresAtMs: endOf(row),
      slot: limiter.slotOf(row.id, Date.now()),
      ids: context === null ? [row.id, row.accountId] : [row.id, ...idsOfContext(context)],
    };
  };
}

/** A context is old when its account, person or organization changed. */
export function idsOfContext({ accountId, personId, organizationId }: StoredContext): string[] {
  const organization = organizationChangeId(organizationId);
  return personId === null ? [accountId, organization] : [accountId, personId, organization];
}

function contextFinder(sql: Sql) {
  return async (_hash: Buffer, name: string): Promise<MemberContext | null> => {
    const [personId = '', organizationId] = name.split(' ');
    const stored = await findContext(sql, personId, Number(organizationId));
    if (stored === null) return null;
    const isOver = stored.status === 'closed';
    if (!stored.isActive && !(isOver && stored.isCanonicalOwner)) return null;
    const organization = contextOf(stored);
    const ids = idsOfContext(stored);
    return { accountId: stored.accountId, ...payerOf(organization), organization, ids };
  };
}

function endOf({ expiresAt, tokenUntil }: FoundKey): number | null {
  const ends = [expiresAt, tokenUntil].flatMap((end) => end?.getTime() ?? []);
  return ends.length === 0 ? null : Math.min(...ends);
}

function sessionFinder(sql: Sql, limiter: Limiter) {
  return async (hash: Buffer): Promise<SessionCredential | null> => {
    const row = await findSession(sql, hash);
    if (row === null || row.disabled) return null;
    return {
      id: row.id,
      kind: row.kind,
      accountId: row.accountId,
      walletId: row.walletId,
      admin: row.role === 'admin' && !row.unverified,
      method: row.method,
      createdAtMs: row.createdAt.getTime(),
      authenticatedAtMs: row.authenticatedAt.getTime(),
      lastUsedAtMs: row.lastUsedAt.getTime(),
      expiresAtMs: sessionEndMs(row, row.role),
      isUnverified: row.unverified,
      defaultOrganizationId: row.defaultOrganizationId,
      requestsPerMinute: row.requestsPerMinute,
      concurrencyMax: row.concurrencyMax,
      slot: limiter.slotOf(row.id, Date.now()),
      ids: [row.id, row.accountId],
    };
  };
}

function accessFinder(sql: Sql, limiter: Limiter) {
  return async (hash: Buffer): Promise<AccessCredential | null> => {
    const row = await findAccessToken(sql, hash);
    if (row === null || row.disabled) return null;
    return {
      id: row.authorizationId,
      client: row.client,
      scopes: row.scopes,
      tokenHash: hash,
      accountId: row.accountId,
      walletId: row.walletId,
      method: row.method,
      createdAtMs: row.approvedAt.getTime(),
      authenticatedAtMs: row.authenticatedAt.getTime(),
      lastUsedAtMs: row.lastUsedAt.getTime(),
      expiresAtMs: row.expiresAt.getTime(),
      isUnverified: row.unverified,
      defaultOrganizationId: row.defaultOrganizationId,
      ...accessLimits,
      slot: limiter.slotOf(row.authorizationId, Date.now()),
      ids: [row.authorizationId, row.accountId, tokenId(hash), clientChangeId(row.client)],
    };
  };
}

/** What was used since it was last written, by its id. */
function createUses(sql: Sql) {
  const used = new Map<string, Date>();
  const timer = setInterval(() => {
    if (used.size === 0) return;
    const uses = [...used].map(([id, usedAt]) => ({ id, usedAt }));
    used.clear();
    const of = (prefix: string) => uses.filter(({ id }) => id.startsWith(prefix));
    // A lost `last_used_at` is harmless; the database's absence is reported where it matters.
    const ignore = () => undefined;
    const keyUses = of('key_').map(({ id, usedAt }) => ({ keyId: id, usedAt }));
    touchKeys(sql, keyUses).catch(ignore);
    touchSessions(sql, of('ses_')).catch(ignore);
    touchAuthorizations(sql, of('auth_')).catch(ignore);
  }, touchPeriodMs);
  timer.unref();
  return {
    add: (id: string, nowMs: number) => void used.set(id, new Date(nowMs)),
    close: () => clearInterval(timer),
  };
}
