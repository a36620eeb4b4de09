// What of tokens ends before its time.
import type { Queryable } from '../driver/sql.ts';

/** A token as whoever may revoke it sees it. */
export interface IssuedToken {
  kind: 'access' | 'refresh';
  authorizationId: string;
  accountId: string;
  client: string;
}

type Row = { kind: IssuedToken['kind']; id: string; account_id: string; client: string };

/** The token of a hash, whether it is good or over; null: there is none. */
export async function findToken(
  sql: Queryable,
  tokenHash: Uint8Array,
): Promise<IssuedToken | null> {
  const [row] = await sql<Row[]>`
    SELECT t.kind, o.id, o.account_id, o.client
    FROM oauth_tokens t JOIN oauth_authorizations o ON o.id = t.authorization_id
    WHERE t.token_hash = ${tokenHash}`;
  if (row === undefined) return null;
  const { kind, id: authorizationId, account_id: accountId, client } = row;
  return { kind, authorizationId, accountId, client };
}

/** Ends one access token. Its refresh token stays good. */
export async function revokeAccessToken(sql: Queryable, tokenHash: Uint8Array): Promise<void> {
  await sql`
    UPDATE oauth_tokens SET revoked_at = now()
    WHERE token_hash = ${tokenHash} AND kind = 'access' AND revoked_at IS NULL`;
}
