// Currencies: codes of ISO 4217, signs, and what is meant where a sign has several.

const codes = new Set(Intl.supportedValuesOf('currency'));

/** Signs that mean one currency; longer ones first, as they hold shorter ones. */
const signs = [
  ...pairs('us$ USD, ca$ CAD, au$ AUD, nz$ NZD, hk$ HKD, nt$ TWD, mx$ MXN, cn¥ CNY'),
  ...pairs('a$ AUD, c$ CAD, s$ SGD, r$ BRL, € EUR, £ GBP, ₹ INR, ₩ KRW, ₽ RUB, ₺ TRY, ₫ VND'),
  ...pairs('฿ THB, ₪ ILS, ₴ UAH, ₱ PHP, ₦ NGN, zł PLN, kč CZK, 元 CNY, 円 JPY'),
];

function pairs(list: string): [string, string][] {
  return list.split(', ').map((pair): [string, string] => {
    const [sign = '', code = ''] = pair.split(' ');
    return [sign, code];
  });
}

const currencyOfCountry = new Map([
  ...pairs('us USD, gb GBP, uk GBP, ch CHF, li CHF, ca CAD, au AUD, nz NZD, jp JPY, cn CNY'),
  ...pairs('in INR, br BRL, mx MXN, se SEK, no NOK, dk DKK, is ISK, pl PLN, cz CZK, hu HUF'),
  ...pairs('kr KRW, sg SGD, hk HKD, tw TWD, za ZAR, tr TRY, il ILS, at EUR, be EUR, cy EUR'),
  ...pairs('de EUR, ee EUR, es EUR, fi EUR, fr EUR, gr EUR, hr EUR, ie EUR, it EUR, lt EUR'),
  ...pairs('lu EUR, lv EUR, mt EUR, nl EUR, pt EUR, si EUR, sk EUR'),
]);
/** Currencies that one sign stands for, the usual one first. */
const several: readonly [string, readonly string[]][] = [
  ['$', ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN', 'TWD']],
  ['¥', ['JPY', 'CNY']],
  ['kr', ['SEK', 'NOK', 'DKK', 'ISK']],
];
/** A crown without its country is none of the four. */
const needsHint = new Set(['kr']);

/** A code in capitals, or undefined. */
export function currencyCode(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 20) return undefined;
  const code = value.trim().toUpperCase();
  return codes.has(code) ? code : undefined;
}

/** What people of a country (two small letters) pay with. */
export function currencyOf(country: string | null): string | undefined {
  return country === null ? undefined : currencyOfCountry.get(country);
}

/**
 * The currency that a text names; `hint` decides between those of one sign. Null: it names none,
 * undefined: it is not certain which.
 */
export function namedCurrency(text: string, hint: string | undefined): string | null | undefined {
  for (const [word] of text.matchAll(/(?<!\p{L})[A-Z]{3}(?!\p{L})/gu)) {
    if (codes.has(word)) return word;
  }
  const small = text.toLowerCase();
  const sign = signs.find(([each]) => small.includes(each));
  if (sign !== undefined) return sign[1];
  if (/(?<!\p{L})rs\.?(?!\p{L})/u.test(small)) return 'INR';
  if (/(?<!\p{L})fr\.(?!\p{L})/u.test(small)) return 'CHF';
  for (const [each, meant] of several) {
    if (!small.includes(each)) continue;
    if (hint !== undefined && meant.includes(hint)) return hint;
    return needsHint.has(each) ? undefined : meant[0];
  }
  return null;
}
