// The schema of a whole chat completion. Open where a provider's own members may pass through.
import * as v from 'valibot';
import { svcRoutingSchema, svcUsageSchema } from '../generations/schema.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const called = v.object({ name: v.string(), arguments: v.string() });

export const chatCompletionSchema = v.object({
  id: v.string(),
  object: v.literal('chat.completion'),
  created: v.pipe(v.number(), v.integer()),
  model: v.string(),
  choices: v.array(
    v.object({
      index: count,
      message: v.object({
        role: v.literal('assistant'),
        content: v.nullable(v.string()),
        refusal: v.nullable(v.string()),
        tool_calls: v.optional(
          v.array(
            v.object({
              id: v.string(),
              type: v.literal('function'),
              function: called,
            }),
          ),
        ),
        function_call: v.optional(called),
      }),
      finish_reason: v.picklist([
        'stop',
        'length',
        'tool_calls',
        'content_filter',
        'function_call',
      ]),
    }),
  ),
  usage: v.object({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: v.object({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: v.object({ reasoning_tokens: count }),
  }),
  svc_usage: svcUsageSchema,
  svc_routing: v.optional(svcRoutingSchema),
});
