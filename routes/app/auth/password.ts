// A new password of an account: what ends with the one before, and who is told.
import { invalidCode, useChallenge } from '../../../actors/identity/guessing.ts';
import { setPassword } from '../../../db/accounts/passwords.ts';
import { findOwner, findPerson, type Person, proveAddress } from '../../../db/accounts/person.ts';
import { endAuthorizations } from '../../../db/authorizations.ts';
import type { Transaction } from '../../../db/driver/sql.ts';
import { endSessionsBut } from '../../../db/sessions.ts';
import { Problem, type ProblemCode } from '../../../runtime/problem.ts';
import type { Asker } from '../../identity/asker.ts';
import { auditDeed } from '../../identity/audited.ts';
import { beginSession, requireEnterable } from '../../identity/begin-session.ts';
import type { Services } from '../../services.ts';

/** What a route that takes a password of nobody who is signed in refuses with. */
export const credentialProblems: ProblemCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'overloaded',
  'dependency_unavailable',
];

/** Nobody learns whether it was the address or the password. */
export function wrongCredentials(): Problem {
  return new Problem('unauthenticated', {
    message: 'The address or the password is wrong.',
    details: { reason: 'invalid_credentials' },
  });
}

export interface ReplacedPassword {
  /** Ids of what ended. */
  ended: string[];
  mailId: string | null;
}

/** Sets the password and ends all sessions but one; the address is told, if it is the account's. */
export async function replacePassword(
  transaction: Transaction,
  { mail, system }: Pick<Services, 'mail' | 'system'>,
  { person, hash, keptId }: { person: Person; hash: string; keptId: string | null },
): Promise<ReplacedPassword> {
  const { id: accountId, email, emailOwned } = person;
  await setPassword(transaction, accountId, hash);
  const ended = await endSessionsBut(transaction, accountId, keptId);
  await auditDeed(transaction, system.node, {
    accountId,
    action: keptId === null ? 'password.reset' : 'password.change',
    details: { sessions_ended: ended.length },
  });
  if (email === null || !emailOwned || !mail.isAvailable) return { ended, mailId: null };
  const mailId = await mail.write(transaction, {
    to: email,
    accountId,
    expiresAt: null,
    mail: { template: 'password_changed' },
  });
  return { ended, mailId };
}

interface Reset {
  address: string;
  challengeId: string;
  hash: string;
  asker: Asker;
}

/** The code is used up, and everything else that the account was signed in with ends. */
export async function resetWithin(
  transaction: Transaction,
  services: Pick<Services, 'limits' | 'mail' | 'system'>,
  { address, challengeId, hash, asker }: Reset,
) {
  if (!(await useChallenge(transaction, services, challengeId))) throw invalidCode();
  const owner = await findOwner(transaction, address);
  if (owner === null) throw invalidCode();
  requireEnterable(owner);
  const accountId = owner.id;
  if (owner.emailVerifiedAt === null) await proveAddress(transaction, accountId, address);
  const replaced = await replacePassword(transaction, services, {
    person: owner,
    hash,
    keptId: null,
  });
  const apps = await endAuthorizations(transaction, { accountId }, 'account');
  const person = (await findPerson(transaction, accountId)) ?? owner;
  const begun = { person, kind: 'app', method: 'otp', asker } as const;
  const session = await beginSession(transaction, services, begun);
  return { person, session, ended: [...replaced.ended, ...apps], mailId: replaced.mailId };
}
