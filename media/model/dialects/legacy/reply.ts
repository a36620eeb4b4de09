// The legacy reply: what a whole reply is, and the data of the stream's `done`.
import { type Answer, answerToolCalls } from '../../answer.ts';
import type { Receipt, ReplyIdentity, ReplyOptions } from '../contract.ts';

export function legacyReply(
  identity: ReplyIdentity,
  options: Pick<ReplyOptions, 'request'>,
  answer: Answer,
  receipt: Receipt,
): Record<string, unknown> {
  const calls = answerToolCalls(answer);
  return {
    ok: true,
    request_id: publicRequestId(identity, options),
    model: identity.model,
    text: saidText(answer),
    finish_reason: answer.finishReason ?? 'stop',
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
    svc_usage: receipt.svcUsage,
    ...(receipt.svcRouting === null ? {} : { svc_routing: receipt.svcRouting }),
  };
}

/** The client's own, or the generated one: either finds the generation again. */
export function publicRequestId(
  identity: ReplyIdentity,
  { request }: Pick<ReplyOptions, 'request'>,
): string {
  const { request_id } = request.source.body;
  return typeof request_id === 'string' ? request_id : identity.requestId;
}

/** Refusals are text here: the format has no other place for them. */
function saidText(answer: Answer): string {
  let text = '';
  for (const item of answer.items) {
    if (item.type === 'text' || item.type === 'refusal') text += item.text;
  }
  return text;
}

function toolCall(call: { id: string; name: string; arguments: string }): unknown {
  const { id, name } = call;
  return { id, type: 'function', function: { name, arguments: call.arguments } };
}
