// The Gemini family: generateContent of the Gemini API, in its own wire format.
import type { ProviderFamily } from '../contract.ts';
import { counting } from './counting.ts';
import { readFailure } from './failure.ts';
import { fit, lacks } from './fit.ts';
import { GeminiReader } from './reader.ts';
import { encodeRequest } from './request.ts';
import { constrains, leavesOut, unwatched } from './settings.ts';
import { emptyGeminiStream } from './stream.ts';

export const gemini: ProviderFamily = {
  name: 'gemini',
  format: null,
  // Not beside the client's tools.
  searches: ({ tools }) => tools.length === 0,
  counting,
  outputTokensMin: 1,
  unwatched,
  constrains,
  fit,
  lacks,
  leavesOut,
  encodeRequest,
  createReader: (clientFormat) => new GeminiReader(emptyGeminiStream(undefined, clientFormat)),
  readFailure,
};
