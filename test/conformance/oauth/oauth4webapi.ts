// oauth4webapi as an app: each step is a request and the reading of its reply.
import * as oauth from 'oauth4webapi';
import type { KnownApp } from './apps.ts';
import type { Library } from './library.ts';

const plain = { [oauth.allowInsecureRequests]: true };

export async function openOauth4webapi(issuer: string, app: KnownApp): Promise<Library> {
  const server = await discover(new URL(issuer));
  const client: oauth.Client = { client_id: app.id };
  const secret = app.secret ?? '';
  const authentication = {
    none: () => oauth.None(),
    client_secret_basic: () => oauth.ClientSecretBasic(secret),
    client_secret_post: () => oauth.ClientSecretPost(secret),
  }[app.authentication]();
  const who = [server, client, authentication] as const;
  return {
    async begin(scope) {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const challenge = await oauth.calculatePKCECodeChallenge(verifier);
      const url = new URL(server.authorization_endpoint ?? '');
      const asked = { client_id: app.id, redirect_uri: app.redirectUri, scope, state };
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
      const query = { ...asked, ...pkce, response_type: 'code' };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return {
        url,
        async finish(callback) {
          const checked = oauth.validateAuthResponse(server, client, callback, state);
          const reply = await oauth.authorizationCodeGrantRequest(
            ...who,
            checked,
            app.redirectUri,
            verifier,
            plain,
          );
          return await oauth.processAuthorizationCodeResponse(server, client, reply);
        },
      };
    },
    async refresh(refreshToken) {
      const reply = await oauth.refreshTokenGrantRequest(...who, refreshToken, plain);
      return await oauth.processRefreshTokenResponse(server, client, reply);
    },
    async revoke(token) {
      await oauth.processRevocationResponse(await oauth.revocationRequest(...who, token, plain));
    },
    async userInfo(accessToken, accountId) {
      const reply = await oauth.userInfoRequest(server, client, accessToken, plain);
      return await oauth.processUserInfoResponse(server, client, accountId, reply);
    },
    get: (accessToken, url) =>
      oauth.protectedResourceRequest(accessToken, 'GET', url, undefined, undefined, plain),
    async startDevice(scope) {
      const reply = await oauth.deviceAuthorizationRequest(...who, { scope }, plain);
      const started = await oauth.processDeviceAuthorizationResponse(server, client, reply);
      return {
        userCode: started.user_code,
        verificationUri: started.verification_uri,
        expiresIn: started.expires_in,
        async poll() {
          const polled = await oauth.deviceCodeGrantRequest(...who, started.device_code, plain);
          return await oauth.processDeviceCodeResponse(server, client, polled);
        },
      };
    },
  };
}

async function discover(issuer: URL): Promise<oauth.AuthorizationServer> {
  const options = { algorithm: 'oauth2', ...plain } as const;
  const reply = await oauth.discoveryRequest(issuer, options);
  return await oauth.processDiscoveryResponse(issuer, reply);
}
