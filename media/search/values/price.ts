// A price: a decimal as text and its currency. Without a currency that is certain there is none.
import { currencyCode, namedCurrency } from './currency.ts';
import { readDecimal } from './decimal.ts';
import { cleanText } from './text.ts';

export interface Price {
  /** As in `1234.50`. */
  amount: string;
  currency: string;
}

const textMax = 60;
const amountMax = 1e12;
const sign = String.raw`(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|[Rr][Ss]\.?|Fr\.?|kr\.?|zł|Kč|元|円)`;
const signBefore = new RegExp(String.raw`(?<!\p{L})${sign}$`, 'u');
const signBehind = new RegExp(String.raw`^${sign}(?!\p{L})`, 'u');

/** `hint`: the currency of what has no sign, and the one meant by a sign of several. */
export function priceOf(
  value: unknown,
  said: unknown,
  hint: string | undefined,
): Price | undefined {
  const meant = currencyCode(said) ?? hint;
  if (typeof value === 'number') return fromNumber(value, meant);
  const text = cleanText(value, textMax);
  const named = namedCurrency(text, meant);
  const amount = amountIn(text, named !== null);
  const currency = named === null ? (currencyCode(said) ?? namedSign(said) ?? hint) : named;
  if (amount === null || currency === undefined || Number(amount) > amountMax) return undefined;
  return { amount, currency };
}

/** The number beside the sign: of a range what it costs at least. */
function amountIn(text: string, hasSign: boolean): string | null {
  // Without a sign any word may say that the number is of something else.
  if (!hasSign && /\p{L}/u.test(text)) return null;
  for (const run of text.matchAll(/\d[\d.,'’\s]*/g)) {
    const before = text.slice(0, run.index).trimEnd();
    const after = text.slice(run.index + run[0].length).replace(/^[-–—\s]+/, '');
    if (hasSign && !signBefore.test(before) && !signBehind.test(after)) continue;
    const isNegative = /[-−]\s*[\p{L}\p{Sc}]*$/u.test(before) && !/\d\s*[-−]/.test(before);
    return isNegative ? null : readDecimal(run[0].replace(/[.,'’\s]+$/, ''));
  }
  return null;
}

function namedSign(said: unknown): string | undefined {
  return typeof said === 'string'
    ? (namedCurrency(said.slice(0, textMax), undefined) ?? undefined)
    : undefined;
}

function fromNumber(value: number, currency: string | undefined): Price | undefined {
  if (currency === undefined || !(value >= 0 && value <= amountMax)) return undefined;
  // Sums of cents in binary have a tail.
  return { amount: String(Number(value.toFixed(4)) + 0), currency };
}
