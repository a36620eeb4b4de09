// Challenges, the codes that were sent for them, and guesses at them. What was sent and guessed is
// counted here and nowhere else: the counts outlive the process, and are exact at any concurrency.
import type { Queryable, Transaction } from './driver/sql.ts';

/** What a code is good for. The last two are of one account, which proves an address with it. */
export type CodeAim = 'sign_in' | 'reset' | 'verify' | 'change';
export type MailedAs = 'code' | 'no_account' | 'none';

export interface Challenge {
  /** `otp_…` */
  id: string;
  address: string;
  aim: CodeAim;
  accountId: string | null;
  guesses: number;
  /** It was used, or its newest code has expired. */
  isOver: boolean;
  /** Until its newest code expires. */
  leftSeconds: number;
}

type Row = {
  id: string;
  address: string;
  aim: CodeAim;
  account_id: string | null;
  guesses: number;
  is_over: boolean;
  left_seconds: number;
};

function readChallenge(row: Row): Challenge {
  return {
    id: row.id,
    address: row.address,
    aim: row.aim,
    accountId: row.account_id,
    guesses: row.guesses,
    isOver: row.is_over,
    leftSeconds: row.left_seconds,
  };
}

function columns(sql: Queryable) {
  return sql`id, address, aim, account_id, guesses,
    (used_at IS NOT NULL OR expires_at <= now()) AS is_over,
    greatest(1, ceil(extract(epoch FROM expires_at - now())))::integer AS left_seconds`;
}

/** Whoever sends to the address or guesses without a challenge waits for others that do. */
export async function lockAddress(transaction: Transaction, address: string): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(hashtextextended(${`codes:${address}`}, 0))`;
}

/** Behind `lockAddress`, never before it: so no two wait for each other. */
export async function lockNetwork(transaction: Transaction, network: string): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(hashtextextended(${`network:${network}`}, 0))`;
}

/** The challenge, which nobody else guesses at until the transaction ends; null: unknown. */
export async function lockChallenge(
  transaction: Transaction,
  id: string,
): Promise<Challenge | null> {
  const [row] = await transaction<Row[]>`
    SELECT ${columns(transaction)} FROM challenges WHERE id = ${id} FOR UPDATE`;
  return row === undefined ? null : readChallenge(row);
}

/** The same without waiting for anybody who guesses at it. */
export async function findChallenge(sql: Queryable, id: string): Promise<Challenge | null> {
  const [row] = await sql<Row[]>`SELECT ${columns(sql)} FROM challenges WHERE id = ${id}`;
  return row === undefined ? null : readChallenge(row);
}

/** The newest challenge of an account that is not over, locked likewise. */
export async function lockAccountChallenge(
  transaction: Transaction,
  accountId: string,
  aim: CodeAim,
): Promise<Challenge | null> {
  const [row] = await transaction<Row[]>`
    SELECT ${columns(transaction)} FROM challenges
    WHERE account_id = ${accountId} AND aim = ${aim} AND used_at IS NULL AND expires_at > now()
    ORDER BY id DESC LIMIT 1 FOR UPDATE`;
  return row === undefined ? null : readChallenge(row);
}

export interface NewCode {
  challengeId: string;
  /** False: it is one more code of a challenge that there is. */
  isFirst: boolean;
  address: string;
  aim: CodeAim;
  accountId: string | null;
  digest: string;
  network: string;
  place: string | null;
  mail: MailedAs;
  lifetimeSeconds: number;
}

export async function addCode(transaction: Transaction, code: NewCode): Promise<void> {
  const { challengeId, address, aim, accountId, digest, network, place, mail } = code;
  const expiresAt = transaction`now() + make_interval(secs => ${code.lifetimeSeconds}::float8)`;
  if (code.isFirst) {
    await transaction`
      INSERT INTO challenges (id, address, aim, account_id, expires_at)
      VALUES (${challengeId}, ${address}, ${aim}, ${accountId}, ${expiresAt})`;
  } else {
    await transaction`
      UPDATE challenges SET expires_at = ${expiresAt} WHERE id = ${challengeId}`;
  }
  await transaction`
    INSERT INTO codes (challenge_id, address, digest, expires_at, network, place, mail)
    VALUES (${challengeId}, ${address}, ${digest}, ${expiresAt}, ${network}, ${place}, ${mail})`;
}

/** Whether the address was told within a day that it has no account. */
export async function wasToldOfNoAccount(sql: Queryable, address: string): Promise<boolean> {
  const rows = await sql`
    SELECT FROM codes WHERE address = ${address} AND mail = 'no_account'
      AND created_at > now() - interval '1 day' LIMIT 1`;
  return rows.length > 0;
}

export interface OpenCode {
  challengeId: string;
  digest: string;
}

type CodeRow = { challenge_id: string; digest: string };

const readCode = (row: CodeRow): OpenCode => ({
  challengeId: row.challenge_id,
  digest: row.digest,
});

/** The two newest codes of a challenge that have not expired. */
export async function findCodes(sql: Queryable, challengeId: string): Promise<OpenCode[]> {
  const rows = await sql<CodeRow[]>`
    SELECT challenge_id, digest FROM (
      SELECT challenge_id, digest, expires_at, id FROM codes
      WHERE challenge_id = ${challengeId} ORDER BY id DESC LIMIT 2) c
    WHERE expires_at > now() ORDER BY id DESC`;
  return rows.map(readCode);
}

