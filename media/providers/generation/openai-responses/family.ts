// The OpenAI Responses family: servers of that wire format.
import type { ProviderFamily } from '../contract.ts';
import { readFailure } from './failure.ts';
import { fit, lacks } from './fit.ts';
import { ResponsesReader } from './reader.ts';
import { counting, encodeRequest, leavesOut, outputTokensMin } from './request.ts';

export const openaiResponses: ProviderFamily = {
  name: 'openai-responses',
  format: 'responses',
  searches: () => true,
  counting,
  outputTokensMin,
  unwatched: ({ sampling }) => sampling.stop,
  constrains: () => true,
  fit,
  lacks,
  leavesOut,
  encodeRequest,
  createReader: (clientFormat) => new ResponsesReader(clientFormat),
  readFailure,
};
