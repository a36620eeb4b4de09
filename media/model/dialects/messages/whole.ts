// The whole reply: one message object.
import type { Answer } from '../../answer.ts';
import type { NativeValue } from '../../events.ts';
import type { TokenUsage } from '../../usage.ts';
import type { Receipt, ReplyIdentity, ReplyOptions } from '../contract.ts';
import { blocksOf } from './blocks.ts';
import { stopMembers } from './stop.ts';
import { messageId, messagesUsage } from './usage.ts';

type Members = Record<string, unknown>;

/** Members that this service never knows; the vendor's types say that they are there. */
const unknownUsage = {
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
};

export function wholeReply(
  identity: ReplyIdentity,
  { request, seals }: ReplyOptions,
  answer: Answer,
  receipt: Receipt,
): Record<string, unknown> {
  const { usage: ownUsage, ...own } = ownEnd(answer);
  const opened = openMessage(identity, receipt.usage, answer.startNative);
  Object.assign(opened.usage, ownUsage);
  const content = answer.items.flatMap((item) => blocksOf(item, seals));
  const stop = stopMembers(answer, request.sampling.stop);
  return Object.assign(opened, { content }, stop, own, svcMembers(receipt));
}

/** What we say of an answer beside its format. */
export function svcMembers({ svcUsage, svcRouting }: Receipt): Members {
  if (svcRouting === null) return { svc_usage: svcUsage };
  return { svc_usage: svcUsage, svc_routing: svcRouting };
}

interface PassthroughMembers {
  usage?: Members;
}

const endMembers: ReadonlySet<string> = new Set(['stop_reason', 'stop_details', 'container']);

/** What the upstream's end says in this format alone, besides why it ended. */
export function ownEnd({ finishNative }: Answer): PassthroughMembers & Members {
  const own: PassthroughMembers & Members = {};
  if (finishNative?.format !== 'messages') return own;
  for (const [name, value] of Object.entries(finishNative.value)) {
    if (!endMembers.has(name)) own[name] = value;
  }
  return own;
}

/**
 * The message before anything of it is known but its input; `native`: what its upstream said of it.
 */
export function openMessage(
  identity: ReplyIdentity,
  usage: TokenUsage,
  native?: NativeValue,
): Members & { usage: object } {
  const { usage: ownUsage, ...own }: PassthroughMembers & Members =
    native?.format === 'messages' ? native.value : {};
  const message = {
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
    usage: Object.assign(messagesUsage(usage), unknownUsage, ownUsage),
  };
  return Object.assign(message, own);
}
