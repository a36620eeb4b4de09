// What a domain is to its shard: the actors it brings, what of it runs, and how that ends. The
// shard knows no domain; it walks a list of these.
import type { AnyKind } from '../actor/contract.ts';

/** Ids of credentials and accounts that are good for nothing any more. */
export type Withdrawn = ReadonlySet<string>;

/** Rows of requests that outlive their exchange: whose they are is told by their route. */
export interface RequestRows {
  /** Canonical paths. */
  readonly routes: readonly string[];
  /** Ends a request on whichever node it runs, and waits for its end within bounds. */
  cancel(requestId: string): Promise<void>;
}

export interface Component {
  readonly name: string;
  /** In the order of the supervision tree. */
  readonly kinds: readonly AnyKind[];
  readonly rows: RequestRows | null;
  /** What runs on this shard and will want a settlement. */
  size(): number;
  /** Whether the owner of a hold runs here. */
  has(ownerId: string): boolean;
  /** What is kept of a drain for each that runs. */
  readonly settleMsEach: number;
  /** The shard takes nothing new: ends what would not end by itself. */
  drain(): void;
  /** Ends what runs, with what was used settled, within `leftMs`. */
  finish(leftMs: number): void;
  /** Clients are told; holds are left to reconciliation. */
  giveUp(): void;
  /** Ends what spends on, on behalf of a credential that was withdrawn. */
  withdraw(withdrawn: Withdrawn): void;
  /** Nothing runs any more: closes connections, threads and timers, by force after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

const nothing = () => undefined;

/** A component of which nothing runs by itself, with what is said otherwise. */
export function defineComponent(
  declared: Pick<Component, 'name' | 'kinds'> & Partial<Component>,
): Component {
  return {
    rows: null,
    size: () => 0,
    has: () => false,
    settleMsEach: 0,
    drain: nothing,
    finish: nothing,
    giveUp: nothing,
    withdraw: nothing,
    close: () => Promise.resolve(),
    ...declared,
  };
}
