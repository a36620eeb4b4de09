// What packages cost where, and what they give. Prices are in minor units of their currency.
import type { PackageRecord } from '../catalog/document.ts';
import { packagePrice } from '../catalog/payments/price.ts';
import { creditMicros } from './money-text.ts';

export type PricedPackage = Pick<
  PackageRecord,
  'slug' | 'name' | 'credits' | 'price_usd' | 'prices'
>;

export interface SoldPackage {
  slug: string;
  name: string;
  creditsMicros: bigint;
  priceCents: number;
  currency: string;
}

/** The package in the first of these currencies that it has; null: it has none of them. */
export function soldIn(record: PricedPackage, currencies: readonly string[]): SoldPackage | null {
  for (const currency of currencies) {
    const priceCents = packagePrice(record, currency);
    if (priceCents === null) continue;
    const { slug, name, credits } = record;
    return { slug, name, creditsMicros: BigInt(credits) * creditMicros, priceCents, currency };
  }
  return null;
}

/** It costs nothing: then it has no other price. */
export function isFree(record: PricedPackage): boolean {
  return packagePrice(record, 'usd') === 0;
}
