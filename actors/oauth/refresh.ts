// Why a refresh token is good for no new pair, and what follows (RFC 9700, section 4.14.2).
import type { StoredRefresh } from '../../db/oauth/refresh.ts';
import type { OAuthClient } from './client.ts';

export type RefreshVerdict =
  /** It is good after all: something else was in the way when it was tried. */
  | 'again'
  /** The reply was lost, or several were asked at once: the same pair. */
  | 'repeat'
  /** Somebody else has it too: the authorization ends. */
  | 'reuse'
  /** Nobody's, another client's, expired, or its authorization is over. */
  | 'invalid'
  /** More is asked than was approved, or nothing of it is allowed any more. */
  | 'scope'
  /** The authorization got too many tokens in a short time. */
  | 'crowded';

/** `wanted` null: all that the app may. */
export function judgeRefresh(
  token: StoredRefresh | null,
  client: Pick<OAuthClient, 'id' | 'scopes' | 'refreshGraceSeconds'>,
  wanted: readonly string[] | null,
): RefreshVerdict {
  if (token === null || token.client !== client.id || !token.isAuthorized) return 'invalid';
  const { rotation } = token;
  if (rotation !== null) {
    const isInGrace = rotation.agoMs < client.refreshGraceSeconds * 1_000;
    return isInGrace && !rotation.isSuccessorUsed && rotation.sealedPair !== null
      ? 'repeat'
      : 'reuse';
  }
  if (token.isExpired) return 'invalid';
  const asked = wanted ?? token.scopes;
  const isApproved = asked.every((scope) => token.scopes.includes(scope));
  const isAllowed = asked.some((scope) => client.scopes.some((allowed) => allowed === scope));
  if (!isApproved || !isAllowed) return 'scope';
  return token.isCrowded ? 'crowded' : 'again';
}
