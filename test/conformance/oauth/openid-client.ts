// openid-client as an app. Plain http is what it has to be told to allow.
import * as client from 'openid-client';
import type { KnownApp } from './apps.ts';
import type { Library } from './library.ts';

export async function openOpenidClient(issuer: string, app: KnownApp): Promise<Library> {
  const secret = app.secret ?? '';
  const authentication = {
    none: () => client.None(),
    client_secret_basic: () => client.ClientSecretBasic(secret),
    client_secret_post: () => client.ClientSecretPost(secret),
  }[app.authentication]();
  const config = await client.discovery(new URL(issuer), app.id, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  });
  return {
    async begin(scope) {
      const pkceCodeVerifier = client.randomPKCECodeVerifier();
      const expectedState = client.randomState();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: app.redirectUri,
        scope,
        state: expectedState,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      const checks = { pkceCodeVerifier, expectedState };
      return {
        url,
        finish: (callback) => client.authorizationCodeGrant(config, callback, checks),
      };
    },
    refresh: (refreshToken) => client.refreshTokenGrant(config, refreshToken),
    revoke: (token) => client.tokenRevocation(config, token),
    userInfo: (accessToken, accountId) => client.fetchUserInfo(config, accessToken, accountId),
    get: (accessToken, url) => client.fetchProtectedResource(config, accessToken, url, 'GET'),
    async startDevice(scope) {
      const started = await client.initiateDeviceAuthorization(config, { scope });
      return {
        userCode: started.user_code,
        verificationUri: started.verification_uri,
        expiresIn: started.expires_in,
        poll: () => client.pollDeviceAuthorizationGrant(config, started),
      };
    },
  };
}
