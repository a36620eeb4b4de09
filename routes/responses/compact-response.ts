// POST /v1/responses/compact: a conversation summed up for the next request. It is not offered yet;
// the body is checked as it will be then.
import * as v from 'valibot';
import { modelAlias } from '../../media/model/dialects/fields.ts';
import { inputSchema } from '../../media/model/dialects/responses/schema.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { shouldRetryHeader } from '../problems.ts';

const compactSchema = v.looseObject({
  model: modelAlias,
  input: v.nullish(inputSchema),
  instructions: v.nullish(v.string()),
  previous_response_id: v.nullish(v.pipe(v.string(), maxCharacters(64))),
});

export const compactResponse = defineRoute({
  method: 'POST',
  path: '/v1/responses/compact',
  aliases: ['/api/v1/responses/compact'],
  operationId: 'compactResponse',
  summary: 'Compact a conversation (not available)',
  description:
    'Answered 400 `not_available`, and nothing is charged. Send the turns themselves, or go on ' +
    'from a stored response by `previous_response_id`.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  body: { kind: 'json', schema: compactSchema, bytesMax: fixedLimits.body.largeBytesMax },
  replies: {},
  problems: ['not_available'],
  problemHeaders: shouldRetryHeader,
  handle() {
    throw new Problem('not_available', {
      message: 'Conversations are not compacted here yet: send the turns, or a summary of them.',
      headers: { 'x-should-retry': 'false' },
    });
  },
});
