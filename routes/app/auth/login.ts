// POST /api/app/auth/login: a password. The work is the same whether or not there is an account,
// and a wrong password is counted before it is hashed.
import * as v from 'valibot';
import { findKnownPlaces } from '../../../db/accounts/known-places.ts';
import { findPasswordHash, rehashPassword } from '../../../db/accounts/passwords.ts';
import {
  findNewestTyped,
  findOwner,
  findPerson,
  type Person,
} from '../../../db/accounts/person.ts';
import { type Queryable, withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { type Asker, askerOf, requireAddress } from '../../identity/asker.ts';
import { beginSession, requireEnterable } from '../../identity/begin-session.ts';
import { browserHeaders } from '../../identity/cookies.ts';
import { appSessionSchema, emailSchema, passwordSchema } from '../../identity/schema.ts';
import { appSessionReply } from './app-session.ts';
import { countAttempt, refuseSpentAttempt } from './attempts.ts';
import { credentialProblems, wrongCredentials } from './password.ts';

export const login = defineRoute({
  method: 'POST',
  path: '/api/app/auth/login',
  operationId: 'logIn',
  summary: 'Sign in with a password',
  description:
    'Tries the account that has proved the address, else the newest that typed it. An unknown ' +
    'address and a wrong password are 401 with the reason `invalid_credentials`. Behind a right ' +
    'password: 403 with the reason `account_disabled` or `deleting`. Wrong passwords are ' +
    'bounded: 10 in 15 minutes for an address and a network, 100 an hour for a network, 50 a ' +
    'day for an address over all networks that are new to it.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'web',
  headers: browserHeaders,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { email: 'person@example.com', password: 'violet tractor seven' },
    schema: v.strictObject({ email: emailSchema, password: passwordSchema }),
  },
  replies: { 200: { description: 'The session.', schema: appSessionSchema } },
  problems: credentialProblems,
  async handle({ body, exchange, services }) {
    const { identity, sql } = services;
    const asker = askerOf(exchange, services);
    const address = requireAddress(body.email);
    const { network } = asker;
    refuseSpentAttempt(services, { name: address, network });
    identity.passwords.requireRoom();
    const { person, hash, isKnownPlace } = await withDeadline(find(sql, address, asker));
    const attempt = countAttempt(services, { name: address, network, isKnownPlace });
    const { isRight, rehashed } = await identity.passwords.check(body.password, hash);
    if (!isRight || person === null || hash === null) {
      attempt.wasWrong();
      throw wrongCredentials();
    }
    attempt.wasRight();
    const entering = sql.begin(async (transaction) => {
      // What it may do is as it is now: hashing took a moment.
      const now = await findPerson(transaction, person.id);
      if (now === null || (await findPasswordHash(transaction, person.id)) !== hash) return null;
      requireEnterable(now);
      if (rehashed !== null) {
        await rehashPassword(transaction, person.id, { before: hash, after: rehashed });
      }
      const begun = { person: now, kind: 'app', method: 'password', asker } as const;
      return { now, session: await beginSession(transaction, services, begun) };
    });
    const entered = await withDeadline(entering);
    if (entered === null) throw wrongCredentials();
    return appSessionReply(200, entered.now, entered.session);
  },
});

interface Found {
  person: Person | null;
  hash: string | null;
  isKnownPlace: boolean;
}

/** As many queries for an address that nobody has. */
async function find(sql: Queryable, address: string, { places }: Asker): Promise<Found> {
  const owner = await findOwner(sql, address);
  const typed = await findNewestTyped(sql, address);
  const person = owner ?? typed;
  const id = person?.id ?? '';
  const shown = [places.network, places.browser].filter((place) => place !== null);
  const known = await findKnownPlaces(sql, id, shown);
  return { person, hash: await findPasswordHash(sql, id), isKnownPlace: known.size > 0 };
}
