// DELETE /v1/responses/{response_id}: a stored response is forgotten, with what its client sent.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { erasing, isHeld } from '../../db/organizations/hold.ts';
import { deleteResponse as deleteRow } from '../../db/responses.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { blockedBy } from '../policy.ts';
import { responseParams } from './get-response.ts';
import { requireResponse } from './stored.ts';

export const deleteResponse = defineRoute({
  method: 'DELETE',
  path: '/v1/responses/{response_id}',
  aliases: ['/api/v1/responses/{response_id}'],
  operationId: 'deleteResponse',
  summary: 'Delete a stored response',
  description:
    'It can no longer be read or continued, nor can responses that continue it; their own ' +
    'contents stay readable. Under an idempotency key its answer is replayed until the key is ' +
    'free. A response that is still running is cancelled first, by its own endpoint. What was ' +
    'charged stays charged. On a legal hold it is 403 `policy_blocked`.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true, isForSuspended: true },
  cors: 'public',
  params: responseParams,
  replies: {
    200: {
      description: 'It is deleted.',
      schema: v.strictObject({
        id: v.string(),
        object: v.literal('response'),
        deleted: v.literal(true),
      }),
    },
  },
  problems: ['policy_blocked', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { generation } = await requireResponse(services, caller, params.response_id);
    if (generation.status === 'running') {
      throw new Problem('invalid_state', { message: 'The response is running: cancel it first.' });
    }
    const { accountId, id } = generation;
    const deleting = erasing(services.sql, async (transaction) => {
      if (await isHeld(transaction, accountId)) throw blockedBy('legal_hold');
      return deleteRow(transaction, accountId, id);
    });
    await withDeadline(deleting);
    return { status: 200, json: { id: params.response_id, object: 'response', deleted: true } };
  },
});
