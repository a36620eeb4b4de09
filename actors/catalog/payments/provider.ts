// Payment providers as the threads use them, each with the adapter of its kind. They are in the
// snapshot whole, as the keys of models' providers are: whoever takes a webhook or a proof checks
// it where it arrives.
import { paymentAdapters } from '../../../media/payments/adapters.ts';
import type { PaymentAccount, PaymentAdapter } from '../../../media/payments/contract.ts';
import type { PaymentProviderRecord } from '../document.ts';

export interface PaymentProvider {
  name: string;
  account: PaymentAccount;
  /** The newest first; each of them is good. */
  webhookSecrets: readonly string[];
  /** In the order of preference. */
  currencies: readonly string[];
  /** A disabled one sells nothing; what it has sold is still followed. */
  enabled: boolean;
}

export interface UsablePaymentProvider extends PaymentProvider {
  adapter: PaymentAdapter;
}

const vendorUrls: Readonly<Record<PaymentAccount['kind'], string>> = {
  stripe: 'https://api.stripe.com',
  razorpay: 'https://api.razorpay.com',
};

export function buildPaymentProvider(record: PaymentProviderRecord): PaymentProvider {
  const { name, kind } = record;
  return {
    name,
    account: {
      kind,
      baseUrl: (record.base_url ?? vendorUrls[kind]).replace(/\/+$/, ''),
      secretKey: record.secret_key,
      keyId: record.key_id ?? null,
      automaticTax: record.automatic_tax ?? false,
    },
    webhookSecrets: record.webhook_secrets,
    currencies: record.currencies,
    enabled: record.enabled,
  };
}

/** Finds one by its name, disabled ones too; null: there is none. */
export function paymentProvider(
  catalog: { snapshot: { payments: readonly PaymentProvider[] } },
  name: string,
): UsablePaymentProvider | null {
  return paymentProviders(catalog).find((provider) => provider.name === name) ?? null;
}

/** All of them, in the order of their names. */
export function paymentProviders({
  snapshot,
}: {
  snapshot: { payments: readonly PaymentProvider[] };
}): UsablePaymentProvider[] {
  return snapshot.payments.map((provider) => {
    return { ...provider, adapter: paymentAdapters[provider.account.kind] };
  });
}
