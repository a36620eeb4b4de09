// What an app is given with new tokens (RFC 6749, section 5.1).
import * as v from 'valibot';
import type { TokenPair } from '../../actors/oauth/pair.ts';
import type { Granted } from '../../db/oauth/grant.ts';
import type { Reply } from '../../runtime/http/route.ts';

export const tokenSchema = v.strictObject({
  access_token: v.string(),
  token_type: v.literal('Bearer'),
  expires_in: v.pipe(v.number(), v.integer()),
  scope: v.string(),
  refresh_token: v.optional(v.string()),
});

/** HTTP/1.0 caches know the second one alone. */
export const notStored = { 'cache-control': 'no-store', pragma: 'no-cache' };

type Told = Pick<Granted, 'scopes' | 'expiresInSeconds' | 'hasRefresh'>;

/** The same tokens have the same reply, byte for byte. */
export function tokenReply({ access, refresh }: TokenPair, told: Told): Reply {
  const json = {
    access_token: access,
    token_type: 'Bearer',
    expires_in: told.expiresInSeconds,
    scope: told.scopes.join(' '),
  };
  const offline = told.hasRefresh ? { refresh_token: refresh } : {};
  return { status: 200, headers: notStored, json: { ...json, ...offline } };
}
