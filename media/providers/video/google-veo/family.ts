// Veo of the Gemini developer API: an operation that is polled, and a file that is fetched with the
// key. It refuses a seed and an audio switch, and its submissions cannot be looked up.
import type { VideoFamily } from '../contract.ts';
import { readSubmission } from '../submission.ts';
import { errorForm, idIn } from './failure.ts';
import { readPoll } from './poll.ts';
import { encodePoll, encodeSubmit } from './request.ts';

export const googleVeo: VideoFamily = {
  name: 'google-veo',
  pollMs: 10_000,
  encodeSubmit,
  readSubmit: (reply) => readSubmission(reply, { ...errorForm, idIn }),
  encodePoll,
  readPoll,
  list: null,
};
