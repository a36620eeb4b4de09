// The schemas of a whole message and of a token count. Open where a provider's own members may pass
// through.
import * as v from 'valibot';
import { svcRoutingSchema, svcUsageSchema } from '../generations/schema.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const messageSchema = v.looseObject({
  id: v.pipe(v.string(), v.regex(/^msg_[a-f0-9]{24}$/)),
  type: v.literal('message'),
  role: v.literal('assistant'),
  model: v.string(),
  content: v.array(v.looseObject({ type: v.string() })),
  stop_reason: v.picklist([
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'tool_use',
    'pause_turn',
    'compaction',
    'refusal',
    'model_context_window_exceeded',
  ]),
  stop_sequence: v.nullable(v.string()),
  usage: v.looseObject({
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    output_tokens: count,
  }),
  svc_usage: svcUsageSchema,
  svc_routing: v.optional(svcRoutingSchema),
});

export const tokenCountSchema = v.object({
  input_tokens: count,
  svc_estimated: v.pipe(
    v.boolean(),
    v.description('True: counted by our tokenizer, the provider of the model has no count'),
  ),
});
