// Amounts as people read them.

/** Digits behind the point that a currency has (ISO 4217, as the runtime knows it). */
export function minorDigits(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** Minor units of a currency as `12.50 EUR`. */
export function moneyText(minor: bigint, currency: string): string {
  const digits = minorDigits(currency);
  const sign = minor < 0n ? '-' : '';
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const rest = digits === 0 ? '' : `.${text.slice(-digits)}`;
  return `${sign}${whole}${rest} ${currency.toUpperCase()}`;
}

export const creditMicros = 1_000_000n;
