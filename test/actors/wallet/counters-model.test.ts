// Counters of spenders against a plain model, over random operations. What memory has, what it
// writes and what is read again are what the model says. No database.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCounters } from '../../../actors/wallet/counters.ts';
import { noLegs, openWallet, takeWrite, type Wallet } from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import {
  extend,
  grant,
  hold,
  nothingKnown,
  reduce,
  release,
  settle,
} from '../../../actors/wallet/ledger.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { ownedRows } from '../../../db/ledger/write.ts';
import { periodAt } from '../../../db/spend/period.ts';
import type { CapRow, SpendRow } from '../../../db/spend/rows.ts';
import { fc } from '../../harness/properties.ts';
import { keyHold, settlement } from './limited-keys.ts';

const dayMs = 86_400_000;
const startMs = Date.UTC(2027, 0, 30);
const funds = 120;
const keys = ['key_total', 'key_day', 'key_month', 'key_free'] as const;
const caps: CapRow[] = [
  { spender: 'key_total', period: 'total', capMicros: 60n },
  { spender: 'key_day', period: 'day', capMicros: 30n },
  { spender: 'key_month', period: 'month', capMicros: 45n },
];

type Step =
  | { do: 'hold'; key: number; day: number; amount: number }
  | { do: 'extend'; which: number; amount: number; minimum: number }
  | { do: 'reduce'; which: number; keep: number }
  | { do: 'settle'; which: number; charge: number }
  | { do: 'release'; which: number; reason: 'failed' | 'expired' | 'recovered' }
  | { do: 'read' };

const which = fc.nat(20);
const amount = fc.integer({ min: 0, max: 25 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      key: fc.nat(keys.length - 1),
      // The last days of one month and the first ones of the next.
      day: fc.nat(4),
      amount,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('extend' as const), which, amount, minimum: amount }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reduce' as const), which, keep: amount }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), which, charge: amount }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      which,
      reason: fc.constantFrom('failed', 'expired', 'recovered'),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'read' as const }) },
);

interface ModelHold {
  request: HoldRequest;
  counter: string | null;
  cap: number;
  held: number;
  step: number;
  state: 'active' | 'expired' | 'recovered' | 'over';
}

/** Everything is added up anew, from what each hold had and was charged. */
interface World {
  wallet: Wallet;
  /** The tables. */
  spend: Map<string, SpendRow>;
  holds: ModelHold[];
  free: number;
  spent: Map<string, number>;
}

function newWorld(): World {
  const row = {
    id: 'wal_model',
    version: 0n,
    balances: noLegs(),
    grants: [],
    debts: [],
    holds: [],
  };
  const counters = { caps, spend: [], spenders: new Map(), readFromMs: 0 };
  const wallet = openWallet({ ...row, counters }, 1n, holders);
  const all = { operationId: 'all', kind: 'purchase' as const, expiresAtMs: null, note: '' };
  grant(wallet, { ...all, amountMicros: BigInt(funds) }, nothingKnown(), startMs);
  takeWrite(wallet);
  return {
    wallet,
    spend: new Map(),
    holds: [],
    free: funds,
    spent: new Map(),
  };
}

function left(world: World, of: Pick<ModelHold, 'counter' | 'cap'>): number {
  if (of.counter === null) return Number.MAX_SAFE_INTEGER;
  const held = world.holds
    .filter(({ counter }) => counter === of.counter)
    .reduce((sum, each) => sum + each.held, 0);
  return of.cap - (world.spent.get(of.counter) ?? 0) - held;
}

