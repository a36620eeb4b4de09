// How a response ended, in its own words: of one that is incomplete the reason, else its status.
import { isMembers, type Members } from '../../../transport/members.ts';
import { isEnding } from '../endings.ts';

/** What says it, mostly a word. An unknown reason of an incomplete response is as good as none. */
export function endingOf({ status, incomplete_details: details }: Members): unknown {
  const reason = isMembers(details) ? details.reason : null;
  if (reason === 'content_filter') return reason;
  if (status === 'incomplete' || isEnding(reason)) return 'incomplete';
  return isEnding(status) ? status : 'completed';
}
