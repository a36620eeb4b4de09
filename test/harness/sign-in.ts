// Sessions and access tokens of an account, made directly in the database: for tests of what they
// do, not of how people get them.
import { newToken, tokenHash } from '../../actors/credentials/token.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { createSession, type SessionKind } from '../../db/sessions.ts';
import { newId } from '../../runtime/ids.ts';

const hourMs = 3_600_000;

/** The token of a new session of the kind. */
export async function makeSession(
  sql: Sql,
  accountId: string,
  kind: SessionKind,
  endsInMs = hourMs,
): Promise<string> {
  const token = newToken(kind);
  const expiresAt = new Date(Date.now() + endsInMs);
  const session = { tokenHash: tokenHash(token), accountId, expiresAt, kind };
  await createSession(sql, { ...session, method: 'otp' });
  return token;
}

export interface MadeAccess {
  token: string;
  authorizationId: string;
}

/** A new authorization of `svc-cli` with one access token. */
export async function makeAccess(
  sql: Sql,
  accountId: string,
  scopes: readonly string[],
  endsInMs = hourMs,
): Promise<MadeAccess> {
  const token = newToken('access');
  const authorizationId = newId('auth', 0);
  const endsAt = new Date(Date.now() + endsInMs);
  await sql`
    INSERT INTO oauth_authorizations
      (id, account_id, client, scopes, method, authenticated_at, expires_at)
    VALUES (${authorizationId}, ${accountId}, 'svc-cli', ${`{${scopes.join(',')}}`}::text::text[],
      'otp', now(), now() + interval '1 day')`;
  await sql`
    INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at)
    VALUES (${tokenHash(token)}, ${authorizationId}, 'access', ${endsAt})`;
  return { token, authorizationId };
}
