// What a write changes of purchases, and which of their steps it posts. Amounts are differences:
// only this statement changes them, so each is added once, with its entry of the journal.
import { lookedUp, ownedRow } from '../driver/lookup.ts';
import { definePart, type Part } from './part.ts';
import { ownedRows } from './write.ts';

/** All that one write changes of one purchase: a statement cannot change a row twice. */
export interface PurchaseChange {
  id: string;
  /** Its credits are granted with it. */
  isCredited: boolean;
  reversedMicros: bigint;
  debtMicros: bigint;
}

export interface PostedStep {
  purchaseId: string;
  step: number;
}

export const purchasesPart: Part = definePart<PurchaseChange>({
  name: 'purchases',
  rows: (write) => ownedRows(write, 'purchases'),
  columns: [
    ['id', 'text', (change) => change.id],
    ['credited', 'boolean', (change) => change.isCredited],
    ['reversed_micros', 'bigint', (change) => change.reversedMicros],
    ['debt_micros', 'bigint', (change) => change.debtMicros],
  ],
  text: (rows) => `UPDATE purchases p SET
        status = CASE WHEN r.credited AND p.status = 'paid' THEN 'completed' ELSE p.status END,
        completed_at = CASE WHEN r.credited THEN now() ELSE p.completed_at END,
        reversed_micros = p.reversed_micros + r.reversed_micros,
        debt_micros = p.debt_micros + r.debt_micros
      FROM ${rows} WHERE ${ownedRow('p')}`,
});

export const purchaseStepsPart: Part = definePart<PostedStep>({
  name: 'purchase_steps',
  rows: (write) => ownedRows(write, 'purchase_steps'),
  columns: [
    ['purchase_id', 'text', (posted) => posted.purchaseId],
    ['step', 'integer', (posted) => posted.step],
  ],
  text: (rows) => `UPDATE purchase_steps s SET posted_at = now() FROM ${rows}
      WHERE ${lookedUp('s.purchase_id', 'r.purchase_id')} AND ${lookedUp('s.step', 'r.step')}
        AND ${lookedUp('s.wallet_id', 'r.wallet_id')}`,
});
