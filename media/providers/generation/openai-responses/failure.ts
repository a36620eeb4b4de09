// Errors of a Responses server → the neutral failure. Refusals by status have the same envelope as
// Chat's; inside a stream a code says what went wrong, flat or nested.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { saidFailure } from '../said-failure.ts';

export { readFailure } from '../openai-chat/failure.ts';

/** The members of an error that are told to the log. */
const told = ['code', 'message'];

/** An `error` event, or the `error` of a response that failed. */
export function streamFailure(error: unknown): UpstreamFailure {
  // The type of the flat event is that of the event.
  const { type, ...named } = isMembers(error) ? error : {};
  return saidFailure(type === 'error' ? named : error, told);
}

/** The error's own members: servers nest them, the published type is flat. */
export function errorOf(event: Members): unknown {
  return isMembers(event.error) ? event.error : event;
}
