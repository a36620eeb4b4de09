// The format of OpenAI's videos, which lives on in servers of others (SGLang, vLLM-Omni). They take
// a seed and a switch for sound, and their list tells which submission was taken.
import type { VideoFamily } from '../contract.ts';
import { readSubmission } from '../submission.ts';
import { errorForm, idIn } from './failure.ts';
import { encodeList, readList } from './list.ts';
import { readPoll } from './poll.ts';
import { encodePoll, encodeSubmit } from './request.ts';

export const openaiVideos: VideoFamily = {
  name: 'openai-videos',
  pollMs: 5_000,
  encodeSubmit,
  readSubmit: (reply) => readSubmission(reply, { ...errorForm, idIn }),
  encodePoll,
  readPoll,
  list: { encode: encodeList, read: readList },
};
