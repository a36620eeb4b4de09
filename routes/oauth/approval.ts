// What an approval writes: the code that the app redeems, and the event of who decided.
import * as v from 'valibot';
import { newToken, tokenHash } from '../../actors/credentials/token.ts';
import type { OAuthLimits } from '../../actors/oauth/limits.ts';
import type { Asked } from '../../actors/oauth/request.ts';
import type { NewAuditEvent } from '../../db/audit-events.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { type Approval, issueCode } from '../../db/oauth.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { UserCaller } from '../services.ts';

export const decisionSchema = v.picklist(['approve', 'deny']);
export type Decision = v.InferOutput<typeof decisionSchema>;

/** What the person lets the client do, and how it is signed in while it does. */
export function approvalOf(
  { accountId, signedIn }: Pick<UserCaller, 'accountId' | 'signedIn'>,
  client: string,
  scopes: readonly string[],
): Approval {
  const { id: sessionId, method, authenticatedAtMs } = signedIn;
  const authenticatedAt = new Date(authenticatedAtMs);
  return { accountId, client, scopes, sessionId, method, authenticatedAt };
}

/** A new code, which the app is told by the redirect and nobody else; null: the session ended. */
export async function newCode(
  sql: Queryable,
  { redirectUri, challenge }: Asked,
  approval: Approval,
  { codeSeconds }: Pick<OAuthLimits, 'codeSeconds'>,
): Promise<string | null> {
  const code = newToken('code');
  const expiresAt = new Date(Date.now() + codeSeconds * 1_000);
  const issued = { codeHash: tokenHash(code), approval, redirectUri, challenge, expiresAt };
  return (await issueCode(sql, issued)) ? code : null;
}

/** Who let which client do what, or did not. */
export function decisionEvent(
  node: number,
  { accountId, client, scopes }: Pick<Approval, 'accountId' | 'client' | 'scopes'>,
  decision: Decision,
  by: 'page' | 'device',
): NewAuditEvent {
  return {
    id: newAuditId(node),
    accountId,
    actor: accountId,
    action: `oauth.${decision}`,
    subject: `oauth_client:${client}`,
    details: { scopes: [...scopes], by },
  };
}
