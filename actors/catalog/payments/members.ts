// The members of payment providers, and the prices of packages in other currencies than dollars.
import * as v from 'valibot';
import { visibleAscii } from '../../../runtime/http/text.ts';

const currenciesMax = 20;
/** What a provider's integers can say of any currency, with room: ten billion units of cents. */
const minorUnitsMax = 1_000_000_000_000;

/** ISO 4217, in small letters as providers write it. */
export const currency = v.pipe(
  v.string(),
  v.regex(/^[a-z]{3}$/, 'expected a currency of ISO 4217 in small letters, such as eur'),
);

const secret = visibleAscii(500);

/** Beside its name and address. */
export const paymentProviderEntries = {
  kind: v.picklist(['stripe', 'razorpay']),
  secret_key: secret,
  /** Razorpay calls it the key id: clients are told it. */
  key_id: v.optional(visibleAscii(100)),
  /** The first is the newest. While one is replaced, both are good. */
  webhook_secrets: v.pipe(v.array(secret), v.minLength(1), v.maxLength(2)),
  /** What it sells for, in the order of preference. */
  currencies: v.pipe(v.array(currency), v.minLength(1), v.maxLength(currenciesMax)),
  /** The provider adds taxes to the price. */
  automatic_tax: v.optional(v.boolean()),
  enabled: v.optional(v.boolean(), true),
};

/** Prices in minor units of each currency, such as cents. */
export const packagePrices = v.pipe(
  v.record(currency, v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(minorUnitsMax))),
  v.maxEntries(currenciesMax),
);
