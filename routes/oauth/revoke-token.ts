// POST /oauth/revoke (RFC 7009): an app gives back what it was given.
import * as v from 'valibot';
import { isToken, tokenHash } from '../../actors/credentials/token.ts';
import { fixedOAuthLimits } from '../../actors/oauth/limits.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findToken, revokeAccessToken } from '../../db/oauth/revocation.ts';
import { tellChange, tokenId } from '../credentials.ts';
import { defineRoute } from '../define.ts';
import { clientHeaders, requireClient } from './client.ts';
import { cutOff } from './cut-off.ts';
import { failed, oauthProblem } from './problems.ts';
import { notStored } from './reply.ts';

const field = () => v.optional(v.string());

export const revokeToken = defineRoute({
  method: 'POST',
  path: '/oauth/revoke',
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description:
    'RFC 7009. A refresh token ends the authorization with all its tokens and the API keys that ' +
    'were made through it, an access token itself alone; what is unknown or over is answered ' +
    'alike. The token of another client is 400 `invalid_grant`. The client says who it is as for ' +
    '`POST /oauth/token`. `token_type_hint` is not needed.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  headers: clientHeaders,
  body: {
    kind: 'form',
    bytesMax: fixedOAuthLimits.formBytesMax,
    schema: v.object({ token: field(), client_id: field(), client_secret: field() }),
  },
  replies: { 200: { description: 'The token is good for nothing.', schema: v.strictObject({}) } },
  problems: ['invalid_request', 'unauthenticated', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, exchange, services }) {
    const { clientAddress } = exchange;
    const client = await requireClient(body, exchange, services);
    const { token = '' } = body;
    if (token === '') throw oauthProblem('invalid_request', 'The parameter token is missing.');
    const done = { status: 200, headers: notStored, json: {} };
    if (!isToken('access', token) && !isToken('refresh', token)) return done;
    const hash = tokenHash(token);
    const issued = await withDeadline(findToken(services.sql, hash));
    if (issued === null) return done;
    if (issued.client !== client.id) {
      const problem = oauthProblem('invalid_grant', 'The token was issued to another client.');
      throw failed(problem, { clientAddress }, services);
    }
    if (issued.kind === 'refresh') await cutOff(services, issued, 'client');
    else {
      await withDeadline(revokeAccessToken(services.sql, hash));
      await tellChange(services.bus, [tokenId(hash)], { isWithdrawn: true });
    }
    return done;
  },
});
