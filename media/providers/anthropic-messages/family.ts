// The Anthropic Messages family: the vendor's API, and servers that speak it.
import type { ProviderFamily } from '../contract.ts';
import { counting } from './counting.ts';
import { readFailure } from './failure.ts';
import { MessagesReader } from './reader.ts';
import { constrains, encodeRequest, lacks } from './request.ts';

export const anthropicMessages: ProviderFamily = {
  name: 'anthropic-messages',
  format: 'messages',
  searches: () => true,
  counting,
  outputTokensMin: 1,
  constrains,
  lacks,
  encodeRequest,
  createReader: () => new MessagesReader(),
  readFailure,
};
