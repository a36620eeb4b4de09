// finishReason and blockReason of generateContent → the neutral reason. A call that the model wrote
// badly is no end but a failure: there is no answer, and another attempt may give one.
import type { FinishReason } from '../../../model/events.ts';

const failures: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'TOO_MANY_TOOL_CALLS',
  'UNEXPECTED_TOOL_CALL',
]);

export function isFailedFinish(reason: string): boolean {
  return failures.has(reason);
}

export function readFinishReason(reason: string, toolCalled: boolean): FinishReason {
  switch (reason) {
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'LANGUAGE':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
      return 'content_filter';
    default:
      return toolCalled ? 'tool_calls' : 'stop';
  }
}
