// How a response ended, in its own words: of one that is incomplete the reason, else its status.
import { isMembers, type Members } from '../../../transport/members.ts';

/** The word that says it. An unknown reason of an incomplete response is as good as none. */
export function endingOf({ status, incomplete_details: details }: Members): string {
  const reason = isMembers(details) ? details.reason : null;
  if (reason === 'content_filter') return reason;
  if (status === 'incomplete' || typeof reason === 'string') return 'incomplete';
  return typeof status === 'string' && status !== '' ? status : 'completed';
}
