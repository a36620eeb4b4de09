// The OpenAI-compatible Chat Completions family: any server with that wire format, local runners
// too.
import type { ProviderFamily } from '../contract.ts';
import { readFailure } from './failure.ts';
import { fit, lacks } from './fit.ts';
import { ChatReader } from './reader.ts';
import { encodeRequest, leavesOut } from './request.ts';
import { unwatched } from './translate.ts';

export const openaiChat: ProviderFamily = {
  name: 'openai-chat',
  format: 'chat',
  searches: () => true,
  counting: null,
  outputTokensMin: 1,
  unwatched,
  constrains: () => true,
  fit,
  lacks,
  leavesOut,
  encodeRequest,
  createReader: (clientFormat, server) => new ChatReader(clientFormat, server),
  readFailure,
};
