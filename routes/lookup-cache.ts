// Lookups by token in a bounded cache in front of the database. A change forgets what it concerns
// and nothing else: a sign-out costs no key a query.
import { credentialLimits } from '../actors/credentials/limits.ts';
import { tokenHash, tokenHashText } from '../actors/credentials/token.ts';
import { withDeadline } from '../db/driver/sql.ts';

const { entriesMax, unknownMax, ttlMs, readsMax, changesMax } = credentialLimits;

interface Entry<T> {
  value: T;
  untilMs: number;
  /** Set by a hit, which costs less than moving it in a list. */
  isUsed: boolean;
}

/** No longer than what was read just now: since then the clock may have been set back. */
function isFresh(untilMs: number, nowMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + ttlMs;
}

interface Change {
  ids: readonly string[];
  isWithdrawn: boolean;
}

/** The last changes that were told: what was read before one may be older than it. */
export class ChangeLog {
  readonly #recent: Change[] = [];
  #count = 0;

  /** How many there were: the mark of this moment. */
  get mark(): number {
    return this.#count;
  }

  add(ids: readonly string[], isWithdrawn: boolean): void {
    this.#count += 1;
    this.#recent.push({ ids, isWithdrawn });
    if (this.#recent.length > changesMax) this.#recent.shift();
  }

  /** Whether one of these ids, or more than is remembered, has changed since the mark. */
  concerns(ids: readonly string[], mark: number): boolean {
    return this.#since(mark, (change) => change.ids.some((id) => ids.includes(id)));
  }

  /** Whether something may have become good again since the mark. */
  revived(mark: number): boolean {
    return this.#since(mark, (change) => !change.isWithdrawn);
  }

  #since(mark: number, test: (change: Change) => boolean): boolean {
    const missed = this.#count - mark;
    if (missed === 0) return false;
    return missed > this.#recent.length || this.#recent.slice(-missed).some(test);
  }
}

/**
 * A lookup with a bound, a lifetime and one query per token at a time. What is unknown has a small
 * bound of its own: guesses push out guesses, never who is known.
 */
export class LookupCache<T> {
  readonly #isWellFormed: (token: string) => boolean;
  readonly #find: (hash: Buffer, token: string) => Promise<T | null>;
  readonly #idsOf: (value: T) => readonly string[];
  readonly #log: ChangeLog;
  readonly #entries = new Map<string, Entry<T>>();
  /** The names of entries by each id that they depend on. */
  readonly #byId = new Map<string, Set<string>>();
  /** Until when a token counts as unknown. */
  readonly #unknown = new Map<string, number>();
  readonly #pending = new Map<string, Promise<T | null>>();

  constructor(
    isWellFormed: (token: string) => boolean,
    find: (hash: Buffer, token: string) => Promise<T | null>,
    idsOf: (value: T) => readonly string[],
    log: ChangeLog,
  ) {
    this.#isWellFormed = isWellFormed;
    this.#find = find;
    this.#idsOf = idsOf;
    this.#log = log;
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
    return this.#pending.get(name) ?? this.#load(name, token, nowMs);
  }

  /** Forgets what depends on one of the ids; the log has the change already. */
  forget(ids: readonly string[], isWithdrawn: boolean): void {
    for (const id of ids) {
      for (const name of this.#byId.get(id) ?? []) this.#remove(name);
    }
    // A credential that was refused has no ids here: it may be good again.
    if (!isWithdrawn) this.#unknown.clear();
    // Whoever asks from now on may not get what was asked for before.
    this.#pending.clear();
  }

  #load(name: string, token: string, nowMs: number, reads = 1): Promise<T | null> {
    const { mark } = this.#log;
    const pending: Promise<T | null> = withDeadline(this.#find(tokenHash(token), token))
      .then((value) => {
        if (!this.#mayBeOld(value, mark)) this.#keep(name, value, nowMs + ttlMs);
        else if (reads < readsMax) {
          // It may be older than the change, and what it admits, as a voice session, lasts minutes.
          const later = this.#pending.get(name);
          if (later !== undefined && later !== pending) return later;
          return this.#load(name, token, nowMs, reads + 1);
        }
        return value;
      })
      .finally(() => {
        if (this.#pending.get(name) === pending) this.#pending.delete(name);
      });
    this.#pending.set(name, pending);
    return pending;
  }

  #mayBeOld(value: T | null, mark: number): boolean {
    if (value === null) return this.#log.revived(mark);
    return this.#log.concerns(this.#idsOf(value), mark);
  }

  #keep(name: string, value: T | null, untilMs: number): void {
    this.#remove(name);
    this.#unknown.delete(name);
    if (value === null) {
      this.#unknown.set(name, untilMs);
      const [oldest] = this.#unknown.keys();
      if (this.#unknown.size > unknownMax && oldest !== undefined) this.#unknown.delete(oldest);
      return;
    }
    this.#entries.set(name, { value, untilMs, isUsed: false });
    for (const id of this.#idsOf(value)) {
      const names = this.#byId.get(id);
      if (names === undefined) this.#byId.set(id, new Set([name]));
      else names.add(name);
    }
    if (this.#entries.size > entriesMax) this.#evict();
  }

  #remove(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    for (const id of this.#idsOf(entry.value)) {
      const names = this.#byId.get(id);
      names?.delete(name);
      if (names?.size === 0) this.#byId.delete(id);
    }
  }

  /** The oldest that was not used since it was passed over; at most one round. */
  #evict(): void {
    for (const [name, entry] of this.#entries) {
      if (!entry.isUsed) {
        this.#remove(name);
        return;
      }
      entry.isUsed = false;
      this.#entries.delete(name);
      this.#entries.set(name, entry);
    }
  }
}
