// The grant `authorization_code` (RFC 6749, section 4.1.3, and RFC 7636, section 4.5). The first
// who shows a code uses it up, whatever is wrong beside it; the second ends what the first one got.
import { isToken, tokenHash } from '../../actors/credentials/token.ts';
import { challengeOf } from '../../actors/oauth/pkce.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findRedemption, redeemCode } from '../../db/oauth/codes.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { cutOff } from './cut-off.ts';
import { newGrant, requireField, type TokenRequest } from './grant.ts';
import { oauthProblem } from './problems.ts';
import { tokenReply } from './reply.ts';

export async function redeemCodeGrant(request: TokenRequest): Promise<Reply> {
  const { form, client, services, failed } = request;
  const code = requireField(form, 'code');
  const redirectUri = requireField(form, 'redirect_uri');
  const challenge = challengeOf(requireField(form, 'code_verifier')) ?? '';
  const invalid = () =>
    failed(
      oauthProblem('invalid_grant', 'The code is unknown, used, expired, or of another request.'),
    );
  if (!isToken('code', code)) throw invalid();
  const codeHash = tokenHash(code);
  const shown = { codeHash, client: client.id, redirectUri, challenge };
  const { pair, grant } = newGrant(client, services);
  const granted = await withDeadline(redeemCode(services.sql, shown, grant));
  if (granted !== null) return tokenReply(pair, granted);
  const redemption = await withDeadline(findRedemption(services.sql, codeHash));
  if (redemption !== null) await cutOff(services, redemption, 'code_replay');
  throw invalid();
}
