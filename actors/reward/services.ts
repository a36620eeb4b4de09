// What rewards offer to routes.
import type { HeldRow } from '../../runtime/work/turn-desk.ts';

export interface RewardServices {
  /** Evidence that was taken gets its turn; the row sees to it where this is lost. */
  enqueue(held: HeldRow): void;
}
