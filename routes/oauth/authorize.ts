// GET /oauth/authorize: an app asks a person to let it act (identity.md, section 5). What is wrong
// before client and redirect are known is told to the person; everything later is told to the app.
import * as v from 'valibot';
import {
  type Parameters,
  readClientId,
  readRedirect,
  readRequest,
  readState,
} from '../../actors/oauth/request.ts';
import { resolveClient } from '../../actors/oauth/resolve.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import type { Services } from '../services.ts';
import { answerUrl, seeOther } from './answer.ts';
import { ask } from './ask.ts';

export const authorizePage = defineRoute({
  method: 'GET',
  path: '/oauth/authorize',
  operationId: 'getAuthorizePage',
  summary: 'The page on which a person lets an app act for it',
  tag: 'pages',
  documents: [],
  access: { kind: 'optional-cookie' },
  cors: 'none',
  refusals: 'page',
  query: v.record(v.string(), v.union([v.string(), v.array(v.string())])),
  replies: {
    200: { description: 'The page.', mediaType: 'text/html' },
    303: {
      description: 'To the page for signing in, or back to the app with an answer.',
      headers: { location: 'Where to.' },
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ query: parameters, caller, services }) {
    const { baseUrl } = services.config;
    const { client, redirectUri } = await requireTarget(services, parameters);
    const read = readRequest(parameters, client, redirectUri, baseUrl);
    if (read.ok) return ask(services, { client, parameters, ...read }, caller);
    const { error, description } = read;
    const state = readState(parameters);
    const result = { error, description };
    return seeOther(answerUrl({ redirectUri, state, result }, baseUrl));
  },
});

/**
 * Who asks, and where the answer goes.
 * @throws Problem invalid_request: there is nowhere to send an answer to, so none is sent
 */
async function requireTarget(services: Pick<Services, 'catalog'>, parameters: Parameters) {
  const clientId = readClientId(parameters);
  const client = clientId === null ? null : await resolveClient(services, clientId);
  if (client === null) {
    throw new Problem('invalid_request', {
      message: 'The app that sent you here is not known, or is switched off.',
      details: { error: 'invalid_client' },
    });
  }
  const redirectUri = readRedirect(parameters, client);
  if (redirectUri !== null) return { client, redirectUri };
  throw new Problem('invalid_request', {
    message: 'The app that sent you here wants its answer at an address that is not its own.',
  });
}