/** The two newest codes of challenges to the address that are open, whoever asked for them. */
export async function findNewestCodes(
  sql: Queryable,
  address: string,
  aim: CodeAim,
  guessesMax: number,
): Promise<OpenCode[]> {
  const rows = await sql<CodeRow[]>`
    SELECT c.challenge_id, c.digest FROM codes c JOIN challenges h ON h.id = c.challenge_id
    WHERE c.address = ${address} AND c.created_at > now() - interval '1 hour'
      AND c.expires_at > now() AND h.aim = ${aim} AND h.used_at IS NULL
      AND h.guesses < ${guessesMax}
    ORDER BY c.id DESC LIMIT 2`;
  return rows.map(readCode);
}

/** Counts a wrong guess of a locked challenge. */
export async function countGuess(transaction: Transaction, challengeId: string): Promise<void> {
  await transaction`UPDATE challenges SET guesses = guesses + 1 WHERE id = ${challengeId}`;
}

/** Counts a wrong guess for an address that named no challenge. */
export async function countUnnamedGuess(transaction: Transaction, address: string): Promise<void> {
  await transaction`INSERT INTO code_guesses (address) VALUES (${address})`;
}

/** Uses the challenge up; false: somebody was quicker, or its guesses are spent. */
export async function finishChallenge(
  transaction: Transaction,
  challengeId: string,
  guessesMax: number,
): Promise<boolean> {
  const rows = await transaction`
    UPDATE challenges SET used_at = now()
    WHERE id = ${challengeId} AND used_at IS NULL AND guesses < ${guessesMax} RETURNING 1`;
  return rows.length > 0;
}

/** So many within so long. */
export interface Rate {
  max: number;
  seconds: number;
}

/** For how many seconds no further guess without a challenge is taken; null: one is. */
export async function guessesRefusedFor(
  sql: Queryable,
  address: string,
  rates: readonly Rate[],
): Promise<number | null> {
  const waits = rates.map(
    ({ max, seconds }) => sql`(
      SELECT ${leftSeconds(sql, seconds)} FROM code_guesses
      WHERE address = ${address} AND ${isWithin(sql, seconds)}
      ORDER BY created_at DESC OFFSET ${max - 1} LIMIT 1)`,
  );
  return await longestOf(sql, waits);
}

export type SendingRule =
  /** To the address, for challenges that are open; from all, or from one place known to it. */
  | (Rate & { of: 'open'; place: string | null })
  /** To the address, from one network that is new to it. */
  | (Rate & { of: 'new-network' })
  /** To the address, from all that are new to it. */
  | (Rate & { of: 'new' })
  /** To the address, from one place known to it. */
  | (Rate & { of: 'place'; place: string })
  /** From the network, to whomever. */
  | (Rate & { of: 'network' });

/** For how many seconds no code may be sent; null: one may. */
export async function sendingRefusedFor(
  sql: Queryable,
  { address, network }: { address: string; network: string },
  rules: readonly SendingRule[],
): Promise<number | null> {
  const waits = rules.map(
    (rule) => sql`(
      SELECT ${leftSeconds(sql, rule.seconds)} FROM codes
      WHERE ${conditionOf(sql, rule, address, network)} AND ${isWithin(sql, rule.seconds)}
      ORDER BY created_at DESC OFFSET ${rule.max - 1} LIMIT 1)`,
  );
  return await longestOf(sql, waits);
}

type Fragment = ReturnType<typeof isWithin>;

/** The longest of waits that are one row each, or none; null: there is nothing to wait for. */
async function longestOf(sql: Queryable, waits: readonly Fragment[]): Promise<number | null> {
  const all = waits.reduce((some, wait) => sql`${some} UNION ALL ${wait}`);
  const [row] = await sql<{ left: number | null }[]>`
    SELECT max(seconds_left) AS left FROM (${all}) w`;
  return row?.left ?? null;
}

function conditionOf(sql: Queryable, rule: SendingRule, address: string, network: string) {
  switch (rule.of) {
    case 'open':
      return sql`address = ${address}
        AND (${rule.place}::text IS NULL OR place = ${rule.place}::text) AND EXISTS (
          SELECT FROM challenges h WHERE h.id = codes.challenge_id AND h.used_at IS NULL
            AND h.expires_at > now())`;
    case 'new-network':
      return sql`address = ${address} AND network = ${network} AND place IS NULL`;
    case 'new':
      return sql`address = ${address} AND place IS NULL`;
    case 'place':
      return sql`address = ${address} AND place = ${rule.place}`;
    case 'network':
      return sql`network = ${network}`;
  }
}

function isWithin(sql: Queryable, seconds: number) {
  return sql`created_at > now() - make_interval(secs => ${seconds}::float8)`;
}

function leftSeconds(sql: Queryable, seconds: number) {
  return sql`greatest(1, ceil(${seconds}::float8 - extract(epoch FROM now() - created_at)))::integer
    AS seconds_left`;
}

/** Forgets challenges with their codes, and guesses, of over a day ago; returns how many. */
export async function sweepChallenges(sql: Queryable, limit: number): Promise<number> {
  const challenges = await sql`
    DELETE FROM challenges WHERE id IN (
      SELECT id FROM challenges WHERE expires_at < now() - interval '1 day'
      ORDER BY expires_at LIMIT ${limit})`;
  const guesses = await sql`
    DELETE FROM code_guesses WHERE id IN (
      SELECT id FROM code_guesses WHERE created_at < now() - interval '1 day'
      ORDER BY created_at LIMIT ${limit})`;
  return Math.max(challenges.count, guesses.count);
}
