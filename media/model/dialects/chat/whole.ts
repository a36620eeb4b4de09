// The whole reply: one chat.completion object.
import {
  type Answer,
  answerReasoning,
  answerRefusal,
  answerText,
  answerToolCalls,
} from '../../answer.ts';
import type { Receipt, ReplyIdentity, ReplyOptions } from '../contract.ts';
import { hasAddress, urlCitation } from './citation.ts';
import { knowsFunctions, toolCall } from './functions.ts';
import { chatUsage, completionId } from './usage.ts';

export function wholeReply(
  identity: ReplyIdentity,
  { request }: ReplyOptions,
  answer: Answer,
  receipt: Receipt,
): Record<string, unknown> {
  const isOld = knowsFunctions(request.source.body);
  const reason = answer.finishReason ?? 'stop';
  const choice = {
    index: 0,
    logprobs: null,
    finish_reason: isOld && reason === 'tool_calls' ? 'function_call' : reason,
    ...answer.extra.choice,
    message: messageOf(answer, isOld),
  };
  return {
    id: completionId(identity.requestId),
    object: 'chat.completion',
    created: identity.createdAt,
    model: identity.model,
    choices: [choice],
    usage: chatUsage(receipt.usage),
    svc_usage: receipt.svcUsage,
    ...(receipt.svcRouting === null ? {} : { svc_routing: receipt.svcRouting }),
  };
}

function messageOf(answer: Answer, isOld: boolean): Record<string, unknown> {
  const calls = answerToolCalls(answer);
  const text = answerText(answer);
  const refusal = answerRefusal(answer);
  const reasoning = answerReasoning(answer);
  const citations = answer.items
    .flatMap((item) => (item.type === 'text' ? item.citations : []))
    .filter(hasAddress);
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
  };
  if (reasoning !== '') message.reasoning_content = reasoning;
  if (answer.items.some((item) => item.type === 'reasoning' && item.member !== undefined)) {
    message.reasoning = reasoning;
  }
  const { delta } = answer.extra;
  if (citations.length > 0) {
    const others = Array.isArray(delta.annotations) ? delta.annotations : [];
    message.annotations = [...citations.map(urlCitation), ...others];
  }
  const [first] = calls;
  if (first !== undefined && isOld) {
    message.function_call = { name: first.name, arguments: first.arguments };
  } else if (first !== undefined) {
    message.tool_calls = calls.map(toolCall);
  }
  return Object.keys(delta).length === 0 ? message : { ...delta, ...message };
}
