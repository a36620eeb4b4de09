// POST /oauth/device/code (RFC 8628, section 3.1): a device without a browser asks to be let in.
import * as v from 'valibot';
import { newToken, tokenHash } from '../../actors/credentials/token.ts';
import { deviceGrant } from '../../actors/oauth/client.ts';
import { fixedOAuthLimits } from '../../actors/oauth/limits.ts';
import { grantableScopes } from '../../actors/oauth/scopes.ts';
import { newUserCode, userCodeDigest } from '../../actors/oauth/user-code.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { startDevice } from '../../db/oauth.ts';
import { networkOf } from '../../runtime/http/address.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { shownNetwork } from '../identity/sign-in.ts';
import type { Services } from '../services.ts';
import { clientHeaders, requireClient } from './client.ts';
import { oauthProblem, tooOften } from './problems.ts';
import { notStored } from './reply.ts';

const { formBytesMax, deviceSeconds, deviceIntervalSeconds, userCodesTried } = fixedOAuthLimits;
const field = () => v.optional(v.string());
const seconds = v.pipe(v.number(), v.integer());

export const createDeviceCode = defineRoute({
  method: 'POST',
  path: '/oauth/device/code',
  operationId: 'createDeviceCode',
  summary: 'Ask for a device code',
  description:
    'RFC 8628. The device shows `user_code` and `verification_uri`, and asks `POST /oauth/token` ' +
    `every \`interval\` seconds. \`scope\` is \`profile\` where it is left out; unknown and not ` +
    'allowed ones are dropped. There is no `verification_uri_complete`: who types the code has ' +
    'seen the device. Each network has 30 a minute.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'public',
  headers: clientHeaders,
  body: {
    kind: 'form',
    bytesMax: formBytesMax,
    schema: v.object({ client_id: field(), client_secret: field(), scope: field() }),
  },
  replies: {
    200: {
      description: 'The codes.',
      schema: v.strictObject({
        device_code: v.string(),
        user_code: v.string(),
        verification_uri: v.string(),
        expires_in: seconds,
        interval: seconds,
      }),
    },
  },
  problems: [
    'invalid_request',
    'unauthenticated',
    'rate_limited',
    'overloaded',
    'dependency_unavailable',
  ],
  async handle({ body, exchange, services }) {
    const { clientAddress } = exchange;
    const client = await requireClient(body, exchange, services);
    if (!client.grants.includes(deviceGrant)) {
      throw oauthProblem('unauthorized_client', 'The client has no devices.');
    }
    const scopes = grantableScopes(body.scope === '' ? undefined : body.scope, client);
    if (scopes === null) throw oauthProblem('invalid_scope', 'None of the scopes is allowed.');
    takeTurn(clientAddress, services);
    const network = shownNetwork(clientAddress);
    const codes = await start({ client: client.id, scopes, network }, services);
    return {
      status: 200,
      headers: notStored,
      json: {
        device_code: codes.deviceCode,
        user_code: codes.userCode,
        verification_uri: `${services.config.webUrl}/oauth/device`,
        expires_in: deviceSeconds,
        interval: deviceIntervalSeconds,
      },
    };
  },
});

/** @throws Problem rate_limited */
function takeTurn(
  clientAddress: string,
  { access, limits }: Pick<Services, 'access' | 'limits'>,
): void {
  const network = networkOf(clientAddress);
  const refusal = access.failures.take(limits.oauth.devices, network, Date.now());
  if (refusal !== null) throw tooOften(refusal.retryAfterSeconds);
}

async function start(
  asked: { client: string; scopes: readonly string[]; network: string | null },
  { sql, sealer, system }: Pick<Services, 'sql' | 'sealer' | 'system'>,
): Promise<{ deviceCode: string; userCode: string }> {
  for (let tries = 0; tries < userCodesTried; tries += 1) {
    const deviceCode = newToken('deviceCode');
    const userCode = newUserCode();
    const started = startDevice(sql, {
      ...asked,
      id: newId('dev', system.node),
      deviceCodeHash: tokenHash(deviceCode),
      userCodeDigest: userCodeDigest(sealer, userCode),
      expiresAt: new Date(Date.now() + deviceSeconds * 1_000),
    });
    if (await withDeadline(started)) return { deviceCode, userCode };
  }
  throw new Problem('overloaded');
}
