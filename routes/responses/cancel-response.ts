// POST /v1/responses/{response_id}/cancel: explicit cancel. The upstream is aborted, what was used
// is settled; the reply comes when that is durable.
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { readEnded } from '../generations/cancel-generation.ts';
import { shouldRetryHeader } from '../problems.ts';
import { responseParams } from './get-response.ts';
import { responseSchema } from './schema.ts';
import { requireResponse, storedBody } from './stored.ts';

export const cancelResponse = defineRoute({
  method: 'POST',
  path: '/v1/responses/{response_id}/cancel',
  aliases: ['/api/v1/responses/{response_id}/cancel'],
  operationId: 'cancelResponse',
  summary: 'Cancel a running response',
  description:
    'For background responses and any other that is running; what was used is charged. Its ' +
    'streams end with `response.incomplete`, the response itself is `cancelled` and keeps what ' +
    'it had. Cancelling what is already cancelled is answered with it; anything else that has ' +
    'ended is a conflict.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true, isForSuspended: true },
  cors: 'public',
  params: responseParams,
  replies: {
    200: {
      description: 'The response after its end.',
      schema: responseSchema,
      headers: { 'x-svc-request-id': 'Our id of the generation.' },
    },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  problemHeaders: shouldRetryHeader,
  async handle({ params, caller, services }) {
    const stored = await requireResponse(services, caller, params.response_id);
    const { id, status, route } = stored.generation;
    if (status === 'running') await services.rows(route).cancel(id);
    const after = await readEnded(
      () => requireResponse(services, caller, params.response_id),
      ({ generation }) => generation.status,
    );
    if (after.generation.status === 'running') {
      throw new Problem('dependency_unavailable', { headers: { 'retry-after': '1' } });
    }
    if (after.generation.status !== 'cancelled') {
      const message = `The response is ${after.generation.status}.`;
      throw new Problem('invalid_state', { message, headers: { 'x-should-retry': 'false' } });
    }
    return {
      status: 200,
      headers: { 'x-svc-request-id': id },
      json: storedBody(services, after),
    };
  },
});
