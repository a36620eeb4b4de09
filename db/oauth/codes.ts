// Codes on their way from the approval to the app: the first who shows one uses it up.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';
import {
  type Granted,
  type GrantedRow,
  grantedColumns,
  grantParts,
  type NewGrant,
  readGranted,
} from './grant.ts';

/** What an app shows with a code. */
export interface ShownCode {
  codeHash: Uint8Array;
  client: string;
  redirectUri: string;
  /** S256 of the verifier that it sent. */
  challenge: string;
}

/**
 * Uses a code up, and grants what it is good for if it was shown by whom it was made for. Null:
 * there is no such code, it is over, or it was shown wrongly, and is used up now.
 */
export async function redeemCode(
  sql: Queryable,
  shown: ShownCode,
  grant: NewGrant,
): Promise<Granted | null> {
  const { codeHash, client, redirectUri, challenge } = shown;
  const [row] = await sql<GrantedRow[]>`
    WITH spent AS (
      UPDATE oauth_codes c SET redeemed_at = now(), authorization_id = CASE WHEN
        c.client = ${client} AND c.redirect_uri = ${redirectUri} AND c.challenge = ${challenge}
        AND c.scopes && ${arrayLiteral(grant.allowed)}::text[]
        AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = c.account_id
          AND a.disabled_at IS NULL AND a.deleting_at IS NULL)
        THEN ${grant.authorizationId}::text END
      WHERE c.code_hash = ${codeHash} AND c.redeemed_at IS NULL AND c.expires_at > now()
      RETURNING authorization_id AS id, account_id, client, scopes, method, authenticated_at,
        created_at AS approved_at),
    ${grantParts(sql, grant, 'authorization_code')}
    SELECT ${grantedColumns(sql)} FROM pair`;
  return readGranted(row);
}

/** What the first redemption of a code got; null: nothing, or there is no such code. */
export async function findRedemption(
  sql: Queryable,
  codeHash: Uint8Array,
): Promise<{ authorizationId: string; accountId: string; client: string } | null> {
  const [row] = await sql<{ authorization_id: string; account_id: string; client: string }[]>`
    SELECT authorization_id, account_id, client FROM oauth_codes
    WHERE code_hash = ${codeHash} AND authorization_id IS NOT NULL`;
  if (row === undefined) return null;
  const { authorization_id: authorizationId, account_id: accountId, client } = row;
  return { authorizationId, accountId, client };
}
