// An app that people let act for them, as shards know it without a query.
export const oauthScopes = ['profile', 'email', 'offline_access', 'app'] as const;
export type OAuthScope = (typeof oauthScopes)[number];

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export const oauthGrants = ['authorization_code', 'refresh_token', deviceGrant] as const;
export type OAuthGrant = (typeof oauthGrants)[number];

export interface OAuthClient {
  /** The client id: the name of a record, or the URL of a client id metadata document. */
  id: string;
  displayName: string;
  type: 'public' | 'confidential';
  redirectUris: readonly string[];
  grants: readonly OAuthGrant[];
  scopes: readonly OAuthScope[];
  refreshGraceSeconds: number;
  firstParty: boolean;
  enabled: boolean;
  /** SHA-256 of its secrets as base64, the newest first; `untilMs` null: good until replaced. */
  secrets: readonly { hash: string; untilMs: number | null }[];
  /** Null: a record. Else the host of the document that says all of this about itself. */
  documentHost: string | null;
}
