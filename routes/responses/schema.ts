// The schemas of a response object, open where a provider's own items may pass through, and of a
// count. It has every member that Open Responses (2026-04-24) requires.
import * as v from 'valibot';
import { svcRoutingSchema, svcUsageSchema } from '../generations/schema.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const responseSchema = v.looseObject({
  id: v.pipe(v.string(), v.regex(/^resp_[a-f0-9]{24}$/)),
  object: v.literal('response'),
  created_at: v.pipe(v.number(), v.integer()),
  completed_at: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description(
      'Unix seconds of the settlement, the same in the stream, on replay and when it is read ' +
        'again; null unless the status is `completed`',
    ),
  ),
  status: v.picklist(['queued', 'in_progress', 'completed', 'incomplete', 'cancelled', 'failed']),
  error: v.nullable(
    v.object({
      code: v.string(),
      message: v.string(),
      type: v.string(),
      param: v.nullable(v.string()),
    }),
  ),
  incomplete_details: v.nullable(
    v.object({ reason: v.picklist(['max_output_tokens', 'content_filter']) }),
  ),
  model: v.string(),
  temperature: v.pipe(v.number(), v.description('As asked for, else 1; so with `top_p`')),
  top_p: v.number(),
  presence_penalty: v.pipe(v.number(), v.description('As asked for, else 0')),
  frequency_penalty: v.number(),
  top_logprobs: count,
  max_tool_calls: v.nullable(v.number()),
  service_tier: v.pipe(v.literal('default'), v.description('There is no other tier')),
  safety_identifier: v.nullable(v.string()),
  prompt_cache_key: v.nullable(v.string()),
  reasoning: v.looseObject({
    effort: v.nullable(v.string()),
    summary: v.nullable(v.string()),
  }),
  text: v.looseObject({ format: v.looseObject({ type: v.string() }) }),
  tool_choice: v.union([v.string(), v.looseObject({ type: v.string() })]),
  tools: v.pipe(
    v.array(v.looseObject({ type: v.string() })),
    v.description('As declared; of functions also what was left out, as null'),
  ),
  output: v.array(v.looseObject({ type: v.string(), id: v.string() })),
  usage: v.nullable(
    v.object({
      input_tokens: count,
      input_tokens_details: v.object({ cached_tokens: count, cache_write_tokens: count }),
      output_tokens: count,
      output_tokens_details: v.object({ reasoning_tokens: count }),
      total_tokens: count,
    }),
  ),
  svc_usage: v.optional(svcUsageSchema),
  svc_routing: v.optional(svcRoutingSchema),
});

export const inputTokensSchema = v.object({
  object: v.literal('response.input_tokens'),
  input_tokens: count,
  svc_estimated: v.pipe(
    v.boolean(),
    v.description('True: counted by our tokenizer, the provider of the model has no count'),
  ),
});
