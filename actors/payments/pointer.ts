// What of an event is kept: the ids that it points at.
import type { EventObjects } from '../../db/purchases/events.ts';
import type { Pointer } from '../../media/payments/contract.ts';

export function objectsOf({ purchaseId, orderIds, paymentIds }: Pointer): EventObjects {
  return { purchase_id: purchaseId, order_ids: orderIds, payment_ids: paymentIds };
}