function applyHold(world: World, { key, day, amount: asked }: Step & { do: 'hold' }): void {
  const name = keys[key] ?? 'key_free';
  const atMs = startMs + day * dayMs;
  const request = keyHold(name, asked, atMs);
  const capped = caps.find(({ spender }) => spender === name);
  const counter = capped === undefined ? null : `${name} ${periodAt(capped.period, atMs).startsMs}`;
  const cap = Number(capped?.capMicros ?? 0n);
  const mayHave = Math.min(world.free, left(world, { counter, cap }));
  const reply = hold(world.wallet, request, nothingKnown());
  if (asked > mayHave) {
    const isLimited = asked > left(world, { counter, cap });
    assert.equal(reply.status, isLimited ? 'over_limit' : 'insufficient');
    return;
  }
  assert.equal(reply.status, 'held');
  world.free -= asked;
  world.holds.push({ request, counter, cap, held: asked, step: 0, state: 'active' });
}

function applyExtend(world: World, own: ModelHold, asked: number, minimum: number): void {
  const { holdId, expiresAtMs } = own.request;
  const most = Math.max(asked, minimum);
  const mayHave = Math.min(world.free, left(world, own));
  own.step += 1;
  const request = { holdId, step: own.step, expiresAtMs, minimumMicros: BigInt(minimum) };
  const reply = extend(world.wallet, { ...request, amountMicros: BigInt(most) }, nothingKnown());
  if (own.state !== 'active') {
    assert.equal(reply.status, 'hold_not_active');
    return;
  }
  if (minimum > mayHave) {
    own.step -= 1;
    assert.deepEqual(reply, { status: 'insufficient', availableMicros: BigInt(mayHave) });
    return;
  }
  const added = Math.min(most, mayHave);
  assert.deepEqual(reply, { status: 'extended', addedMicros: BigInt(added) });
  own.held += added;
  world.free -= added;
}

function applyReduce(world: World, own: ModelHold, keep: number): void {
  if (own.state !== 'active' || keep >= own.held) return;
  own.step += 1;
  const checkpoint = { id: own.request.owner.id, dueMicros: 0n, dueProviderMicros: 0n };
  const { holdId } = own.request;
  reduce(world.wallet, { holdId, step: own.step, keepMicros: BigInt(keep), checkpoint });
  world.free += own.held - keep;
  own.held = keep;
}

function applySettle(world: World, own: ModelHold, charge: number): void {
  if (own.state === 'over') return;
  const beyond = Math.max(0, charge - own.held);
  const over = Math.min(beyond, world.free, left(world, own));
  const reply = settle(world.wallet, settlement(own.request, charge), nothingKnown());
  const shortfall = beyond - over;
  assert.deepEqual(reply, {
    status: 'settled',
    chargedMicros: BigInt(charge),
    shortfallMicros: BigInt(shortfall),
  });
  world.free += own.held - Math.min(charge, own.held) - over;
  const { counter } = own;
  if (counter !== null) {
    world.spent.set(counter, (world.spent.get(counter) ?? 0) + charge - shortfall);
  }
  own.held = 0;
  own.state = 'over';
}

function applyRelease(world: World, own: ModelHold, reason: 'failed' | 'expired' | 'recovered') {
  if (own.state !== 'active') return;
  const { holdId } = own.request;
  release(world.wallet, { holdId, reason, finish: null }, Number.MAX_SAFE_INTEGER);
  world.free += own.held;
  own.held = 0;
  own.state = reason === 'failed' ? 'over' : reason;
}

/** Writes what changed into the tables, as the statement does. */
function write(world: World): void {
  const made = takeWrite(world.wallet);
  if (made === null) return;
  for (const row of ownedRows<SpendRow>(made, 'counters')) {
    world.spend.set(`${row.spender} ${row.startsMs}`, row);
  }
}

function assertSame(world: World): void {
  const { wallet, holds, spend, spent } = world;
  assert.equal(wallet.balances.walletMicros, BigInt(world.free), 'available');
  for (const [name, row] of spend) {
    const own = holds.filter(({ counter }) => counter === name);
    const held = own.reduce((sum, each) => sum + each.held, 0);
    assert.equal(row.heldMicros, BigInt(held), `${name}: held`);
    assert.equal(row.spentMicros, BigInt(spent.get(name) ?? 0), `${name}: spent`);
    const cap = caps.find(({ spender }) => spender === row.spender)?.capMicros;
    assert.ok(row.spentMicros + row.heldMicros <= (cap ?? 0n), `${name}: within its cap`);
  }
}

