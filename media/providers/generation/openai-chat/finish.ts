// Why an answer ended, in the words of servers that tell it.
import { isMembers, type Members } from '../../../transport/members.ts';

/** What ends the answer, a word as a rule: SGLang's own is the type of an object. */
export function reasonOf({ finish_reason: reason }: Members): unknown {
  return isMembers(reason) && typeof reason.type === 'string' ? reason.type : reason;
}

/**
 * Which stop sequence ended the answer, where a server tells it: vLLM's `stop_reason` (vllm#2976),
 * SGLang's `matched_stop`. A number there is a token.
 */
export function readStopSequence({ stop_reason, matched_stop }: Members): string | null {
  const told = stop_reason ?? matched_stop;
  return typeof told === 'string' && told !== '' ? told : null;
}
