// What facts take back of a purchase and give back to it, and debt that is taken when it can be.
// Pure decisions, as in `ledger.ts`; the README has the legs. What holds have is
// theirs: what one of them gives back later is free, and `collect` finds it.
import type { PostedStep } from '../../db/ledger/purchases.ts';
import type { EntryRow, GrantRow, Legs } from '../../db/wallets.ts';
import { addDebt, changeOf, openDebt, payDebt } from './debts.ts';
import { addGrant, lesser, newestFirst, post, takeFree, type Wallet } from './funds.ts';
import { balanceMicrosMax, entryOf, grantIdOf, type Known, operation } from './ledger.ts';
import type {
  CollectReply,
  CollectRequest,
  RestoreReply,
  RestoreRequest,
  ReverseReply,
  ReverseRequest,
} from './protocol.ts';

/** The operation that a request is. */
export function reversedAs(request: ReverseRequest | CollectRequest): string {
  if ('operationId' in request) return request.operationId;
  return operation.reversal(request.purchaseId, request.step);
}

/** Takes what is free of the purchase, of others, of promotions; what is missing is its debt. */
export function reverse(wallet: Wallet, request: ReverseRequest, known: Known): ReverseReply {
  const { purchaseId, amountMicros } = request;
  const operationId = reversedAs(request);
  const done = doneAs(wallet, operationId, known);
  if (done !== null) {
    const { walletMicros, shortfallMicros } = done.legs;
    return { status: 'reversed', takenMicros: -walletMicros, debtMicros: -shortfallMicros };
  }
  const takenMicros = takeFree(wallet, inTurn(wallet, purchaseId), amountMicros);
  const debtMicros = amountMicros - takenMicros;
  postReversal(wallet, operationId, 'reverse', {
    purchaseMicros: amountMicros,
    walletMicros: -takenMicros,
    shortfallMicros: -debtMicros,
  });
  addDebt(wallet, purchaseId, debtMicros);
  changeOf(wallet, purchaseId).reversedMicros += amountMicros;
  markPosted(wallet, request);
  return { status: 'reversed', takenMicros, debtMicros };
}

/** Gives back: first against debt, then as a grant of the same purchase. */
export function restore(
  wallet: Wallet,
  request: RestoreRequest,
  known: Known,
  nowMs: number,
): RestoreReply {
  const { purchaseId, amountMicros } = request;
  const operationId = reversedAs(request);
  const done = doneAs(wallet, operationId, known);
  if (done !== null) return { status: 'restored', recoveredMicros: done.legs.shortfallMicros };
  const { walletMicros, heldMicros } = wallet.balances;
  const givenMicros = amountMicros - lesser(amountMicros, openDebt(wallet));
  if (walletMicros + heldMicros + givenMicros > balanceMicrosMax) return { status: 'too_much' };
  const recoveredMicros = payDebt(wallet, amountMicros, purchaseId);
  postReversal(wallet, operationId, 'restore', {
    purchaseMicros: -amountMicros,
    shortfallMicros: recoveredMicros,
    walletMicros: givenMicros,
  });
  if (givenMicros > 0n) {
    addGrant(wallet, {
      id: grantIdOf(operationId),
      operationId,
      kind: 'purchase',
      note: `given back of ${purchaseId}`,
      amountMicros: givenMicros,
      remainingMicros: givenMicros,
      heldMicros: 0n,
      expiresAtMs: null,
      expired: false,
      createdAtMs: nowMs,
    });
  }
  changeOf(wallet, purchaseId).reversedMicros -= amountMicros;
  markPosted(wallet, request);
  return { status: 'restored', recoveredMicros };
}

/** Takes debt from what purchases have free, the newest first; promotions are not touched. */
export function collect(wallet: Wallet, request: CollectRequest, known: Known): CollectReply {
  const { operationId } = request;
  const done = doneAs(wallet, operationId, known);
  if (done !== null) return { status: 'collected', collectedMicros: done.legs.shortfallMicros };
  const collectedMicros = takeFree(wallet, newestFirst(wallet, 'purchase'), openDebt(wallet));
  // Nothing leaves no entry: each wallet with debt is asked every minute.
  if (collectedMicros > 0n) {
    postReversal(wallet, operationId, 'collect', {
      walletMicros: -collectedMicros,
      shortfallMicros: collectedMicros,
    });
    payDebt(wallet, collectedMicros, null);
  }
  return { status: 'collected', collectedMicros };
}

/** A reversal that is done: in the journal, in this batch, or in one that is on its way there. */
function doneAs(wallet: Wallet, operationId: string, known: Known): EntryRow | null {
  return entryOf(wallet, operationId, known) ?? wallet.reversals.get(operationId) ?? null;
}

/** Memory keeps it: what a purchase has reversed is not known here, so it is not decided twice. */
function postReversal(
  wallet: Wallet,
  operationId: string,
  kind: 'reverse' | 'restore' | 'collect',
  legs: Partial<Legs>,
): void {
  wallet.reversals.set(operationId, post(wallet, operationId, kind, legs));
}

/** Grants in the order in which a reversal of the purchase takes from them. */
function inTurn(wallet: Wallet, purchaseId: string): GrantRow[] {
  const bought = newestFirst(wallet, 'purchase');
  const isOwn = (grant: GrantRow) => operation.isOfPurchase(grant.operationId, purchaseId);
  return [
    ...bought.filter(isOwn),
    ...bought.filter((grant) => !isOwn(grant)),
    ...newestFirst(wallet, 'promotion'),
  ];
}

function markPosted(wallet: Wallet, request: ReverseRequest): void {
  const { purchaseId, step } = request;
  const posted: PostedStep = { purchaseId, step };
  wallet.changes.owned.set('purchase_steps', reversedAs(request), posted);
}
