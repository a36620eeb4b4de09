// The schema of a legacy reply.
import * as v from 'valibot';
import { svcRoutingSchema, svcUsageSchema } from '../generations/schema.ts';

export const legacyReplySchema = v.object({
  ok: v.literal(true),
  request_id: v.string(),
  model: v.string(),
  text: v.string(),
  finish_reason: v.picklist(['stop', 'length', 'tool_calls', 'content_filter']),
  tool_calls: v.optional(
    v.array(
      v.object({
        id: v.string(),
        type: v.literal('function'),
        function: v.object({ name: v.string(), arguments: v.string() }),
      }),
    ),
  ),
  svc_usage: svcUsageSchema,
  svc_routing: v.optional(svcRoutingSchema),
});
