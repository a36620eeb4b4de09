// The main thread's part in payments, as an actor: shards ask it to ask providers. It does not wait
// for one to take the next: the reply of each leaves when its provider has answered.
import { strict as assert } from 'node:assert';
import type { ActorKind, BatchEntry } from '../../runtime/actor/contract.ts';
import type {
  AskedOutcome,
  OpenedOutcome,
  PaymentDeskProtocol,
  RefundOutcome,
  TestOutcome,
} from './protocol.ts';

export const paymentDeskId = 'payment-desk';

type Payload<M extends keyof PaymentDeskProtocol> = Parameters<PaymentDeskProtocol[M]>[0];

/** None of them rejects. */
export interface PaymentDesk {
  open(request: Payload<'open'>): Promise<OpenedOutcome>;
  settle(request: Payload<'settle'>): Promise<AskedOutcome>;
  arrived(): void;
  low(request: Payload<'low'>): void;
  refund(request: Payload<'refund'>): Promise<RefundOutcome>;
  test(request: Payload<'test'>): Promise<TestOutcome>;
}

export type PaymentDeskKind = ActorKind<PaymentDeskProtocol, PaymentDesk>;

/** Null on shards, which only send to it. */
export function createPaymentDeskKind(desk: PaymentDesk | null): PaymentDeskKind {
  return {
    name: 'payment-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 4_096,
    start() {
      assert(desk !== null, 'the desk of payments is on the main thread');
      return desk;
    },
    behaviour: {
      batch: {
        lengthMax: 64,
        receive(state, batch) {
          for (const entry of batch) handle(state, entry);
        },
      },
    },
  };
}

function handle(desk: PaymentDesk, entry: BatchEntry<PaymentDeskProtocol>): void {
  switch (entry.message) {
    case 'open':
      void desk.open(entry.payload).then((reply) => entry.reply(reply));
      return;
    case 'settle':
      void desk.settle(entry.payload).then((reply) => entry.reply(reply));
      return;
    case 'refund':
      void desk.refund(entry.payload).then((reply) => entry.reply(reply));
      return;
    case 'test':
      void desk.test(entry.payload).then((reply) => entry.reply(reply));
      return;
    case 'arrived':
      desk.arrived();
      entry.reply(undefined);
      return;
    case 'low':
      desk.low(entry.payload);
      entry.reply(undefined);
      return;
  }
}
