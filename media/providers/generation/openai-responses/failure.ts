// Errors of a Responses server → the neutral failure. Refusals by status have the same envelope as
// Chat's; inside a stream a code says what went wrong, flat or nested.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { plainFailure, withPlace } from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';

export { readFailure } from '../openai-chat/failure.ts';

/** The request itself is at fault, whoever is asked. */
const rejectedCodes = /^(invalid_|context_length|image_|unsupported_|empty_image|failed_to_down)/;

/** An `error` event, or the `error` of a response that failed. */
export function streamFailure(value: unknown): UpstreamFailure {
  const error = isMembers(value) ? value : {};
  const code = typeof error.code === 'string' ? error.code : '';
  const detail = [code, error.message ?? ''].map(wordOf).join(': ');
  const failure = plainFailure(kindOfCode(code), detail);
  return withUnpaid(withPlace(failure, error), error);
}

/** The error's own members: servers nest them, the published type is flat. */
export function errorOf(event: Members): unknown {
  return isMembers(event.error) ? event.error : event;
}

function kindOfCode(code: string): UpstreamFailure['kind'] {
  if (code.startsWith('rate_limit')) return 'busy';
  return rejectedCodes.test(code) ? 'rejected' : 'failed';
}
