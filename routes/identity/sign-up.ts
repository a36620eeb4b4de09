// The account that a right code makes, and what it must bring. Whatever it lacks is thrown in the
// transaction, so that the code stays good.
import { invalidCode } from '../../actors/identity/guessing.ts';
import { isInvited, maySignUp } from '../../actors/identity/sign-up.ts';
import { noteReferral } from '../../actors/promotions/referral.ts';
import { createPerson, findReferrer } from '../../db/accounts/person.ts';
import type { Queryable, Transaction } from '../../db/driver/sql.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import { auditDeed } from './audited.ts';

export interface Newcomer {
  address: string;
  mayCreate: boolean;
  fullName: string | null;
  termsAccepted: boolean;
  referralCode: string | null;
}

/**
 * Makes the account of an address that nobody has; false: somebody was quicker.
 * @throws Problem forbidden, invalid_request
 */
export async function signUp(
  transaction: Transaction,
  { catalog, system }: Pick<Services, 'catalog' | 'system'>,
  newcomer: Newcomer,
): Promise<boolean> {
  const { address, fullName, mayCreate, referralCode, termsAccepted } = newcomer;
  if (!mayCreate) throw invalidCode();
  const settings = catalog.current().snapshot.identity;
  const invited = settings.signup !== 'open' && (await isInvited(transaction, address));
  if (!maySignUp(settings, address, invited)) throw signUpClosed();
  if (fullName === null) throw fieldProblem('full_name', 'A new account needs a name.');
  if (!termsAccepted) throw fieldProblem('terms_accepted', 'A new account accepts the terms.');
  const referredBy = await referrerOf(transaction, referralCode);
  const id = newId('acc', system.node);
  const walletId = newId('wal', system.node);
  const { termsVersion } = settings;
  const person = { id, walletId, email: address, fullName, referredBy, termsVersion };
  if (!(await createPerson(transaction, { ...person, address: 'proved' }))) return false;
  await noteReferral(transaction, system.node, { refereeId: id, referrerId: referredBy });
  const details = { method: 'otp', terms_version: termsVersion, referred_by: referredBy };
  await auditDeed(transaction, system.node, { accountId: id, action: 'account.create', details });
  return true;
}

/** @throws Problem invalid_request */
export async function referrerOf(sql: Queryable, code: string | null): Promise<string | null> {
  if (code === null) return null;
  const referrer = await findReferrer(sql, code);
  if (referrer === null) throw fieldProblem('referral_code', 'Nobody has this referral code.');
  return referrer;
}

/** The refusal of a new account for an address. */
export function signUpClosed(): Problem {
  return new Problem('forbidden', {
    message: 'No account can be made for this address.',
    details: { reason: 'signup_closed' },
  });
}
