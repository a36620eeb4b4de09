// POST /api/admin/oauth-clients/{name}/secret: a new secret, told once. The former one stays good
// for a day, so that it can be replaced wherever it is used.
import * as v from 'valibot';
import { newToken, tokenHashText } from '../../../actors/credentials/token.ts';
import { defineRoute } from '../../define.ts';
import { revisionAdvice, revisionBody, revisionHeader } from '../revision.ts';
import { changeRecord } from './change-record.ts';
import { clients } from './identity-resources.ts';
import { nameParams } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';

const reply = recordReply(clients, 'The client, and the secret: nobody is told it again.');

export const renewSecret = defineRoute({
  method: 'POST',
  path: `${clients.path}/{name}/secret`,
  operationId: 'renewAdminOAuthClientSecret',
  summary: 'Give a confidential OAuth client a new secret',
  description:
    'The former secret is good for 24 hours more, and the one before that for nothing. A public ' +
    `client is 409 \`invalid_state\`. ${revisionAdvice}`,
  tag: 'Catalog administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: nameParams,
  body: revisionBody,
  replies: {
    200: { ...reply, schema: v.strictObject({ ...reply.schema.entries, secret: v.string() }) },
  },
  problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services, exchange }) {
    const secret = newToken('clientSecret');
    const action = { verb: 'secret', secretHash: tokenHashText(secret) } as const;
    const call = { services, caller, exchange, body };
    const { record, contentVersion } = await changeRecord(clients, params.name, action, call);
    const answer = await recordAnswer(200, clients, record, contentVersion, services);
    return { ...answer, json: { ...answer.json, secret } };
  },
});
