// What customers are shown of the price of a record.
import type { PriceMembers } from '../../../actors/catalog/document.ts';
import type { Definition } from '../../../actors/catalog/kinds.ts';
import { readyCard } from '../../../actors/catalog/snapshot.ts';
import {
  publicCallRates,
  publicRates,
  publicUnitRates,
  publicVideoRates,
} from '../../../actors/wallet/public-rates.ts';
import { findRecord } from '../../../db/catalog.ts';
import type { Services } from '../../services.ts';

/** The cards that models name, looked up once each. */
export async function namedCards(
  models: readonly Definition[],
  { sql }: Pick<Services, 'sql'>,
): Promise<Map<string, PriceMembers>> {
  const names = models.flatMap(({ price }) => (typeof price === 'string' ? [price] : []));
  const cards = [...new Set(names)].map(async (name) => {
    const record = await findRecord(sql, 'prices', name);
    return [name, (record?.definition ?? {}) as PriceMembers] as const;
  });
  return new Map(await Promise.all(cards));
}

/** The card of a model: its own, or the one that it names. */
export function cardOf(
  { price }: Definition,
  cards: ReadonlyMap<string, PriceMembers>,
): PriceMembers {
  return typeof price === 'string' ? (cards.get(price) ?? {}) : (price as PriceMembers);
}

/** What customers are shown of a card. */
export function ratesOf(
  card: PriceMembers,
  { catalog }: Pick<Services, 'catalog'>,
): Record<string, unknown> {
  const { creditsPerUsd } = catalog.current().snapshot;
  const ready = readyCard(card, creditsPerUsd);
  const calls = publicCallRates(ready, Object.keys(ready.givenCalls));
  const videos = publicVideoRates(ready);
  const units = {
    ...publicUnitRates(ready),
    ...(videos.length === 0 ? {} : { video_rates: videos }),
  };
  return { public_rates: { ...publicRates(ready), ...units, ...calls } };
}
