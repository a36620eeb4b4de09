// Chat Completions as a dialect: one public wire format.
import type { Dialect } from '../contract.ts';
import { readRequest } from './request.ts';
import type { ChatRequestBody } from './schema.ts';
import { ChatStreamEncoder } from './stream.ts';
import { wholeReply } from './whole.ts';

export const chatDialect: Dialect<ChatRequestBody> = {
  name: 'chat',
  // One newline only: a blank line after a comment breaks clients in the field.
  keepAlive: ': keep-alive\n',
  readRequest,
  encoder: (identity, options) => new ChatStreamEncoder(identity, options),
  whole: wholeReply,
};
