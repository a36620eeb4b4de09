// The grant `refresh_token` (RFC 6749, section 6). Each token is good once. An app whose reply was
// lost gets the same pair again for a short time. Anything else that is used twice was stolen.
import { isToken, tokenHash } from '../../actors/credentials/token.ts';
import { newPair, openPair, pairHashes, sealPair } from '../../actors/oauth/pair.ts';
import { judgeRefresh } from '../../actors/oauth/refresh.ts';
import { readScopes } from '../../actors/oauth/scopes.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { type Rotation, readRefresh, rotateRefresh } from '../../db/oauth/refresh.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import { cutOff } from './cut-off.ts';
import { requireField, type TokenForm, type TokenRequest } from './grant.ts';
import { oauthProblem, tooOften } from './problems.ts';
import { tokenReply } from './reply.ts';

/** A token that was in somebody's way is tried again: it may be good by then. */
const triesMax = 3;
const crowdedSeconds = 10;

export async function refreshGrant(request: TokenRequest): Promise<Reply> {
  const token = requireField(request.form, 'refresh_token');
  const wanted = wantedScopes(request.form);
  if (!isToken('refresh', token)) throw request.failed(invalid());
  for (let tries = 0; tries < triesMax; tries += 1) {
    const reply =
      (await rotate(request, token, wanted)) ?? (await answerUsed(request, token, wanted));
    if (reply !== null) return reply;
  }
  throw new Problem('overloaded');
}

function invalid(): Problem {
  return oauthProblem('invalid_grant', 'The refresh token is unknown, used, expired or revoked.');
}

/** Null: all that the app may. @throws Problem `invalid_scope` */
function wantedScopes({ scope = '' }: TokenForm): string[] | null {
  if (scope === '') return null;
  const wanted = readScopes(scope);
  if (wanted === null) throw oauthProblem('invalid_scope', 'The scopes are not readable.');
  return wanted;
}

/** A new pair, or null: the token is good for none at this moment. */
async function rotate(
  { client, services }: TokenRequest,
  token: string,
  wanted: readonly string[] | null,
): Promise<Reply | null> {
  const { sql, sealer, access, limits } = services;
  const pair = newPair();
  const rotation: Rotation = {
    tokenHash: tokenHash(token),
    client: client.id,
    allowed: client.scopes,
    wanted,
    pair: pairHashes(pair),
    sealedPair: sealPair(sealer, token, pair),
    lives: limits.oauth,
    refreshesPerMinute: limits.oauth.refreshesPerMinute,
  };
  const granted = await withDeadline(rotateRefresh(sql, rotation));
  if (granted === null) return null;
  access.credentials.used(granted.authorizationId, Date.now());
  return tokenReply(pair, granted);
}

/** What a token is answered that was not good; null: it is worth another try. */
async function answerUsed(
  { client, services, failed }: TokenRequest,
  token: string,
  wanted: readonly string[] | null,
): Promise<Reply | null> {
  const { sql, sealer, limits } = services;
  const { refreshesPerMinute } = limits.oauth;
  const stored = await withDeadline(readRefresh(sql, tokenHash(token), refreshesPerMinute));
  switch (judgeRefresh(stored, client, wanted)) {
    case 'again':
      return null;
    case 'repeat': {
      const before = stored?.rotation;
      if (!before?.sealedPair) throw failed(invalid());
      const pair = openPair(sealer, token, before.sealedPair);
      const { scopes, expiresInSeconds } = before;
      return tokenReply(pair, { scopes, expiresInSeconds, hasRefresh: true });
    }
    case 'reuse':
      // A document's own name is unverified: its host is told.
      if (stored !== null) {
        await cutOff(services, stored, 'reuse', client.documentHost ?? client.displayName);
      }
      throw failed(invalid());
    case 'scope':
      throw failed(oauthProblem('invalid_scope', 'More is asked than was approved.'));
    case 'crowded':
      throw tooOften(crowdedSeconds);
    default:
      throw failed(invalid());
  }
}
