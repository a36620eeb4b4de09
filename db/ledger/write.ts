// What one batch of one wallet changes, as the ledger's statement writes it.
import type { EntryRow, GrantRow, HoldRow, Legs } from '../wallets.ts';

/** Rows of parts that few writes have, by the name of the part. What is absent has none. */
export type OwnedRows = Readonly<Record<string, readonly object[]>>;

/** Everything that one batch of one wallet changes. */
export interface WalletWrite {
  walletId: string;
  /** The version it was decided on, and the one that it makes. */
  version: bigint;
  nextVersion: bigint;
  /** The balances afterwards. */
  balances: Legs;
  entries: EntryRow[];
  newHolds: HoldRow[];
  changedHolds: HoldRow[];
  endedHolds: string[];
  newGrants: GrantRow[];
  changedGrants: GrantRow[];
  /** What holds funds begins, notes and ends with its hold, in rows of its own; audit events. */
  owned: OwnedRows;
}

const noRows: OwnedRows = Object.freeze({});

/** A write that changes nothing but the version, and the balances where they are others. */
export function emptyWrite(
  head: Pick<WalletWrite, 'walletId' | 'version' | 'nextVersion' | 'balances'>,
): WalletWrite {
  return {
    ...head,
    entries: [],
    newHolds: [],
    changedHolds: [],
    endedHolds: [],
    newGrants: [],
    changedGrants: [],
    owned: noRows,
  };
}

/** The rows of such a part; the caller knows their type, as it made the part. */
export function ownedRows<R extends object>(write: WalletWrite, part: string): readonly R[] {
  return (write.owned[part] ?? []) as readonly R[];
}
