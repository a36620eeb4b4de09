// finish_reason of Chat Completions, and of servers that speak it their own way → the neutral
// reason.
import type { FinishReason } from '../../../model/events.ts';
import type { Members } from '../../../transport/members.ts';

export function readFinishReason(reason: string, toolCalled: boolean): FinishReason {
  switch (reason) {
    case 'length':
    case 'tool_calls':
    case 'content_filter':
      return reason;
    case 'function_call':
      return 'tool_calls';
    case 'max_tokens':
    case 'model_length':
      return 'length';
    // `stop` too: the vendor says it of a call that `tool_choice` names.
    default:
      return toolCalled ? 'tool_calls' : 'stop';
  }
}

/**
 * Which stop sequence ended the answer, where a server tells it: vLLM's `stop_reason` (vllm#2976),
 * SGLang's `matched_stop`. A number there is a token.
 */
export function readStopSequence({ stop_reason, matched_stop }: Members): string | null {
  const told = stop_reason ?? matched_stop;
  return typeof told === 'string' && told !== '' ? told : null;
}
