// What spenders of a wallet spend and hold against their caps, in memory. Pure. A hold counts
// towards the period of its id, and so does all that it leads to. A wallet without a cap has none
// of this, and writes none of it.
import assert from 'node:assert/strict';
import { periodAt, type SpendPeriod } from '../../db/spend/period.ts';
import type { CounterRows, OrganizationFacts, Spender, SpendRow } from '../../db/spend/rows.ts';
import { timeOfId } from '../../runtime/ids.ts';
import { TransientMap } from '../../runtime/transient.ts';
import { type Cap, monthlyCaps } from './caps.ts';
import type { OwnedChanges } from './holder.ts';
import type { SpendCap } from './protocol.ts';

export interface Counters {
  readonly walletId: string;
  /** Caps of keys. */
  readonly caps: ReadonlyMap<string, Cap>;
  /** Null: the wallet is a person's. */
  readonly organization: OrganizationFacts | null;
  /** Rows by `nameOf`, never changed in place: a write that is on its way has them, too. */
  readonly spend: TransientMap<string, SpendRow>;
  /** For whom active holds are. */
  readonly spenders: TransientMap<string, Spender>;
  /** Counters of periods that were over then, and held nothing, were not read. */
  readonly readFromMs: number;
}

/** One counter that a hold of this wallet would count towards. */
export interface Count {
  cap: Cap;
  counter: SpendRow;
}

/** What the tightest cap leaves, and which one that is. */
export interface Tightest extends SpendCap {
  leftMicros: bigint;
}

/** As they were read with the wallet; null: it does not count. */
export function openCounters(walletId: string, rows: CounterRows | null): Counters | null {
  if (rows === null) return null;
  return {
    walletId,
    caps: new Map(rows.caps.map((cap) => [cap.spender, { ...cap, kind: 'key' }])),
    organization: rows.organization ?? null,
    spend: new TransientMap(rows.spend.map((row) => [nameOf(row), row])),
    spenders: new TransientMap(rows.spenders),
    readFromMs: rows.readFromMs,
  };
}

function nameOf(of: { spender: string; period: SpendPeriod; startsMs: number }): string {
  return `${of.spender} ${of.period} ${of.startsMs}`;
}

/** What counts for a spender, at the time of this hold. */
export function countsOf(
  counters: Counters | null,
  spender: Spender | null | undefined,
  holdId: string,
): Count[] {
  return countsAt(counters, spender, () => timeOfId(holdId));
}

export function countsAt(
  counters: Counters | null,
  spender: Spender | null | undefined,
  timeMs: () => number,
): Count[] {
  if (counters === null || spender === null || spender === undefined) return [];
  const caps = monthlyCaps(counters.walletId, counters.organization, spender);
  const ofKey = spender.apiKeyId === null ? undefined : counters.caps.get(spender.apiKeyId);
  if (ofKey !== undefined) caps.push(ofKey);
  if (caps.length === 0) return [];
  const atMs = timeMs();
  return caps.map((cap) => countOf(counters, cap, atMs));
}

function countOf(counters: Counters, cap: Cap, atMs: number): Count {
  const { spender, period } = cap;
  const { startsMs, endsMs } = periodAt(period, atMs);
  assert.ok(Number.isSafeInteger(startsMs), 'an id has its time in it');
  const head = { spender, period, startsMs, endsMs };
  const known = counters.spend.get(nameOf(head));
  // A period of long ago was not read: it may be used up.
  const isUnknown = known === undefined && endsMs !== null && endsMs <= counters.readFromMs;
  if (isUnknown) return { cap: { ...cap, capMicros: 0n }, counter: { ...head, ...nothing } };
  return { cap, counter: known ?? { ...head, ...nothing } };
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
    const { kind, spender } = cap;
    tightest = { kind, spender, resetsAtMs: counter.endsMs, leftMicros };
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
