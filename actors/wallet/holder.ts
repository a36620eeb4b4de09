// What a kind of owner does with its hold: how it begins and ends in the same write. It also says
// how its hold ends without it. Pure.
import assert from 'node:assert/strict';
import type { LeftHold } from '../../db/holds.ts';
import type { HolderRows } from '../../db/ledger/holder.ts';
import type { OwnedRows } from '../../db/ledger/write.ts';
import type { HoldRow } from '../../db/wallets.ts';
import type { Checkpoint, Claim, Finish, ReleaseRequest, SettleRequest } from './protocol.ts';

/** How an owner ends. */
export interface OwnerEnd {
  /** Null: its hold was gone before. */
  current: HoldRow | null;
  /** Null: nothing is charged. */
  chargeMicros: bigint | null;
  /** A settlement after a release. */
  late: boolean;
  /** Why the hold was released; null: it was settled. */
  reason: ReleaseRequest['reason'] | null;
}

/** What ends a hold without its owner. */
export type LoneEnd =
  | { message: 'settle'; request: SettleRequest }
  | { message: 'release'; request: ReleaseRequest };

/** One row of the table of holders. */
export interface Holder {
  /** Its kind, its parts of the ledger's statement, and what is read of it with a left hold. */
  readonly rows: HolderRows;
  /** Adds the row that its claim makes. */
  claim(changes: OwnedChanges, claim: Claim, hold: { holdId: string; instanceId: string }): void;
  /** Notes what it has used. Absent: nobody needs to know before it ends. */
  note?(changes: OwnedChanges, checkpoint: Checkpoint): void;
  /** Adds its end, at most once a write; `given` null: it ends without a word of its own. */
  finish(changes: OwnedChanges, id: string, given: Finish | null, end: OwnerEnd): void;
  /** How its hold ends without the process that it ran in. */
  endAlone(hold: LeftHold): LoneEnd;
}

/** Rows of holders' parts that the next write has, by part and by id: a write has a row once. */
export class OwnedChanges {
  readonly #parts = new Map<string, Map<string, object>>();

  set(part: string, id: string, row: object): void {
    const rows = this.#parts.get(part);
    if (rows === undefined) this.#parts.set(part, new Map([[id, row]]));
    else rows.set(id, row);
  }

  /** The row of an id; the caller knows its type, as it made the part. */
  get<R extends object>(part: string, id: string): R | undefined {
    return this.#parts.get(part)?.get(id) as R | undefined;
  }

  has(part: string, id: string): boolean {
    return this.#parts.get(part)?.has(id) === true;
  }

  delete(part: string, id: string): void {
    const rows = this.#parts.get(part);
    if (rows?.delete(id) === true && rows.size === 0) this.#parts.delete(part);
  }

  get isEmpty(): boolean {
    return this.#parts.size === 0;
  }

  /** The rows as a write has them. */
  rows(): OwnedRows {
    const owned: Record<string, readonly object[]> = {};
    for (const [part, rows] of this.#parts) owned[part] = [...rows.values()];
    return owned;
  }
}

/** Finds the holder of a kind; a kind that nobody declared is a bug. */
export interface Holders {
  readonly all: readonly Holder[];
  of(kind: string): Holder;
}

/** The table of holders. Throws where two have one kind. */
export function createHolders(all: readonly Holder[]): Holders {
  const byKind = new Map(all.map((holder) => [holder.rows.kind, holder]));
  assert.equal(byKind.size, all.length, 'a kind of holder is declared once');
  return {
    all,
    of(kind) {
      const holder = byKind.get(kind);
      assert.ok(holder !== undefined, `no holder of the kind ${kind} is declared`);
      return holder;
    },
  };
}
