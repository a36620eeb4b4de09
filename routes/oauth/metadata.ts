// How programs find their way: what the authorization server offers (RFC 8414), and which server
// lets apps in to these resources (RFC 9728).
import * as v from 'valibot';
import { oauthGrants, oauthScopes } from '../../actors/oauth/client.ts';
import { defineRoute } from '../define.ts';

const texts = v.array(v.string());
/** A change of settings is known everywhere after this long. */
const headers = { 'cache-control': 'public, max-age=60' };
const authMethods = ['none', 'client_secret_basic', 'client_secret_post'];

export const getAuthorizationServer = defineRoute({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  operationId: 'getAuthorizationServer',
  summary: 'Read what the authorization server offers',
  description: 'RFC 8414. `issuer` is exactly the base URL. There is no OpenID Connect.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  replies: {
    200: {
      description: 'The metadata.',
      schema: v.strictObject({
        issuer: v.string(),
        authorization_endpoint: v.string(),
        token_endpoint: v.string(),
        revocation_endpoint: v.string(),
        device_authorization_endpoint: v.string(),
        userinfo_endpoint: v.string(),
        scopes_supported: texts,
        response_types_supported: texts,
        response_modes_supported: texts,
        grant_types_supported: texts,
        token_endpoint_auth_methods_supported: texts,
        revocation_endpoint_auth_methods_supported: texts,
        code_challenge_methods_supported: texts,
        authorization_response_iss_parameter_supported: v.literal(true),
        client_id_metadata_document_supported: v.boolean(),
        service_documentation: v.string(),
      }),
    },
  },
  problems: [],
  handle({ services: { config, catalog } }) {
    const { baseUrl, webUrl } = config;
    const { clientDocuments } = catalog.current().snapshot.identity;
    const json = {
      issuer: baseUrl,
      authorization_endpoint: `${webUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/oauth/token`,
      revocation_endpoint: `${baseUrl}/oauth/revoke`,
      device_authorization_endpoint: `${baseUrl}/oauth/device/code`,
      userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
      scopes_supported: oauthScopes,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: oauthGrants,
      token_endpoint_auth_methods_supported: authMethods,
      revocation_endpoint_auth_methods_supported: authMethods,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: clientDocuments !== 'off',
      service_documentation: `${baseUrl}/docs`,
    };
    return { status: 200, headers, json };
  },
});

export const getProtectedResource = defineRoute({
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  operationId: 'getProtectedResource',
  summary: 'Read which server lets apps in',
  description: 'RFC 9728. 401 replies of routes that take access tokens name this document.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  replies: {
    200: {
      description: 'The metadata.',
      schema: v.strictObject({
        resource: v.string(),
        authorization_servers: texts,
        scopes_supported: texts,
        bearer_methods_supported: texts,
        resource_name: v.string(),
        resource_documentation: v.string(),
      }),
    },
  },
  problems: [],
  handle({ services: { config } }) {
    const { baseUrl } = config;
    const json = {
      resource: baseUrl,
      authorization_servers: [baseUrl],
      scopes_supported: oauthScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'tollgate',
      resource_documentation: `${baseUrl}/docs`,
    };
    return { status: 200, headers, json };
  },
});
