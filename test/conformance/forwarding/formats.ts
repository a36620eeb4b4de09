// The formats of clients with their random bodies, and the family that speaks the same format.
import type fc from 'fast-check';
import * as v from 'valibot';
import { chatDialect } from '../../../media/model/dialects/chat/dialect.ts';
import { chatRequestSchema } from '../../../media/model/dialects/chat/schema.ts';
import { messagesDialect } from '../../../media/model/dialects/messages/dialect.ts';
import { messagesRequestSchema } from '../../../media/model/dialects/messages/schema.ts';
import { responsesDialect } from '../../../media/model/dialects/responses/dialect.ts';
import { responsesRequestSchema } from '../../../media/model/dialects/responses/schema.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import type { Members } from './bodies.ts';
import { chatBody } from './chat.ts';
import { messagesBody } from './messages.ts';
import { responsesBody } from './responses.ts';

export interface RandomFormat {
  name: string;
  family: string;
  body: fc.Arbitrary<Members>;
  read(body: Members): GenerationRequest;
}

export const randomFormats: readonly RandomFormat[] = [
  {
    name: 'Chat Completions',
    family: 'openai-chat',
    body: chatBody,
    read: (body) => chatDialect.readRequest(v.parse(chatRequestSchema, body), {}),
  },
  {
    name: 'Responses',
    family: 'openai-responses',
    body: responsesBody,
    read: (body) => responsesDialect.readRequest(v.parse(responsesRequestSchema, body), {}),
  },
  {
    name: 'Messages',
    family: 'anthropic-messages',
    body: messagesBody,
    read: (body) => messagesDialect.readRequest(v.parse(messagesRequestSchema, body), {}),
  },
];
