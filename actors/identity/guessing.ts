// One guess at a code. A wrong one is counted in its transaction, before it is answered. So neither
// many at once nor a crash gives more of them than there are.
import { strict as assert } from 'node:assert';
import {
  type Challenge,
  type CodeAim,
  countGuess,
  countUnnamedGuess,
  findChallenge,
  findCodes,
  findNewestCodes,
  finishChallenge,
  guessesRefusedFor,
  lockAccountChallenge,
  lockAddress,
  lockChallenge,
  type OpenCode,
} from '../../db/challenges.ts';
import { type Queryable, type Transaction, withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { codeDigest, isSameDigest, unnamedGuessRates } from './codes.ts';
import type { IdentityLimits } from './limits.ts';
import type { CountIdentity } from './metrics.ts';

/** What a guess needs of a shard's services. */
export interface GuessServices {
  identity: { count: CountIdentity };
  limits: { readonly identity: IdentityLimits };
  sealer: Pick<Sealer, 'digest'>;
}
type Needed = GuessServices;

/** For what a code is guessed. */
export type Guessed =
  | {
      aim: Extract<CodeAim, 'sign_in' | 'reset'>;
      address: string;
      /** As the body names it: this one and no other. */
      challengeId: string | null;
      /** As the cookie names it: left out where it is one of something else. */
      cookieChallengeId: string | null;
    }
  | { aim: Extract<CodeAim, 'verify' | 'change'>; accountId: string };

/** What a guess came to. A refusal is thrown after the commit, which has counted the guess. */
export type Guess =
  | { isRight: true; challengeId: string; address: string }
  | { isRight: false; problem: Problem };

/**
 * Refuses a guess that is over its budget, and is called before the transaction: a flood must not
 * keep connections waiting for a lock. What passes is judged again under the lock.
 * @throws Problem rate_limited
 */
export async function refuseSpentGuess(
  sql: Queryable,
  { identity, limits }: Needed,
  { address, aim, challengeId, cookieChallengeId }: Extract<Guessed, { address: string }>,
): Promise<void> {
  const { guesses } = limits.identity;
  const named = await withDeadline(findChallenge(sql, challengeId ?? cookieChallengeId ?? ''));
  const isMeant = named !== null && named.address === address && named.aim === aim;
  let seconds: number | null = null;
  if (challengeId === null && !isMeant) {
    const rates = unnamedGuessRates(limits.identity);
    seconds = await withDeadline(guessesRefusedFor(sql, address, rates));
  } else if (isMeant && !named.isOver && named.guesses >= guesses.challengeMax) {
    seconds = named.leftSeconds;
  }
  if (seconds === null) return;
  identity.count('guess_refused');
  throw tooManyGuesses(seconds);
}

/** Checks the code, and counts it if it is wrong. A right one is not used up by this. */
export async function guessCode(
  transaction: Transaction,
  services: Needed,
  guessed: Guessed,
  code: string,
): Promise<Guess> {
  const guess = await judgeGuess(transaction, services, guessed, code);
  const isRefused = !guess.isRight && guess.problem.code === 'rate_limited';
  const wrong = isRefused ? 'guess_refused' : 'code_wrong';
  services.identity.count(guess.isRight ? 'code_right' : wrong);
  return guess;
}

async function judgeGuess(
  transaction: Transaction,
  services: Needed,
  guessed: Guessed,
  code: string,
): Promise<Guess> {
  if ('accountId' in guessed) {
    const { accountId, aim } = guessed;
    const challenge = await lockAccountChallenge(transaction, accountId, aim);
    return await guessAt(transaction, services, challenge, code);
  }
  const { address, aim, challengeId, cookieChallengeId } = guessed;
  const named = await lockChallenge(transaction, challengeId ?? cookieChallengeId ?? '');
  const isMeant = named !== null && named.address === address && named.aim === aim;
  if (challengeId !== null || isMeant) {
    return await guessAt(transaction, services, isMeant ? named : null, code);
  }
  return await guessUnnamed(transaction, services, { address, aim }, code);
}

/** Uses up the challenge of a right guess; false: somebody with the same code was quicker. */
export function useChallenge(
  transaction: Transaction,
  { limits }: Pick<Needed, 'limits'>,
  challengeId: string,
): Promise<boolean> {
  return finishChallenge(transaction, challengeId, limits.identity.guesses.challengeMax);
}

/** Wrong, used, expired, or none: nobody is told which. */
export function invalidCode(): Problem {
  return new Problem('unauthenticated', {
    message: 'The code is wrong, was used, or has expired.',
    details: { reason: 'invalid_code' },
  });
}

function tooManyGuesses(seconds: number): Problem {
  return new Problem('rate_limited', {
    message: 'Too many wrong codes. Ask for a new one.',
    headers: { 'retry-after': `${seconds}` },
  });
}

async function guessAt(
  transaction: Transaction,
  services: Needed,
  challenge: Challenge | null,
  code: string,
): Promise<Guess> {
  if (challenge === null || challenge.isOver) return { isRight: false, problem: invalidCode() };
  if (challenge.guesses >= services.limits.identity.guesses.challengeMax) {
    return { isRight: false, problem: tooManyGuesses(challenge.leftSeconds) };
  }
  const codes = await findCodes(transaction, challenge.id);
  const right = matchOf(services, codes, code);
  if (right !== null) return { isRight: true, challengeId: right, address: challenge.address };
  await countGuess(transaction, challenge.id);
  return { isRight: false, problem: invalidCode() };
}

async function guessUnnamed(
  transaction: Transaction,
  services: Needed,
  { address, aim }: { address: string; aim: CodeAim },
  code: string,
): Promise<Guess> {
  const { identity } = services.limits;
  await lockAddress(transaction, address);
  const seconds = await guessesRefusedFor(transaction, address, unnamedGuessRates(identity));
  if (seconds !== null) return { isRight: false, problem: tooManyGuesses(seconds) };
  const { challengeMax } = identity.guesses;
  const codes = await findNewestCodes(transaction, address, aim, challengeMax);
  const right = matchOf(services, codes, code);
  if (right !== null) return { isRight: true, challengeId: right, address };
  await countUnnamedGuess(transaction, address);
  return { isRight: false, problem: invalidCode() };
}

/** The challenge of the code that was guessed; each is compared, whichever it is. */
function matchOf({ sealer }: Needed, codes: readonly OpenCode[], code: string): string | null {
  assert(codes.length <= 2, 'a guess is at two codes at most');
  const right = codes.filter(({ challengeId, digest }) =>
    isSameDigest(codeDigest(sealer, challengeId, code), digest),
  );
  return right[0]?.challengeId ?? null;
}
