// A person that proved who it is has a session from now on. Its event and the places that it came
// from are written with it, in the transaction that found that it may sign in.

import { rememberPlaces } from '../../db/accounts/known-places.ts';
import type { Person } from '../../db/accounts/person.ts';
import type { Transaction } from '../../db/driver/sql.ts';
import type { SessionKind, SignInMethod } from '../../db/sessions.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import type { Asker } from './asker.ts';
import { auditDeed } from './audited.ts';
import { type MadeSession, signIn } from './sign-in.ts';

export interface BegunSession {
  person: Pick<Person, 'id' | 'role'>;
  kind: SessionKind;
  method: SignInMethod;
  asker: Pick<Asker, 'client' | 'places'>;
}

export async function beginSession(
  transaction: Transaction,
  { limits, system }: Pick<Services, 'limits' | 'system'>,
  { person, kind, method, asker }: BegunSession,
): Promise<MadeSession> {
  const { id: accountId, role } = person;
  const { client, places } = asker;
  const wanted = { accountId, role, kind, method, client };
  const made = await signIn(transaction, system.node, wanted);
  const from = [places.network, places.browser].filter((place) => place !== null);
  await rememberPlaces(transaction, accountId, from, limits.identity.knownPlacesMax);
  await auditDeed(transaction, system.node, {
    accountId,
    action: 'session.create',
    subject: `session:${made.signedIn.id}`,
    details: { kind, method },
  });
  return made;
}

/**
 * Whoever proved who it is learns why it may not enter; nobody else does.
 * @throws Problem forbidden with the reason
 */
export function requireEnterable({ status }: Pick<Person, 'status'>): void {
  if (status === 'disabled') {
    const details = { reason: 'account_disabled' };
    throw new Problem('forbidden', { message: 'The account is disabled.', details });
  }
  if (status === 'deleting' || status === 'erased') {
    const details = { reason: 'deleting' };
    throw new Problem('forbidden', {
      message: 'The account is being deleted. A code with `restore` undoes that.',
      details,
    });
  }
}
