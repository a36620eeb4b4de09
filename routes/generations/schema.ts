// Schemas of `svc_usage` and of a generation's state, as they leave the service.
import * as v from 'valibot';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** `svc_usage` (decisions.md, section 5). */
export const svcUsageSchema = v.strictObject({
  request_id: v.pipe(v.string(), v.regex(/^req_[a-f0-9]{24}$/)),
  model: v.string(),
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  search_calls: count,
  tool_calls: v.optional(
    v.pipe(
      v.record(v.string(), count),
      v.description(
        'Calls of other tools that the provider ran, by type; absent where there were none. ' +
          'Each costs `credits_per_tool_call` of the model.',
      ),
    ),
  ),
  charge_microcredits: count,
  wallet_type: v.picklist(['personal', 'organization']),
  source: v.picklist(['reported', 'estimated', 'none']),
  credits_exhausted: v.boolean(),
  replayed: v.boolean(),
  simulated: v.boolean(),
});

/** `svc_routing` (decisions.md, section 5): in replies of managed routes. */
export const svcRoutingSchema = v.strictObject({
  receipt_id: v.pipe(v.string(), v.regex(/^rr_[a-f0-9]{24}$/)),
  selected_model: v.string(),
  decision_category: v.picklist(['sticky', 'policy', 'capability', 'cost', 'quality', 'fallback']),
  outcome: v.picklist(['completed', 'failed', 'cancelled']),
  policy_version: v.string(),
  catalog_version: v.string(),
  sticky: v.boolean(),
  fallbacks: count,
  latency_ms: v.strictObject({
    decision: v.number(),
    first_token: v.nullable(v.number()),
    total: v.number(),
  }),
  usage: v.strictObject({
    input_tokens: count,
    cached_input_tokens: count,
    cache_write_tokens: count,
    output_tokens: count,
    reasoning_tokens: count,
    search_calls: count,
  }),
  charge_microcredits: count,
});

export const generationSchema = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^req_[a-f0-9]{24}$/)),
  object: v.literal('generation'),
  status: v.picklist(['running', 'completed', 'incomplete', 'failed', 'cancelled']),
  model: v.string(),
  idempotency_key: v.nullable(v.string()),
  created_at: v.string(),
  finished_at: v.nullable(v.string()),
  error: v.nullable(v.strictObject({ code: v.string(), message: v.string() })),
  svc_usage: v.nullable(svcUsageSchema),
  svc_routing: v.nullable(svcRoutingSchema),
});
