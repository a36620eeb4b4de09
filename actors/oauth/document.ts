// A client id metadata document as a client. It speaks for itself alone: it is public, has no
// secret, and is never one of the service's own programs.
import * as v from 'valibot';
import { type OAuthClient, type OAuthGrant, oauthScopes } from './client.ts';
import { approvalLimits, fixedOAuthLimits } from './limits.ts';
import { displayName } from './members.ts';
import { redirectFault, redirectUrisMax } from './redirect.ts';

/** Members that are known here; the document may have others (RFC 7591, 2). */
const documentSchema = v.object({
  client_id: v.string(),
  client_name: v.optional(v.string()),
  redirect_uris: v.array(v.string()),
  token_endpoint_auth_method: v.optional(v.literal('none'), 'none'),
  grant_types: v.optional(v.array(v.string()), ['authorization_code']),
  response_types: v.optional(v.array(v.string()), ['code']),
  scope: v.optional(v.string()),
  // Whoever can read the document would know them.
  client_secret: v.optional(v.never()),
  client_secret_expires_at: v.optional(v.never()),
});

/** A device shows no address by which a person could know the app: no such grant here. */
const grantsOfDocuments: readonly OAuthGrant[] = ['authorization_code', 'refresh_token'];

/**
 * Whether a client id may be the URL of a document. It is https with a path, without user, fragment
 * and dot segments. Every parser has one spelling for it.
 */
export function isDocumentUrl(clientId: string): boolean {
  if (clientId.length > approvalLimits.clientIdCharactersMax) return false;
  if (!/^https:\/\/[^/?#\\@]+\/[\x21\x22\x24-\x5b\x5d-\x7e]+$/.test(clientId)) return false;
  return URL.canParse(clientId) && new URL(clientId).href === clientId;
}

/** The client that the document at this URL describes; null: it describes none. */
export function readDocument(url: string, bytes: Uint8Array): OAuthClient | null {
  const result = v.safeParse(documentSchema, jsonOf(bytes));
  if (!result.success || result.output.client_id !== url) return null;
  const document = result.output;
  const grants = grantsOfDocuments.filter((grant) => document.grant_types.includes(grant));
  const redirectUris = document.redirect_uris.filter((uri) => redirectFault(uri) === null);
  if (!grants.includes('authorization_code') || !document.response_types.includes('code')) {
    return null;
  }
  if (redirectUris.length === 0 || document.redirect_uris.length > redirectUrisMax) return null;
  const words = document.scope?.split(' ');
  const scopes = oauthScopes.filter((scope) => words === undefined || words.includes(scope));
  if (scopes.length === 0) return null;
  const { host } = new URL(url);
  return {
    id: url,
    displayName: nameOf(document.client_name, host),
    type: 'public',
    redirectUris,
    grants,
    scopes,
    refreshGraceSeconds: fixedOAuthLimits.refreshGraceSeconds,
    firstParty: false,
    enabled: true,
    secrets: [],
    documentHost: host,
  };
}

/** A name that could mislead whoever reads it is not shown: the host stands for it. */
function nameOf(name: string | undefined, host: string): string {
  const result = v.safeParse(displayName, name);
  return result.success ? result.output : host;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
