// Random operations on a wallet, small enough to meet each other. They name holds and grants by
// numbers: what there is of them by then decides which one is meant.
import { fc } from '../../harness/properties.ts';

export type Step =
  | { do: 'grant'; purchase: boolean; amount: number; lastsMs: number | null }
  | { do: 'hold'; amount: number; lastsMs: number }
  | { do: 'extend'; which: number; amount: number; minimum: number }
  | { do: 'reduce'; which: number; keep: number }
  | { do: 'settle'; which: number; charge: number; cost: number }
  | { do: 'release'; which: number; reason: 'failed' | 'cancelled' | 'expired' | 'recovered' }
  | { do: 'revoke'; which: number }
  | { do: 'debit'; amount: number }
  | { do: 'wait'; ms: number }
  | { do: 'repeat'; which: number };

const which = fc.nat(30);
const amount = fc.integer({ min: 0, max: 40 });
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      purchase: fc.boolean(),
      amount: fc.integer({ min: 1, max: 60 }),
      lastsMs: fc.option(fc.integer({ min: 1, max: 300 })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      amount,
      lastsMs: fc.integer({ min: 0, max: 300 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('extend' as const), which, amount, minimum: amount }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('reduce' as const), which, keep: amount }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which,
      charge: amount,
      cost: amount,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      which,
      reason: fc.constantFrom('failed', 'cancelled', 'expired', 'recovered'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('debit' as const),
      amount: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 200 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), which }) },
);