function apply(world: World, each: Step): void {
  if (each.do === 'hold') {
    applyHold(world, each);
    return;
  }
  if (each.do === 'read') {
    const spend = [...world.spend.values()];
    const active = world.holds.filter(({ state }) => state === 'active' || state === 'expired');
    const spenders = new Map(
      active.map(({ request }) => {
        const { accountId = '', apiKeyId = null } = request.claim ?? {};
        return [request.holdId, { accountId, apiKeyId }] as const;
      }),
    );
    const read = { caps, spend, spenders, readFromMs: 0 };
    world.wallet = { ...world.wallet, counters: openCounters('wal_model', read) };
    return;
  }
  const own = world.holds[each.which % Math.max(1, world.holds.length)];
  if (own === undefined) return;
  switch (each.do) {
    case 'extend':
      applyExtend(world, own, each.amount, each.minimum);
      return;
    case 'reduce':
      applyReduce(world, own, each.keep);
      return;
    case 'settle':
      applySettle(world, own, each.charge);
      return;
    case 'release':
      applyRelease(world, own, each.reason);
  }
}

test('any run of operations leaves counters as a plain model says', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 50 }), (steps) => {
      const world = newWorld();
      for (const each of steps) {
        apply(world, each);
        write(world);
        assertSame(world);
      }
    }),
    // fast-check prints seed and path of a failure.
    { numRuns: 1_500 },
  );
});

test('a batch that makes and ends holds writes what is left of them', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 30 }), (steps) => {
      const world = newWorld();
      // What is read anew would not have what is not written.
      for (const each of steps) if (each.do !== 'read') apply(world, each);
      write(world);
      assertSame(world);
    }),
    { numRuns: 1_500 },
  );
});

test('periods begin at midnight, on Mondays, on the first of a month, in UTC', () => {
  const at = (text: string) => Date.parse(`${text}Z`);
  const cases = [
    ['day', '2026-11-27T00:00:00', '2026-11-27', '2026-11-28'],
    ['day', '2024-02-28T23:59:59.999', '2024-02-28', '2024-02-29'],
    ['week', '2026-11-29T23:59:59.999', '2026-11-23', '2026-11-30'],
    ['week', '2026-11-30T00:00:00', '2026-11-30', '2026-12-07'],
    ['week', '1970-01-01T00:00:00', '1969-12-29', '1970-01-05'],
    ['month', '2026-12-31T23:59:59.999', '2026-12-01', '2027-01-01'],
    ['month', '2028-02-29T12:00:00', '2028-02-01', '2028-03-01'],
  ] as const;
  for (const [kind, moment, starts, ends] of cases) {
    const expected = { startsMs: at(`${starts}T00:00`), endsMs: at(`${ends}T00:00`) };
    assert.deepEqual(periodAt(kind, at(moment)), expected, `${kind} of ${moment}`);
  }
  assert.deepEqual(periodAt('total', Date.now()), { startsMs: 0, endsMs: null });
});

test('what is settled of a period that was not read takes nothing of who has a cap', () => {
  const world = newWorld();
  const counters = openCounters('wal_model', {
    caps,
    spend: [],
    spenders: new Map(),
    readFromMs: startMs + 2 * dayMs,
  });
  const wallet: Wallet = { ...world.wallet, counters };
  const old = keyHold('key_day', 5, startMs);
  assert.equal(hold(wallet, old, nothingKnown()).status, 'over_limit');
  const known = nothingKnown();
  const legs = noLegs();
  const id = `${old.holdId}.end`;
  known.entries.set(id, { operationId: id, kind: 'release', reason: 'recovered', legs });
  const settled = settle(wallet, settlement(old, 5), known);
  assert.deepEqual(settled, { status: 'settled', chargedMicros: 5n, shortfallMicros: 5n });
  const made = takeWrite(wallet);
  assert.ok(made !== null && ownedRows(made, 'counters').length === 0);
});
