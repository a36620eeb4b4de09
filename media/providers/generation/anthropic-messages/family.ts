// The Anthropic Messages family: the vendor's API, and servers that speak it.
import type { ProviderFamily } from '../contract.ts';
import { counting } from './counting.ts';
import { readFailure } from './failure.ts';
import { fit, lacks } from './fit.ts';
import { MessagesReader } from './reader.ts';
import { constrains, encodeRequest, searchName } from './request.ts';
import { leavesOut, unwatched } from './settings.ts';

export const anthropicMessages: ProviderFamily = {
  name: 'anthropic-messages',
  format: 'messages',
  // A name is given once, and a function of the client's may have it.
  searches: ({ tools }) => tools.every(({ name }) => name !== searchName),
  counting,
  outputTokensMin: 1,
  unwatched,
  constrains,
  fit,
  lacks,
  leavesOut,
  encodeRequest,
  createReader: (clientFormat) => new MessagesReader(clientFormat),
  readFailure,
};
