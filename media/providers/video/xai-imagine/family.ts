// Grok Imagine: a request id that is polled, and a temporary address of the file. A failure is a
// 200, and a submission cannot be looked up.
import type { VideoFamily } from '../contract.ts';
import { readSubmission } from '../submission.ts';
import { errorForm, idIn } from './failure.ts';
import { readPoll } from './poll.ts';
import { encodePoll, encodeSubmit } from './request.ts';

export const xaiImagine: VideoFamily = {
  name: 'xai-imagine',
  pollMs: 5_000,
  encodeSubmit,
  readSubmit: (reply) => readSubmission(reply, { ...errorForm, idIn }),
  encodePoll,
  readPoll,
  list: null,
};
