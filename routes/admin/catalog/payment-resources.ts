// Payment providers as a resource.
import { paymentProviderSchema } from '../../../actors/catalog/document.ts';
import { credential } from './members.ts';
import { type Resource, resource } from './resource.ts';

export const paymentProviders: Resource = {
  ...resource(
    'payment_providers',
    'PaymentProvider',
    paymentProviderSchema.entries,
    credential,
    'A payment provider takes money for packages. `secret_key` and `webhook_secrets` are ' +
      'encrypted together and never returned: `has_credential` says that they are there, ' +
      '`credential_key_id` which master key sealed them. Of two webhook secrets both are good; ' +
      'the provider calls `/api/payments/webhooks/{name}`. Another `kind` or server needs the ' +
      '`secret_key` again. `key_id` is of `razorpay`, `automatic_tax` of `stripe`. `currencies` ' +
      'are codes of ISO 4217 in small letters, in the order of preference.',
  ),
  noun: 'a payment provider',
  plural: 'payment providers',
  path: '/api/admin/payment-providers',
  switching: 'A disabled provider sells nothing; what it has sold is followed and can be refunded.',
};
