// People of the benches are made in the database. Each has a wallet, a key, a session of either
// kind, and an app that may act for it.
import {
  displayPrefix,
  newKeyToken,
  newToken,
  tokenHash,
} from '../../../actors/credentials/token.ts';
import { arrayLiteral } from '../../../db/driver/array.ts';
import type { Queryable } from '../../../db/driver/sql.ts';
import { hashPassword } from '../../../media/password/hashing.ts';
import { newId } from '../../../runtime/ids.ts';

export interface BenchPerson {
  accountId: string;
  /** Its own: it is proved. */
  email: string;
  /** With every scope that a bench asks for. */
  key: string;
  browser: string;
  app: string;
  access: string;
}

export const PASSWORD = 'lantern over the quiet harbour';
const SCOPES = ['voice:session'];
/** It is there from the start, without a secret. */
export const CLIENT = 'svc-cli';
export const CLIENT_SCOPES = ['app', 'profile', 'offline_access'] as const;
const CHUNK = 5_000;

/** Many people, each with one of each credential. */
export async function makePeople(sql: Queryable, count: number): Promise<BenchPerson[]> {
  const people: BenchPerson[] = [];
  while (people.length < count) {
    people.push(...(await makeSome(sql, Math.min(CHUNK, count - people.length))));
  }
  return people;
}

function hashList(tokens: readonly string[]): string {
  return arrayLiteral(tokens.map((token) => `\\x${tokenHash(token).toString('hex')}`));
}

async function makeSome(sql: Queryable, count: number): Promise<BenchPerson[]> {
  const ids = Array.from({ length: count }, () => newId('acc', 0));
  const people = ids.map((accountId) => ({
    accountId,
    email: `${accountId}@bench.test`,
    key: newKeyToken('live'),
    browser: newToken('browser'),
    app: newToken('app'),
    access: newToken('access'),
  }));
  const list = (of: (person: BenchPerson) => string): string => arrayLiteral(people.map(of));
  const hashes = (of: (person: BenchPerson) => string): string => hashList(people.map(of));
  const accounts = list(({ accountId }) => accountId);
  await sql`
    WITH made AS (
      INSERT INTO accounts (id, email, email_owned, email_verified_at)
      SELECT id, email, true, now()
      FROM unnest(${accounts}::text[], ${list(({ email }) => email)}::text[]) AS a (id, email)
      RETURNING id)
    INSERT INTO wallets (id, account_id) SELECT 'wal' || substr(id, 4), id FROM made`;
  await sql`
    INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash, prefix,
      requests_per_minute, concurrency_max)
    SELECT 'key' || substr(id, 4), id, 'wal' || substr(id, 4), 'bench', 'live',
      ${arrayLiteral(SCOPES)}::text[], hash, prefix, 600, 64
    FROM unnest(${accounts}::text[], ${hashes(({ key }) => key)}::bytea[],
      ${list(({ key }) => displayPrefix(key))}::text[]) AS k (id, hash, prefix)`;
  for (const kind of ['browser', 'app'] as const) {
    await sql`
      INSERT INTO sessions (token_hash, account_id, kind, method, expires_at)
      SELECT hash, id, ${kind}, 'otp', now() + interval '1 day'
      FROM unnest(${accounts}::text[], ${hashes((person) => person[kind])}::bytea[])
        AS s (id, hash)`;
  }
  await sql`
    WITH authorized AS (
      INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
        expires_at)
      SELECT 'auth' || substr(id, 4), id, ${CLIENT}, ${arrayLiteral(CLIENT_SCOPES)}::text[],
        'otp', now(), now() + interval '1 day'
      FROM unnest(${accounts}::text[]) AS a (id) RETURNING id)
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    SELECT hash, 'auth' || substr(id, 4), 'access', now() + interval '1 hour'
    FROM unnest(${accounts}::text[], ${hashes(({ access }) => access)}::bytea[]) AS t (id, hash)`;
  return people;
}

/** All of them get the same password; returns its hash. */
export async function givePassword(
  sql: Queryable,
  people: readonly BenchPerson[],
): Promise<string> {
  const hash = hashPassword(PASSWORD);
  const ids = arrayLiteral(people.map(({ accountId }) => accountId));
  await sql`
    INSERT INTO account_passwords (account_id, hash)
    SELECT id, ${hash} FROM unnest(${ids}::text[]) AS a (id)`;
  return hash;
}

/** Refresh tokens of one person, each of an authorization of its own. */
export async function makeRefreshTokens(sql: Queryable, count: number): Promise<string[]> {
  const [person] = await makePeople(sql, 1);
  if (person === undefined) throw new Error('nobody was made');
  const tokens = Array.from({ length: count }, () => newToken('refresh'));
  const ids = tokens.map(() => newId('auth', 0));
  await sql`
    INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
      expires_at)
    SELECT id, ${person.accountId}, ${CLIENT}, ${arrayLiteral(CLIENT_SCOPES)}::text[], 'otp', now(),
      now() + interval '1 day'
    FROM unnest(${arrayLiteral(ids)}::text[]) AS a (id)`;
  await sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    SELECT hash, id, 'refresh', now() + interval '1 day'
    FROM unnest(${arrayLiteral(ids)}::text[], ${hashList(tokens)}::bytea[]) AS t (id, hash)`;
  return tokens;
}

/** A session of an app for each of the accounts, without a limit that a bench would meet. */
export async function signIn(sql: Queryable, accountIds: readonly string[]): Promise<string[]> {
  const tokens = accountIds.map(() => newToken('app'));
  await sql`
    INSERT INTO sessions (token_hash, account_id, kind, method, expires_at, requests_per_minute)
    SELECT hash, id, 'app', 'password', now() + interval '1 day', 1000000
    FROM unnest(${arrayLiteral(accountIds)}::text[], ${hashList(tokens)}::bytea[]) AS s (id, hash)`;
  return tokens;
}
