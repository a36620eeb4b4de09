// Ends what a request was signed in with, with the event that says so. It works on no shard any
// more when this resolves.

import { revokeAccessToken } from '../../db/authorizations.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { endSession } from '../../db/sessions.ts';
import { tellChange, tokenId } from '../credentials.ts';
import type { Services, UserCaller } from '../services.ts';
import { auditDeed } from './audited.ts';

/** A session ends; of an app the access token that it showed, and its refresh token does not. */
export async function signOut(
  { bus, sql, system }: Pick<Services, 'bus' | 'sql' | 'system'>,
  { accountId, signedIn }: Pick<UserCaller, 'accountId' | 'signedIn'>,
): Promise<void> {
  const { client, id } = signedIn;
  const ending = sql.begin(async (transaction) => {
    const hasEnded =
      client === null
        ? (await endSession(transaction, accountId, id)) !== null
        : await revokeAccessToken(transaction, client.tokenHash);
    if (!hasEnded) return;
    await auditDeed(transaction, system.node, {
      accountId,
      action: client === null ? 'session.end' : 'token.revoke',
      subject: client === null ? `session:${id}` : `authorization:${id}`,
    });
  });
  await withDeadline(ending);
  const ended = client === null ? id : tokenId(client.tokenHash);
  await tellChange(bus, [ended], { isWithdrawn: true });
}
