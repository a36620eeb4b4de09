// What the tests ask of each library for OAuth, so that one list of steps is walked with each. A
// library throws as it does for its users.

export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
}

/** A request for a code, with PKCE and `state`. */
export interface Begun {
  /** Where the app sends the browser. */
  readonly url: URL;
  /** Checks where the browser was sent back to, and redeems its code. */
  finish(callback: URL): Promise<Tokens>;
}

export interface Device {
  readonly userCode: string;
  readonly verificationUri: string;
  readonly expiresIn: number;
  /** Asks as often as the library does by itself. */
  poll(): Promise<Tokens>;
}

/** A library as one app, after discovery. */
export interface Library {
  begin(scope: string): Promise<Begun>;
  refresh(refreshToken: string): Promise<Tokens>;
  revoke(token: string): Promise<void>;
  userInfo(accessToken: string, accountId: string): Promise<Record<string, unknown>>;
  /** GET with the access token; a challenge is thrown. */
  get(accessToken: string, url: URL): Promise<Response>;
  startDevice(scope: string): Promise<Device>;
}
