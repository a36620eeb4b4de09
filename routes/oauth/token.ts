// POST /oauth/token: an app gets its tokens, for a code, for a refresh token, or for a device.
import * as v from 'valibot';
import type { OAuthGrant } from '../../actors/oauth/client.ts';
import { fixedOAuthLimits } from '../../actors/oauth/limits.ts';
import type { Reply } from '../../runtime/http/route.ts';
import type { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { clientHeaders, requireClient } from './client.ts';
import { requireField, type TokenRequest } from './grant.ts';
import { failed, oauthProblem } from './problems.ts';
import { redeemCodeGrant } from './redeem-code.ts';
import { redeemDeviceGrant } from './redeem-device.ts';
import { refreshGrant } from './refresh-tokens.ts';
import { tokenSchema } from './reply.ts';

const grants: Record<OAuthGrant, (request: TokenRequest) => Promise<Reply>> = {
  authorization_code: redeemCodeGrant,
  refresh_token: refreshGrant,
  'urn:ietf:params:oauth:grant-type:device_code': redeemDeviceGrant,
};

function isGrant(type: string): type is OAuthGrant {
  return Object.hasOwn(grants, type);
}

const field = () => v.optional(v.string());

export const createToken = defineRoute({
  method: 'POST',
  path: '/oauth/token',
  operationId: 'createToken',
  summary: 'Get tokens',
  description:
    'RFC 6749, with PKCE `S256` for every client, and RFC 8628. `grant_type` is ' +
    '`authorization_code` with `code`, `redirect_uri` and `code_verifier`, `refresh_token` with ' +
    '`refresh_token` and perhaps a smaller `scope`, or ' +
    '`urn:ietf:params:oauth:grant-type:device_code` with `device_code`. A public client sends ' +
    '`client_id`; a confidential one its secret by Basic or in the form. A code is good once: ' +
    'shown wrongly it is used up, shown again it ends what it got. A refresh token is replaced ' +
    'each time. For `refresh_grace_seconds` of the client the old one gets the same pair again ' +
    'until the new one is used; any other use of it is `invalid_grant` and ends the ' +
    'authorization. Errors are `error` and `error_description`: `invalid_request`, ' +
    '`invalid_client` (401), `invalid_grant`, `unauthorized_client`, `unsupported_grant_type`, ' +
    '`invalid_scope`; for devices also `authorization_pending`, `slow_down`, `access_denied` and ' +
    '`expired_token`. Unknown parameters are ignored, repeated ones refused.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  headers: clientHeaders,
  body: {
    kind: 'form',
    bytesMax: fixedOAuthLimits.formBytesMax,
    schema: v.object({
      grant_type: field(),
      client_id: field(),
      client_secret: field(),
      code: field(),
      redirect_uri: field(),
      code_verifier: field(),
      refresh_token: field(),
      device_code: field(),
      scope: field(),
    }),
  },
  replies: { 200: { description: 'The tokens.', schema: tokenSchema } },
  problems: [
    'invalid_request',
    'unauthenticated',
    'rate_limited',
    'overloaded',
    'dependency_unavailable',
  ],
  async handle({ body: form, exchange, services }) {
    const { clientAddress } = exchange;
    const client = await requireClient(form, exchange, services);
    const type = requireField(form, 'grant_type');
    if (!isGrant(type)) {
      throw oauthProblem('unsupported_grant_type', 'There is no such grant_type here.');
    }
    if (!client.grants.includes(type)) {
      throw oauthProblem('unauthorized_client', 'The client may not use this grant_type.');
    }
    const fail = (problem: Problem) => failed(problem, { clientAddress }, services);
    return grants[type]({ form, client, services, failed: fail });
  },
});
