// What a package costs in a currency, in minor units: 1050 for 10.50 dollars.
import type { PackageRecord } from '../document.ts';

/** Null: it is not sold for that. In dollars that is also so for a price with a part of a cent. */
export function packagePrice(
  { price_usd: dollars, prices }: Pick<PackageRecord, 'price_usd' | 'prices'>,
  currency: string,
): number | null {
  if (currency !== 'usd') return prices?.[currency] ?? null;
  const [whole = '', fraction = ''] = dollars.split('.');
  if (/[^0]/.test(fraction.slice(2))) return null;
  return Number(whole + fraction.slice(0, 2).padEnd(2, '0'));
}
