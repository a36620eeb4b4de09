// Reversals against a plain model of single coins, over random operations and their repetitions, in
// batches of any size. No database: `reversal-books.test.ts` has that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLegs, openWallet, takeWrite, type Wallet } from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import {
  grant,
  hold,
  type Known,
  nothingKnown,
  operation,
  release,
  settle,
} from '../../../actors/wallet/ledger.ts';
import { collect, restore, reverse } from '../../../actors/wallet/reversal.ts';
import type { PostedStep, PurchaseChange } from '../../../db/ledger/purchases.ts';
import { fc } from '../../harness/properties.ts';
import { testSeed } from '../../harness/seed.ts';
import { holdOf } from './bank.ts';

type Step =
  | { do: 'pay' | 'promote' | 'hold'; amount: number; which: number }
  | { do: 'settle' | 'reverse' | 'restore'; amount: number; which: number }
  | { do: 'release' | 'repeat'; which: number }
  | { do: 'collect' | 'write' };

const amount = fc.integer({ min: 1, max: 40 });
const which = fc.nat(20);
const sized = (
  weight: number,
  ...names: ('pay' | 'promote' | 'hold' | 'settle' | 'reverse' | 'restore')[]
) => ({
  weight,
  arbitrary: fc.record({ do: fc.constantFrom(...names), amount, which }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  sized(12, 'pay', 'hold', 'reverse'),
  sized(9, 'promote', 'settle', 'restore'),
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'repeat' as const), which }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('collect' as const, 'write' as const) }),
  },
);

/** One microcredit, of the grant it came with; held by whoever, or free. */
interface Coin {
  grant: ModelGrant;
  holder: string | null;
}

interface ModelGrant {
  operationId: string;
  /** Null: a promotion. */
  purchaseId: string | null;
  number: number;
}

interface ModelPurchase {
  id: string;
  paid: boolean;
  steps: number;
  reversed: number;
  debt: number;
}

/** The obvious way: coins are moved one by one. */
class Model {
  coins: Coin[] = [];
  grants = 0;
  readonly purchases = new Map<string, ModelPurchase>();
  housePaid = 0;

  purchase(id: string): ModelPurchase {
    const known = this.purchases.get(id) ?? { id, paid: false, steps: 0, reversed: 0, debt: 0 };
    this.purchases.set(id, known);
    return known;
  }

  add(operationId: string, purchaseId: string | null, count: number): void {
    this.grants += 1;
    const made = { operationId, purchaseId, number: this.grants };
    for (let coin = 0; coin < count; coin += 1) this.coins.push({ grant: made, holder: null });
  }

  /** Coins of a hold, or free ones: promotions before what was bought, the oldest first. */
  of(holdId: string | null): Coin[] {
    const rank = ({ grant: { purchaseId, number } }: Coin) =>
      (purchaseId === null ? 0 : 1_000) + number;
    return this.coins.filter(({ holder }) => holder === holdId).sort((a, b) => rank(a) - rank(b));
  }

  free(): Coin[] {
    return this.of(null);
  }

  /** The first of these leave the wallet; how many there were. */
  take(candidates: readonly Coin[], count: number): number {
    const gone = new Set(candidates.slice(0, count));
    this.coins = this.coins.filter((coin) => !gone.has(coin));
    return gone.size;
  }

  /** Free coins in the order in which a reversal of the purchase takes them. */
  inTurn(purchaseId: string): Coin[] {
    const rank = (coin: Coin) => {
      if (coin.grant.purchaseId === null) return 2;
      return coin.grant.purchaseId === purchaseId ? 0 : 1;
    };
    return this.free().sort((a, b) => rank(a) - rank(b) || b.grant.number - a.grant.number);
  }

