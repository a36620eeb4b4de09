// The whole reply: one message object.
import type { Answer } from '../../answer.ts';
import type { TokenUsage } from '../../usage.ts';
import type { Receipt, ReplyIdentity, ReplyOptions } from '../contract.ts';
import { blocksOf } from './blocks.ts';
import { stopMembers } from './stop.ts';
import { messageId, messagesUsage } from './usage.ts';

/** Members that this service never knows; the vendor's types say that they are there. */
const unknownUsage = {
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
};

export function wholeReply(
  identity: ReplyIdentity,
  _options: ReplyOptions,
  answer: Answer,
  receipt: Receipt,
): Record<string, unknown> {
  return {
    ...openMessage(identity, receipt.usage),
    content: answer.items.flatMap(blocksOf),
    ...stopMembers(answer),
    svc_usage: receipt.svcUsage,
    ...(receipt.svcRouting === null ? {} : { svc_routing: receipt.svcRouting }),
  };
}

/** The message before anything of it is known but its input. */
export function openMessage(identity: ReplyIdentity, usage: TokenUsage): Record<string, unknown> {
  return {
    id: messageId(identity.requestId),
    type: 'message',
    role: 'assistant',
    model: identity.model,
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...messagesUsage(usage), ...unknownUsage },
  };
}
