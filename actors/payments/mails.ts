// Mails of payments, each written in the transaction that it tells of. Returns the ids to be sent.
import { findBilledPerson } from '../../db/accounts/person.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import type { Purchase } from '../../db/purchases.ts';
import type { Payment } from '../../media/payments/contract.ts';
import type { Mail } from '../mail/services.ts';
import type { PaymentDeps } from './deps.ts';
import { moneyText } from './money-text.ts';

type MailDeps = Pick<PaymentDeps, 'mail' | 'packageName'>;

/** To the address that the account has proved; nothing without one. */
export async function writeTo(
  { mail }: Pick<MailDeps, 'mail'>,
  transaction: Queryable,
  accountId: string,
  content: Mail,
): Promise<string[]> {
  if (!mail.isAvailable) return [];
  const person = await findBilledPerson(transaction, accountId);
  if (person === null || person.email === null || !person.emailOwned) return [];
  const written = { to: person.email, accountId: person.id, expiresAt: null, mail: content };
  return [await mail.write(transaction, written)];
}

export function writePurchaseMail(
  deps: MailDeps,
  transaction: Queryable,
  { id, accountId, packageId, kind, currency }: Purchase,
  { amountCents }: Pick<Payment, 'amountCents'>,
): Promise<string[]> {
  return writeTo(deps, transaction, accountId, {
    template: 'purchase',
    name: deps.packageName(packageId),
    priceText: moneyText(BigInt(amountCents), currency),
    id,
    byItself: kind === 'auto',
  });
}

export function writeRefundMail(
  deps: MailDeps,
  transaction: Queryable,
  { id, accountId, currency }: Purchase,
  cents: number,
): Promise<string[]> {
  const amountText = moneyText(BigInt(cents), currency);
  return writeTo(deps, transaction, accountId, { template: 'refund', amountText, id });
}