  payDebt(count: number, own: string | null): number {
    let left = count;
    const byAge = [...this.purchases.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const first = byAge.filter(({ id }) => id === own);
    for (const purchase of [...first, ...byAge]) {
      while (left > 0 && purchase.debt > 0) {
        purchase.debt -= 1;
        left -= 1;
      }
    }
    return count - left;
  }

  debt(): number {
    return [...this.purchases.values()].reduce((sum, { debt }) => sum + debt, 0);
  }
}

/** What the statement would have made of the tables. */
interface Tables {
  purchases: Map<string, { credited: number; reversed: bigint; debt: bigint }>;
  posted: Set<string>;
}

interface World {
  model: Model;
  wallet: Wallet;
  known: Known;
  tables: Tables;
  holdIds: string[];
  /** Repeats an operation; its answer has to be the first one. */
  done: (() => void)[];
  nowMs: number;
  collections: number;
}

function newWorld(): World {
  const row = { id: 'wal', version: 0n, balances: noLegs(), grants: [], debts: [], holds: [] };
  return {
    model: new Model(),
    wallet: openWallet(row, 1n, holders),
    known: nothingKnown(),
    tables: { purchases: new Map(), posted: new Set() },
    holdIds: [],
    done: [],
    nowMs: 1_000,
    collections: 0,
  };
}

/** Does it, and keeps it for being done again. */
function once<R>(world: World, perform: () => R): R {
  const first = perform();
  world.done.push(() => assert.deepEqual(perform(), first));
  return first;
}

function apply(world: World, step: Step): void {
  const { model } = world;
  world.nowMs += 1;
  switch (step.do) {
    case 'pay':
      pay(world, step.amount, step.which);
      return;
    case 'promote': {
      const operationId = `promo_${model.grants}`;
      const request = { operationId, kind: 'promotion' as const, expiresAtMs: null, note: '' };
      const amountMicros = BigInt(step.amount);
      grant(world.wallet, { ...request, amountMicros }, world.known, world.nowMs);
      model.add(operationId, null, step.amount);
      return;
    }
    case 'hold':
      take(world, step.amount);
      return;
    case 'settle':
      charge(world, step.amount, step.which);
      return;
    case 'release':
      giveBack(world, step.which);
      return;
    case 'reverse':
      takeBack(world, step.amount, step.which);
      return;
    case 'restore':
      giveAgain(world, step.amount, step.which);
      return;
    case 'collect':
      collectAll(world);
      return;
    case 'write':
      write(world);
      return;
    case 'repeat':
      world.done[step.which % Math.max(1, world.done.length)]?.();
  }
}

function pay(world: World, amount: number, which: number): void {
  const { model } = world;
  // Some were reversed before they were paid.
  const open = [...model.purchases.values()].filter(({ paid }) => !paid);
  const id = open[which % 3]?.id ?? `pur_${String(model.purchases.size).padStart(3, '0')}`;
  model.purchase(id).paid = true;
  const request = {
    operationId: operation.paid(id),
    kind: 'purchase' as const,
    amountMicros: BigInt(amount),
    expiresAtMs: null,
    note: '',
    owner: { kind: 'purchase' as const, id },
  };
  const { wallet, known, nowMs } = world;
  assert.equal(grant(wallet, request, known, nowMs).status, 'granted');
  world.done.push(() => assert.equal(grant(wallet, request, known, nowMs).status, 'granted'));
  model.add(request.operationId, id, amount - model.payDebt(amount, id));
}

function take(world: World, amount: number): void {
  const { model } = world;
  const request = { ...holdOf(BigInt(amount)), holdId: `hold_${world.nowMs}` };
  const free = model.free();
  const reply = hold(world.wallet, request, world.known);
  assert.equal(reply.status, free.length < amount ? 'insufficient' : 'held');
  if (reply.status !== 'held') return;
  world.holdIds.push(request.holdId);
  for (const coin of free.slice(0, amount)) coin.holder = request.holdId;
}

function charge(world: World, amount: number, which: number): void {
  const [holdId] = world.holdIds.splice(which % Math.max(1, world.holdIds.length), 1);
  if (holdId === undefined) return;
  const { model } = world;
  const request = { holdId, chargeMicros: BigInt(amount), providerCostMicros: 0n, finish: null };
  const reply = once(world, () => settle(world.wallet, request, world.known));
  let paid = model.take(model.of(holdId), amount);
  for (const coin of model.of(holdId)) coin.holder = null;
  if (paid < amount) paid += model.take(model.free(), amount - paid);
  model.housePaid += amount - paid;
  assert.equal(reply.status, 'settled');
}

function giveBack(world: World, which: number): void {
  const [holdId] = world.holdIds.splice(which % Math.max(1, world.holdIds.length), 1);
  if (holdId === undefined) return;
  for (const coin of world.model.of(holdId)) coin.holder = null;
  release(world.wallet, { holdId, reason: 'failed', finish: null }, world.nowMs);
}

function takeBack(world: World, amount: number, which: number): void {
  const { model, wallet, known } = world;
  const id = `pur_${String(which % (model.purchases.size + 1)).padStart(3, '0')}`;
  const purchase = model.purchase(id);
  purchase.steps += 1;
  const request = { purchaseId: id, step: purchase.steps, amountMicros: BigInt(amount) };
  const reply = once(world, () => reverse(wallet, request, known));
  const taken = model.take(model.inTurn(id), amount);
  purchase.reversed += amount;
  purchase.debt += amount - taken;
  const debtMicros = BigInt(amount - taken);
  assert.deepEqual(reply, { status: 'reversed', takenMicros: BigInt(taken), debtMicros });
}

function giveAgain(world: World, most: number, which: number): void {
  const { model, wallet, known, nowMs } = world;
  const reversed = [...model.purchases.values()].filter((purchase) => purchase.reversed > 0);
  const purchase = reversed[which % Math.max(1, reversed.length)];
  if (purchase === undefined) return;
  const { id } = purchase;
  const amount = Math.min(most, purchase.reversed);
  purchase.steps += 1;
  const request = { purchaseId: id, step: purchase.steps, amountMicros: BigInt(amount) };
  const reply = once(world, () => restore(wallet, request, known, nowMs));
  const recovered = model.payDebt(amount, id);
  purchase.reversed -= amount;
  assert.deepEqual(reply, { status: 'restored', recoveredMicros: BigInt(recovered) });
  model.add(`${id}.rev.${request.step}`, id, amount - recovered);
}

function collectAll(world: World): void {
  const { model, wallet, known } = world;
  world.collections += 1;
  const request = { operationId: `collect_${world.collections}` };
  const bought = model.inTurn('').filter(({ grant: { purchaseId } }) => purchaseId !== null);
  const paid = model.payDebt(Math.min(bought.length, model.debt()), null);
  model.take(bought, paid);
  const perform = () => collect(wallet, request, known);
  // Nothing leaves no entry: a later one of the same id may find something.
  const reply = paid > 0 ? once(world, perform) : perform();
  assert.deepEqual(reply, { status: 'collected', collectedMicros: BigInt(paid) });
}

/** What the statement does. */
function write({ wallet, known, tables }: World): void {
  const write = takeWrite(wallet);
  if (write === null) return;
  for (const entry of write.entries) {
    assert.ok(!known.entries.has(entry.operationId), 'the journal has an operation once');
    known.entries.set(entry.operationId, entry);
  }
  const changes = (write.owned.purchases ?? []) as PurchaseChange[];
  assert.equal(new Set(changes.map(({ id }) => id)).size, changes.length, 'one row a purchase');
  for (const change of changes) {
    const row = tables.purchases.get(change.id) ?? { credited: 0, reversed: 0n, debt: 0n };
    row.credited += change.isCredited ? 1 : 0;
    row.reversed += change.reversedMicros;
    row.debt += change.debtMicros;
    tables.purchases.set(change.id, row);
  }
  for (const { purchaseId, step } of (write.owned.purchase_steps ?? []) as PostedStep[]) {
    assert.ok(!tables.posted.has(`${purchaseId} ${step}`), 'a step is posted once');
    tables.posted.add(`${purchaseId} ${step}`);
  }
}

function assertAlike({ model, wallet }: World): void {
  const { balances } = wallet;
  const sum = Object.values(balances).reduce((total, micros) => total + micros, 0n);
  assert.equal(sum, 0n);
  const held = model.coins.filter(({ holder }) => holder !== null).length;
  assert.equal(balances.heldMicros, BigInt(held));
  assert.equal(balances.walletMicros, BigInt(model.coins.length - held));
  assert.equal(balances.shortfallMicros, -BigInt(model.debt() + model.housePaid));
  const left = new Map<string, number>();
  for (const {
    grant: { operationId },
  } of model.coins) {
    left.set(operationId, (left.get(operationId) ?? 0) + 1);
  }
  const grants = wallet.grants.map((each) => [each.operationId, Number(each.remainingMicros)]);
  assert.deepEqual(new Map(grants as [string, number][]), left);
  const debts = wallet.debts.map(({ purchaseId, micros }) => [purchaseId, Number(micros)]);
  const owed = [...model.purchases.values()].filter(({ debt }) => debt > 0);
  assert.deepEqual(
    new Map(debts as [string, number][]),
    new Map(owed.map(({ id, debt }) => [id, debt])),
  );
}

test('reversals, restorations and collections do what a plain model does', () => {
  console.log(`seed ${testSeed}`);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const world = newWorld();
      for (const each of steps) {
        apply(world, each);
        assertAlike(world);
      }
      for (const repeat of world.done) repeat();
      write(world);
      for (const repeat of world.done) repeat();
      assert.equal(takeWrite(world.wallet), null, 'repetitions change nothing');
      for (const purchase of world.model.purchases.values()) {
        const row = world.tables.purchases.get(purchase.id);
        assert.deepEqual(
          [row?.credited ?? 0, row?.reversed ?? 0n, row?.debt ?? 0n],
          [purchase.paid ? 1 : 0, BigInt(purchase.reversed), BigInt(purchase.debt)],
          purchase.id,
        );
      }
      const all = [...world.model.purchases.values()].map((each) => each.steps);
      assert.equal(
        world.tables.posted.size,
        all.reduce((sum, count) => sum + count, 0),
      );
    }),
    { numRuns: 600 },
  );
});
