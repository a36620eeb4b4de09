// The payment providers of development mode: real ones whose keys the environment has, and the
// simulator's in place of the others.
import type { Config } from '../../../runtime/config.ts';
import type { CatalogDocument, PaymentProviderRecord } from '../document.ts';

type Keys = Pick<
  Config,
  | 'stripeSecretKey'
  | 'stripeWebhookSecret'
  | 'razorpayKeyId'
  | 'razorpayKeySecret'
  | 'razorpayWebhookSecret'
>;

/** They sign nothing but what the simulator sends. */
const simulatedKeys: Keys = {
  stripeSecretKey: 'sk_test_simulated',
  stripeWebhookSecret: 'whsec_simulated',
  razorpayKeyId: 'rzp_test_simulated',
  razorpayKeySecret: 'simulated-secret',
  razorpayWebhookSecret: 'simulated-webhooks',
};

/** Adds them, but where the file declares one by such a name. */
export function addPaymentProviders(
  document: CatalogDocument,
  keys: Keys,
  simulatorUrl: string | null,
): void {
  const taken = new Set(document.payment_providers.map(({ name }) => name));
  for (const readRecord of [stripeIn, razorpayIn]) {
    const record = readRecord(keys) ?? simulatedRecord(readRecord, simulatorUrl);
    if (record !== null && !taken.has(record.name)) document.payment_providers.push(record);
  }
}

function simulatedRecord(
  readRecord: (keys: Keys) => PaymentProviderRecord | null,
  simulatorUrl: string | null,
): PaymentProviderRecord | null {
  if (simulatorUrl === null) return null;
  const record = readRecord(simulatedKeys);
  return record === null ? null : { ...record, base_url: simulatorUrl };
}

function stripeIn(keys: Keys): PaymentProviderRecord | null {
  const { stripeSecretKey: key, stripeWebhookSecret: secret } = keys;
  if (key === null || secret === null) return null;
  return {
    name: 'stripe',
    kind: 'stripe',
    secret_key: key,
    webhook_secrets: [secret],
    currencies: ['usd'],
    enabled: true,
  };
}

function razorpayIn(keys: Keys): PaymentProviderRecord | null {
  const { razorpayKeyId: id, razorpayKeySecret: key, razorpayWebhookSecret: secret } = keys;
  if (id === null || key === null || secret === null) return null;
  return {
    name: 'razorpay',
    kind: 'razorpay',
    secret_key: key,
    key_id: id,
    webhook_secrets: [secret],
    currencies: ['inr'],
    enabled: true,
  };
}
