// Sends a one-time code, or does as much work where there is nobody to send it to: what is answered
// tells nothing of the address. The mail is a row of the same transaction, and leaves after it.

import { findKnownPlaces } from '../../db/accounts/known-places.ts';
import { findOwner, type Person } from '../../db/accounts/person.ts';
import {
  addCode,
  type Challenge,
  type CodeAim,
  lockAccountChallenge,
  lockAddress,
  lockChallenge,
  lockNetwork,
  sendingRefusedFor,
  wasToldOfNoAccount,
} from '../../db/challenges.ts';
import { type Queryable, type Sql, type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Sealer } from '../../runtime/seal.ts';
import type { Mail, MailServices } from '../mail/services.ts';
import { codeDigest, newCode, type Places, payersOf, sendingRules } from './codes.ts';
import type { IdentityLimits } from './limits.ts';
import type { CountIdentity } from './metrics.ts';

/** What sending a code needs of a shard's services. */
export interface SendingServices {
  identity: { count: CountIdentity };
  limits: { readonly identity: IdentityLimits };
  mail: MailServices;
  sealer: Pick<Sealer, 'digest'>;
  sql: Sql;
  system: { readonly node: number };
}
type Needed = SendingServices;

export interface WantedCode {
  address: string;
  aim: CodeAim;
  /** The account that proves the address with it; null: none. */
  accountId: string | null;
  /** The challenge that the asker has already; one more code of it is sent if it is still open. */
  challengeId: string | null;
  places: Places;
  /** What is written, by who owns the address; null: nothing. */
  mailFor(owner: Person | null): CodeMail | null;
}

/** A code for a purpose in the words of its mail, or that there is no account. */
export type CodeMail = Extract<Mail, { template: 'code' }>['purpose'] | 'no_account';

/**
 * Sends one code within its bounds, and returns the id of its challenge.
 * @throws Problem dependency_unavailable, rate_limited
 */
export async function sendCode(services: Needed, wanted: WantedCode): Promise<string> {
  const { mail, sql } = services;
  if (!mail.isAvailable) {
    throw new Problem('dependency_unavailable', { message: 'Mail cannot be sent at the moment.' });
  }
  // A flood is refused here already: it must not keep connections waiting for the lock.
  await withDeadline(findPayer(sql, services, wanted));
  const sending = sql.begin((transaction) => sendWithin(transaction, services, wanted));
  const { challengeId, mailId } = await withDeadline(sending);
  if (mailId !== null) mail.send(mailId);
  services.identity.count('code_asked');
  return challengeId;
}

async function sendWithin(
  transaction: Transaction,
  services: Needed,
  wanted: WantedCode,
): Promise<{ challengeId: string; mailId: string | null }> {
  const { limits, sealer, system } = services;
  const { address, aim, accountId, places } = wanted;
  const { codes, guesses } = limits.identity;
  await lockAddress(transaction, address);
  await lockNetwork(transaction, places.network);
  const { owner, place } = await findPayer(transaction, services, wanted);
  const former = await openChallenge(transaction, wanted, guesses.challengeMax);
  const challengeId = former?.id ?? newId('otp', system.node);
  const code = newCode();
  const wasTold = await wasToldOfNoAccount(transaction, address);
  const due = wanted.mailFor(owner);
  const mail = due === 'no_account' && wasTold ? null : due;
  await addCode(transaction, {
    challengeId,
    isFirst: former === null,
    address,
    aim,
    accountId,
    digest: codeDigest(sealer, challengeId, code),
    network: places.network,
    place,
    mail: mail === null || mail === 'no_account' ? (mail ?? 'none') : 'code',
    lifetimeSeconds: codes.lifetimeSeconds,
  });
  const mailId = await writeMail(transaction, services, {
    address,
    accountId: accountId ?? owner?.id ?? null,
    code,
    mail,
  });
  return { challengeId, mailId };
}

/**
 * Who owns the address, and the place that pays for the code; null: it is new to the account.
 * @throws Problem rate_limited
 */
async function findPayer(
  sql: Queryable,
  { identity, limits }: Needed,
  { address, places }: WantedCode,
): Promise<{ owner: Person | null; place: string | null }> {
  const owner = await findOwner(sql, address);
  const { network, browser } = places;
  const shown = browser === null ? [network] : [network, browser];
  // Nobody's account knows no place, and is asked all the same.
  const known = await findKnownPlaces(sql, owner?.id ?? '', shown);
  const waits: number[] = [];
  for (const place of payersOf(places, known)) {
    const rules = sendingRules(place, limits.identity);
    const seconds = await sendingRefusedFor(sql, { address, network }, rules);
    if (seconds === null) return { owner, place };
    waits.push(seconds);
  }
  identity.count('code_refused');
  throw new Problem('rate_limited', {
    message: 'Too many codes were sent. Use the last one, or wait.',
    headers: { 'retry-after': `${Math.min(...waits)}` },
  });
}

/** The challenge that the code is added to; null: it makes a new one. */
async function openChallenge(
  transaction: Transaction,
  { address, aim, accountId, challengeId }: WantedCode,
  guessesMax: number,
): Promise<Challenge | null> {
  const former =
    accountId === null
      ? await lockChallenge(transaction, challengeId ?? '')
      : await lockAccountChallenge(transaction, accountId, aim);
  if (former === null || former.isOver || former.guesses >= guessesMax) return null;
  const isSame = former.address === address && former.aim === aim;
  return isSame && former.accountId === accountId ? former : null;
}

/** Writes the mail that is due; where none is, it is written too, and taken back. */
async function writeMail(
  transaction: Transaction,
  { mail: mails, limits }: Needed,
  due: { address: string; accountId: string | null; code: string; mail: CodeMail | null },
): Promise<string | null> {
  const { address, accountId, code, mail } = due;
  const { lifetimeSeconds } = limits.identity.codes;
  await transaction`SAVEPOINT mail`;
  const id = await mails.write(transaction, {
    to: address,
    accountId,
    expiresAt: mail === 'no_account' ? null : new Date(Date.now() + 1_000 * lifetimeSeconds),
    mail:
      mail === 'no_account'
        ? { template: 'no_account' }
        : { template: 'code', purpose: mail ?? 'sign_in', code, minutes: lifetimeSeconds / 60 },
  });
  if (mail !== null) {
    await transaction`RELEASE SAVEPOINT mail`;
    return id;
  }
  await transaction`ROLLBACK TO SAVEPOINT mail`;
  return null;
}
