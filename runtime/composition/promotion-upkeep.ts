// What of promotional credit is due now and then, by whichever process has the round.
import { createHouseLook } from '../../actors/promotions/house.ts';
import { promotionsRound } from '../../actors/promotions/rounds.ts';
import type { MaintenanceQueue } from '../work/queue.ts';

type Given = Parameters<typeof promotionsRound>[0] & Parameters<typeof createHouseLook>[0];

export function schedulePromotions(queue: Pick<MaintenanceQueue, 'schedule'>, given: Given): void {
  const { limits } = given;
  queue.schedule('promotions', limits.roundMs, () => promotionsRound(given));
  queue.schedule('house', limits.houseLookMs, createHouseLook(given));
}
