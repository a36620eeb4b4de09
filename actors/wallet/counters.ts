// What spenders of a wallet spend and hold against their caps, in memory. Pure. A hold counts
// towards the period of its id, and so does all that it leads to. A wallet without a cap has none
// of this, and writes none of it.
import assert from 'node:assert/strict';
import { periodAt, type SpendPeriod } from '../../db/spend/period.ts';
import type { CapRow, CounterRows, SpendRow } from '../../db/spend/rows.ts';
import { timeOfId } from '../../runtime/ids.ts';
import { TransientMap } from '../../runtime/transient.ts';
import type { OwnedChanges } from './holder.ts';
import type { SpendCap } from './protocol.ts';

export interface Counters {
  readonly caps: ReadonlyMap<string, CapRow>;
  /** Rows by `nameOf`, never changed in place: a write that is on its way has them, too. */
  readonly spend: TransientMap<string, SpendRow>;
  /** The keys of active holds. */
  readonly spenders: TransientMap<string, string>;
  /** Counters of periods that were over then, and held nothing, were not read. */
  readonly readFromMs: number;
}

/** One counter that a hold of this wallet would count towards. */
export interface Count {
  cap: CapRow;
  counter: SpendRow;
}

/** What the tightest cap leaves, and which one that is. */
export interface Tightest extends SpendCap {
  leftMicros: bigint;
}

/** As they were read with the wallet; null: it does not count. */
export function openCounters(rows: CounterRows | null): Counters | null {
  if (rows === null) return null;
  return {
    caps: new Map(rows.caps.map((cap) => [cap.spender, cap])),
    spend: new TransientMap(rows.spend.map((row) => [nameOf(row), row])),
    spenders: new TransientMap(rows.spenders),
    readFromMs: rows.readFromMs,
  };
}

function nameOf(of: { spender: string; period: SpendPeriod; startsMs: number }): string {
  return `${of.spender} ${of.period} ${of.startsMs}`;
}

/** What counts for a key, at the time of this hold: nothing without a cap. */
export function countsOf(
  counters: Counters | null,
  spender: string | null | undefined,
  holdId: string,
): Count[] {
  return countsAt(counters, spender, () => timeOfId(holdId));
}

export function countsAt(
  counters: Counters | null,
  spender: string | null | undefined,
  timeMs: () => number,
): Count[] {
  if (counters === null || spender === null || spender === undefined) return [];
  const cap = counters.caps.get(spender);
  if (cap === undefined) return [];
  const { period } = cap;
  const { startsMs, endsMs } = periodAt(period, timeMs());
  assert.ok(Number.isSafeInteger(startsMs), 'an id has its time in it');
  const head = { spender, period, startsMs, endsMs };
  const known = counters.spend.get(nameOf(head));
  // A period of long ago was not read: it may be used up.
  const isUnknown = known === undefined && endsMs !== null && endsMs <= counters.readFromMs;
  if (isUnknown) return [{ cap: { ...cap, capMicros: 0n }, counter: { ...head, ...nothing } }];
  return [{ cap, counter: known ?? { ...head, ...nothing } }];
}

const nothing = { spentMicros: 0n, heldMicros: 0n };

/** The same for an active hold. */
export function countsOfHold(counters: Counters | null, holdId: string): Count[] {
  return countsOf(counters, counters?.spenders.get(holdId), holdId);
}

/** Null: none of them has a cap. */
export function tightestOf(counts: readonly Count[]): Tightest | null {
  let tightest: Tightest | null = null;
  for (const { cap, counter } of counts) {
    if (cap.capMicros === null) continue;
    const left = cap.capMicros - counter.spentMicros - counter.heldMicros;
    const leftMicros = left > 0n ? left : 0n;
    if (tightest !== null && tightest.leftMicros <= leftMicros) continue;
    tightest = { spender: cap.spender, resetsAtMs: counter.endsMs, leftMicros };
  }
  return tightest;
}

/** Moves what is counted: by a hold, its extension, its end. */
export function move(
  counters: Counters | null,
  changes: OwnedChanges,
  counts: readonly Count[],
  { spentMicros = 0n, heldMicros = 0n }: { spentMicros?: bigint; heldMicros?: bigint },
): void {
  if (counters === null || (spentMicros === 0n && heldMicros === 0n)) return;
  for (const { counter } of counts) {
    const name = nameOf(counter);
    const now = counters.spend.get(name) ?? counter;
    const moved: SpendRow = {
      spender: now.spender,
      period: now.period,
      startsMs: now.startsMs,
      endsMs: now.endsMs,
      spentMicros: now.spentMicros + spentMicros,
      heldMicros: now.heldMicros + heldMicros,
    };
    assert.ok(moved.spentMicros >= 0n && moved.heldMicros >= 0n, 'a counter is never negative');
    counters.spend.set(name, moved);
    changes.set('counters', name, moved);
  }
}
