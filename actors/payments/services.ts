// What payments offer to routes.
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { PaymentLimits } from './limits.ts';
import type { PaymentDeskProtocol } from './protocol.ts';

export interface PaymentServices {
  /** The desk of the main thread. */
  desk(): ActorRef<PaymentDeskProtocol>;
  limits: PaymentLimits;
}
