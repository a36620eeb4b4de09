// Scopes as requests name them: words between spaces (RFC 6749, section 3.3).
import { type OAuthClient, type OAuthScope, oauthScopes } from './client.ts';

const scopesBytesMax = 1_024;
const scopesPattern = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const scopeByDefault: OAuthScope = 'profile';

/** The words of the parameter, each once; null: it has not the form. */
export function readScopes(text: string): string[] | null {
  if (text.length > scopesBytesMax || !scopesPattern.test(text)) return null;
  return [...new Set(text.split(' '))];
}

/**
 * What of the asked scopes a client may be given. Unknown ones and those that it may not have are
 * dropped, and the token reply tells what is left. Null: nothing is.
 */
export function grantableScopes(
  asked: string | undefined,
  client: Pick<OAuthClient, 'scopes' | 'grants'>,
): OAuthScope[] | null {
  const words = asked === undefined ? [scopeByDefault] : (readScopes(asked) ?? []);
  const left = oauthScopes.filter((scope) => {
    if (!words.includes(scope) || !client.scopes.includes(scope)) return false;
    return scope !== 'offline_access' || client.grants.includes('refresh_token');
  });
  return left.length === 0 ? null : left;
}
