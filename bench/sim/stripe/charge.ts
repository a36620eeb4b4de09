// Intents that are made and confirmed at once with a saved card: nobody is there.
import type { Members } from '../members.ts';
import type { StripeAccount } from './account.ts';
import { cardError } from './checkout.ts';
import { cardDeclined, type Failure, invalid } from './failure.ts';
import { membersIn, numberIn, textIn } from './form.ts';
import type { Intent, Texts } from './objects.ts';

export function createIntent(account: StripeAccount, form: Members): Intent | Failure {
  const amount = numberIn(form, 'amount');
  const currency = textIn(form, 'currency');
  if (amount === null || amount < 1) return invalid('amount', 'Invalid integer: amount');
  if (currency === null) return invalid('currency', 'Missing required param: currency.');
  const method = textIn(form, 'payment_method');
  const customer = textIn(form, 'customer');
  const isConfirmed = textIn(form, 'confirm') === 'true';
  if (isConfirmed && account.methods.get(method ?? '')?.customer !== customer) {
    return invalid('payment_method', 'The payment method does not belong to the customer.');
  }
  const intent = account.makeIntent({
    amount,
    currency: currency.toLowerCase(),
    customer,
    payment_method: method,
    metadata: membersIn(form, 'metadata') as Texts,
    description: textIn(form, 'description'),
  });
  if (!isConfirmed) return intent;
  const needsPerson = account.takeFault('authentication_required') !== null;
  const declined = needsPerson ? null : account.takeFault('decline');
  if (needsPerson || declined !== null) {
    const code = needsPerson ? 'authentication_required' : (declined?.code ?? 'insufficient_funds');
    account.decline(intent, cardError(code));
    return cardDeclined(cardError(code), intent);
  }
  if (account.takeFault('wrong_amount') !== null) intent.amount += 1;
  const late = account.takeFault('late_authorized');
  if (late === null) account.succeed(intent);
  else {
    intent.status = 'processing';
    account.later(late.delayMs, () => account.succeed(intent));
  }
  return intent;
}
