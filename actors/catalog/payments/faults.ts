// What is wrong with a payment provider or the prices of a package beyond their schema.
import { addressFault } from '../../../media/transport/address.ts';
import type { PackageRecord, PaymentProviderRecord } from '../document.ts';
import type { PathFault } from '../path-fault.ts';
import { packagePrice } from './price.ts';

const known: ReadonlySet<string> = new Set(
  Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()),
);

export function paymentProviderFaults(provider: PaymentProviderRecord): PathFault[] {
  const { kind, base_url: address, currencies, webhook_secrets: secrets } = provider;
  const faults: PathFault[] = currencies.flatMap((code, index) =>
    currencyFault(code, currencies.indexOf(code) !== index, `currencies[${index}]`),
  );
  if (kind === 'razorpay' && provider.key_id === undefined) {
    faults.push({ path: 'key_id', message: 'razorpay needs one' });
  }
  if (kind === 'stripe' && provider.key_id !== undefined) {
    faults.push({ path: 'key_id', message: 'stripe has none' });
  }
  if (kind !== 'stripe' && provider.automatic_tax === true) {
    faults.push({ path: 'automatic_tax', message: `${kind} adds no taxes` });
  }
  if (new Set(secrets).size < secrets.length) {
    faults.push({ path: 'webhook_secrets[1]', message: 'it is there twice' });
  }
  const message = address === undefined ? null : addressFault(address);
  return message === null ? faults : [...faults, { path: 'base_url', message }];
}

/** A price in dollars is said once, or twice alike. */
export function packageFaults({ prices = {}, ...offered }: PackageRecord): PathFault[] {
  const faults = Object.keys(prices).flatMap((code) =>
    currencyFault(code, false, `prices.${code}`),
  );
  const dollars = packagePrice(offered, 'usd');
  if (prices.usd !== undefined && prices.usd !== dollars) {
    faults.push({ path: 'prices.usd', message: `price_usd says ${dollars ?? 'no whole cents'}` });
  }
  if (dollars === 0 && Object.keys(prices).length > 0) {
    faults.push({ path: 'prices', message: 'what is free in dollars has no other price' });
  }
  return faults;
}

function currencyFault(code: string, isTwice: boolean, path: string): PathFault[] {
  if (isTwice) return [{ path, message: `"${code}" is there twice` }];
  return known.has(code) ? [] : [{ path, message: `there is no currency "${code}"` }];
}
