// Anthropic's Messages as a dialect: one public wire format.
import type { Dialect } from '../contract.ts';
import { readRequest } from './request.ts';
import type { MessagesRequestBody } from './schema.ts';
import { MessagesStreamEncoder, pingEvent } from './stream.ts';
import { wholeReply } from './whole.ts';

export const messagesDialect: Dialect<MessagesRequestBody> = {
  name: 'messages',
  keepAlive: pingEvent,
  readRequest,
  encoder: (identity, options) => new MessagesStreamEncoder(identity, options),
  whole: wholeReply,
};
