// Credentials by token hash, in a bounded cache in front of the database. A revocation, like every
// change of an account, empties it on every shard before the request that made it is answered.
import { credentialLimits } from '../actors/credentials/limits.ts';
import { isKeyToken, tokenHash, tokenHashText } from '../actors/credentials/token.ts';
import { type Sql, withDeadline } from '../db/driver/sql.ts';
import { findKeyByHash, touchKeys } from '../db/keys.ts';
import { findSession } from '../db/sessions.ts';
import type { Limiter } from '../runtime/limiter.ts';
import type { Bus } from '../runtime/work/bus.ts';

export const credentialTopic = 'credential-changed';
/** What is published there: a key was revoked, or an account changed. */
export type CredentialChange = { keyId: string } | { accountId: string; isDisabled: boolean };

const touchPeriodMs = 10_000;
const sessionPattern = /^[A-Za-z0-9_-]{20,200}$/;
const isSessionToken = (token: string) => sessionPattern.test(token);

export interface KeyCredential {
  keyId: string;
  accountId: string;
  walletId: string;
  scopes: ReadonlySet<string>;
  requestsPerMinute: number;
  concurrencyMax: number;
  /** The key's permit in the shared limiter. */
  slot: number;
}

export interface SessionCredential {
  accountId: string;
  walletId: string;
  admin: boolean;
  expiresAtMs: number;
}

interface Entry<T> {
  value: T;
  untilMs: number;
  /** Since it was last looked at for eviction: a mark costs a hit less than a place in a list. */
  isUsed: boolean;
}

const { entriesMax, unknownMax, ttlMs, readsMax } = credentialLimits;

/** No longer than what was read just now: since then the clock may have been set back. */
function isFresh(untilMs: number, nowMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + ttlMs;
}

/**
 * A lookup with a bound, a lifetime and one query per token at a time. What is unknown has a small
 * bound of its own: guesses push out guesses, never who is known.
 */
export class LookupCache<T> {
  readonly #isWellFormed: (token: string) => boolean;
  readonly #find: (hash: Buffer) => Promise<T | null>;
  readonly #entries = new Map<string, Entry<T>>();
  /** Until when a token counts as unknown. */
  readonly #unknown = new Map<string, number>();
  readonly #pending = new Map<string, Promise<T | null>>();
  /** Counts the clearings: a lookup that began before one must not be kept after it. */
  #clearings = 0;

  constructor(isWellFormed: (token: string) => boolean, find: (hash: Buffer) => Promise<T | null>) {
    this.#isWellFormed = isWellFormed;
    this.#find = find;
  }

  get(token: string, nowMs: number): T | null | Promise<T | null> {
    const name = tokenHashText(token);
    const entry = this.#entries.get(name);
    if (entry !== undefined && isFresh(entry.untilMs, nowMs)) {
      entry.isUsed = true;
      return entry.value;
    }
    // Only now: whoever is known is well-formed, and most requests come from who is known.
    if (!this.#isWellFormed(token)) return null;
    const unknownUntilMs = this.#unknown.get(name);
    if (unknownUntilMs !== undefined && isFresh(unknownUntilMs, nowMs)) return null;
    return this.#pending.get(name) ?? this.#load(name, tokenHash(token), nowMs);
  }

  clear(): void {
    this.#clearings += 1;
    this.#entries.clear();
    this.#unknown.clear();
    this.#pending.clear();
  }

  #load(name: string, hash: Buffer, nowMs: number, reads = 1): Promise<T | null> {
    const clearings = this.#clearings;
    const pending = withDeadline(this.#find(hash))
      .then((value) => {
        if (clearings === this.#clearings) this.#keep(name, value, nowMs + ttlMs);
        else if (reads < readsMax) {
          // It may be older than the change, and what it admits, as a voice session, lasts minutes.
          return this.#pending.get(name) ?? this.#load(name, hash, nowMs, reads + 1);
        }
        return value;
      })
      .finally(() => {
        if (this.#pending.get(name) === pending) this.#pending.delete(name);
      });
    this.#pending.set(name, pending);
    return pending;
  }

  #keep(name: string, value: T | null, untilMs: number): void {
    this.#entries.delete(name);
    this.#unknown.delete(name);
    if (value === null) {
      this.#unknown.set(name, untilMs);
      const [oldest] = this.#unknown.keys();
      if (this.#unknown.size > unknownMax && oldest !== undefined) this.#unknown.delete(oldest);
      return;
    }
    this.#entries.set(name, { value, untilMs, isUsed: false });
    if (this.#entries.size > entriesMax) this.#evict();
  }

  /** The oldest that was not used since it was passed over; at most one round. */
  #evict(): void {
    for (const [name, entry] of this.#entries) {
      this.#entries.delete(name);
      if (!entry.isUsed) return;
      entry.isUsed = false;
      this.#entries.set(name, entry);
    }
  }
}

export interface CredentialCache {
  /** Counts what was told of keys and accounts: with another count what was read may be old. */
  readonly changes: number;
  /** The active key of a token, or null. Immediate when cached. */
  key(token: string, nowMs: number): KeyCredential | null | Promise<KeyCredential | null>;
  session(
    token: string,
    nowMs: number,
  ): SessionCredential | null | Promise<SessionCredential | null>;
  /** Remembers that a key was used; written in batches. */
  used(keyId: string, nowMs: number): void;
  close(): void;
}

export function createCredentialCache(sql: Sql, bus: Bus, limiter: Limiter): CredentialCache {
  const keys = new LookupCache<KeyCredential>(isKeyToken, async (hash) => {
    const row = await findKeyByHash(sql, hash);
    if (row === null || row.status !== 'active' || row.accountDisabled) return null;
    return {
      keyId: row.id,
      accountId: row.accountId,
      walletId: row.walletId,
      scopes: new Set(row.scopes),
      requestsPerMinute: row.requestsPerMinute,
      concurrencyMax: row.concurrencyMax,
      slot: limiter.slotOf(row.id, Date.now()),
    };
  });
  const sessions = new LookupCache<SessionCredential>(isSessionToken, async (hash) => {
    const row = await findSession(sql, hash);
    if (row === null || row.disabled) return null;
    const { accountId, walletId } = row;
    const admin = row.role === 'admin';
    return { accountId, walletId, admin, expiresAtMs: row.expiresAt.getTime() };
  });
  let changes = 0;
  bus.subscribe(credentialTopic, () => {
    changes += 1;
    keys.clear();
    sessions.clear();
  });
  const usedKeys = new Map<string, Date>();
  const timer = setInterval(() => {
    if (usedKeys.size === 0) return;
    const uses = [...usedKeys].map(([keyId, usedAt]) => ({ keyId, usedAt }));
    usedKeys.clear();
    // A lost `last_used_at` is harmless; the database's absence is reported where it matters.
    void touchKeys(sql, uses).catch(() => {});
  }, touchPeriodMs);
  timer.unref();
  return {
    get changes() {
      return changes;
    },
    key: (token, nowMs) => keys.get(token, nowMs),
    session: (token, nowMs) => sessions.get(token, nowMs),
    used: (keyId, nowMs) => {
      usedKeys.set(keyId, new Date(nowMs));
    },
    close: () => clearInterval(timer),
  };
}
