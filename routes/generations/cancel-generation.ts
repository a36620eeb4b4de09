// POST /v1/generations/{request_id}/cancel: explicit cancel. The upstream is aborted, what was used
// is settled; the reply comes when that is durable.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { generationBody, generationParams, requireGeneration } from './get-generation.ts';
import { generationSchema } from './schema.ts';

export const cancelGeneration = defineRoute({
  method: 'POST',
  path: '/v1/generations/{request_id}/cancel',
  aliases: ['/api/v1/generations/{request_id}/cancel'],
  operationId: 'cancelGeneration',
  summary: 'Cancel a running generation',
  description:
    'Its subscribers get the incomplete end of their format. Cancelling what is already ' +
    'cancelled is answered with its state; anything else that has ended is a conflict.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true, isForSuspended: true },
  cors: 'public',
  params: generationParams,
  replies: { 200: { description: 'The generation after its end.', schema: generationSchema } },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const row = await requireGeneration(services, caller, params.request_id);
    if (row.status === 'running') await services.rows(row.route).cancel(row.id);
    const after = await readEnded(
      () => requireGeneration(services, caller, row.id),
      ({ status }) => status,
    );
    if (after.status === 'running') {
      throw new Problem('dependency_unavailable', { headers: { 'retry-after': '1' } });
    }
    if (after.status !== 'cancelled') {
      throw new Problem('invalid_state', { message: `The generation is ${after.status}.` });
    }
    return { status: 200, json: generationBody(after) };
  },
});

const looksMs = [25, 75, 200, 700];

/** What is read after its end. Of what failed for nothing the end is told before it is written. */
export async function readEnded<T>(
  read: () => Promise<T>,
  statusOf: (row: T) => string,
): Promise<T> {
  let row = await read();
  for (const waitMs of looksMs) {
    if (statusOf(row) !== 'running') break;
    await sleep(waitMs);
    row = await read();
  }
  return row;
}
