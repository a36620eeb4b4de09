// A right code lets its person in, and makes the account where there is none. What is refused then
// is thrown in the transaction: nothing is written, and the code stays good.
import { tokenHash } from '../../actors/credentials/token.ts';
import { placesOf } from '../../actors/identity/codes.ts';
import {
  type Guessed,
  guessCode,
  invalidCode,
  refuseSpentGuess,
  useChallenge,
} from '../../actors/identity/guessing.ts';
import { findOwner, findPerson, type Person, proveAddress } from '../../db/accounts/person.ts';
import { type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { restoreAccount } from '../../db/erasure.ts';
import { endShownSession } from '../../db/sessions.ts';
import type { Problem } from '../../runtime/problem.ts';
import { tellChange } from '../credentials.ts';
import type { Services } from '../services.ts';
import { type Asker, browserOf } from './asker.ts';
import { auditDeed } from './audited.ts';
import { beginSession, requireEnterable } from './begin-session.ts';
import type { MadeSession } from './sign-in.ts';
import { type Newcomer, signUp } from './sign-up.ts';

type Needed = Pick<
  Services,
  'bus' | 'catalog' | 'identity' | 'limits' | 'sealer' | 'sql' | 'system'
>;

export interface Entering extends Newcomer {
  code: string;
  challengeId: string | null;
  restore: boolean;
  asker: Asker;
}

export interface Entered {
  person: Person;
  session: MadeSession;
  isCreated: boolean;
  /** For the cookie by which this browser is known from now on. */
  browser: string;
}

interface Written extends Entered {
  endedId: string | null;
  /** The account may do more than what shards remember of it. */
  isChanged: boolean;
}

/** @throws Problem unauthenticated, rate_limited, invalid_request, forbidden */
export async function enterByCode(services: Needed, entering: Entering): Promise<Entered> {
  const { bus, sql } = services;
  const { address, challengeId, asker } = entering;
  const cookieChallengeId = asker.cookies.challenge;
  const guessed = { aim: 'sign_in', address, challengeId, cookieChallengeId } as const;
  await refuseSpentGuess(sql, services, guessed);
  const entered = sql.begin(
    async (transaction) => await enterWithin(transaction, services, entering, guessed),
  );
  const outcome = await withDeadline(entered);
  if ('problem' in outcome) throw outcome.problem;
  const { endedId, isChanged, person } = outcome;
  if (endedId !== null) await tellChange(bus, [endedId], { isWithdrawn: true });
  if (isChanged) await tellChange(bus, [person.id], { isWithdrawn: false });
  return outcome;
}

async function enterWithin(
  transaction: Transaction,
  services: Needed,
  entering: Entering,
  guessed: Guessed,
): Promise<Written | { problem: Problem }> {
  const { address, code, asker } = entering;
  const guess = await guessCode(transaction, services, guessed, code);
  if (!guess.isRight) return guess;
  const found = await findOwner(transaction, address);
  const isCreated = found === null && (await signUp(transaction, services, entering));
  const owner = found ?? (await findOwner(transaction, address));
  const { person, isChanged } = await admit(transaction, services, owner, entering);
  if (!(await useChallenge(transaction, services, guess.challengeId))) throw invalidCode();
  const browser = await browserOf(transaction, asker, person.id);
  const places = placesOf(services.sealer, { network: asker.network, browser });
  const session = await beginSession(transaction, services, {
    person,
    kind: 'browser',
    method: 'otp',
    asker: { client: asker.client, places },
  });
  const shown = asker.cookies.session;
  const endedId = shown === null ? null : await endShownSession(transaction, tokenHash(shown));
  return { person, session, isCreated, browser, endedId, isChanged };
}

/** The account that has the address may be entered, and has proved it from now on. */
async function admit(
  transaction: Transaction,
  { system }: Needed,
  owner: Person | null,
  { address, restore }: Entering,
): Promise<{ person: Person; isChanged: boolean }> {
  // Somebody had it when the account was to be made, and has lost it since.
  if (owner === null) throw invalidCode();
  const { id: accountId } = owner;
  let isChanged = false;
  if (restore && owner.status === 'deleting') {
    isChanged = await restoreAccount(transaction, accountId);
    if (isChanged)
      await auditDeed(transaction, system.node, { accountId, action: 'account.restore' });
  }
  if (owner.emailVerifiedAt === null) {
    await proveAddress(transaction, accountId, address);
    await auditDeed(transaction, system.node, { accountId, action: 'address.verify' });
    isChanged = true;
  }
  const person = isChanged ? ((await findPerson(transaction, accountId)) ?? owner) : owner;
  requireEnterable(person);
  return { person, isChanged };
}
