// POST /oauth/device: what a device asks for, by the code that it shows, and the decision
// (RFC 8628, 3.3). Who types the code has seen the device, so no link leads here.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireVerified, shownNetwork } from '../identity/sign-in.ts';
import { decisionSchema } from './approval.ts';
import { decideFound, requireDevice } from './asking-device.ts';
import { clientBody, clientSchema } from './client-body.ts';

export const verifyDevice = defineRoute({
  method: 'POST',
  path: '/oauth/device',
  operationId: 'verifyDevice',
  summary: 'See what a device asks for, and decide',
  description:
    'With `user_code` alone it tells which client asks, for what, when, and from which network ' +
    '(/24 or /48); `is_other_network` where that is not the one that this request comes from. ' +
    'With `decision` (`approve`, `deny`) it decides. A code is any case of letters, with or ' +
    'without its dash. Ten wrong codes in ten minutes are 429.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'cookie' },
  cors: 'none',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    schema: v.strictObject({
      user_code: v.pipe(v.string(), v.minLength(1), v.maxLength(40)),
      decision: v.optional(decisionSchema),
    }),
  },
  replies: {
    200: {
      description: 'What is asked for, or what was decided.',
      schema: v.union([
        v.strictObject({
          ok: v.literal(true),
          client: clientSchema,
          scopes: v.array(v.string()),
          asked_at: v.string(),
          network: v.nullable(v.string()),
          is_other_network: v.boolean(),
        }),
        v.strictObject({ ok: v.literal(true), decision: decisionSchema }),
      ]),
    },
  },
  problems: ['forbidden', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services, exchange }) {
    requireVerified(caller);
    const network = shownNetwork(exchange.clientAddress);
    const found = await requireDevice(services, body.user_code, caller.accountId);
    const headers = { 'cache-control': 'no-store' };
    const { decision } = body;
    if (decision !== undefined) {
      await decideFound(services, found, decision, caller);
      return { status: 200, headers, json: { ok: true, decision } };
    }
    const { device, client, scopes } = found;
    const asks = {
      client: clientBody(client),
      scopes,
      asked_at: device.askedAt.toISOString(),
      network: device.network,
      is_other_network: device.network === null || device.network !== network,
    };
    return { status: 200, headers, json: { ok: true, ...asks } };
  },
});
