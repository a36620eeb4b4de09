// The public formats as a load generator speaks them: path, request body, and how many events a
// stream has besides its tokens. Families are those of the simulator.
import type { Contender } from './contender.ts';
import type { Target } from './load/job.ts';

export const formats = ['chat', 'responses', 'messages'] as const;
export type Format = (typeof formats)[number];

export const families = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
] as const;
export type Family = (typeof families)[number];

export const formatPaths: Readonly<Record<Format, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

/** The family whose wire format a public format is. */
export const ownFamilies: Readonly<Record<Format, Family>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
};

/** The gateway's alias and the simulator's own name of a model of each family. */
export const familyModels: Readonly<Record<Family, { alias: string; upstream: string }>> = {
  'openai-chat': { alias: 'svc-sim-chat', upstream: 'simulated-chat-large-2026-01-15' },
  'openai-responses': {
    alias: 'svc-sim-responses',
    upstream: 'simulated-responses-large-2026-01-15',
  },
  'anthropic-messages': {
    alias: 'svc-sim-messages',
    upstream: 'simulated-messages-large-2026-01-15',
  },
  gemini: { alias: 'svc-sim-gemini', upstream: 'simulated-gemini-large-2026-01-15' },
};

/**
 * Events of a whole stream that are no token, at least: Chat has role, end and [DONE]; Responses
 * opens and closes response, item and part; Messages opens and closes message and block.
 */
export const framingEvents: Readonly<Record<Format, number>> = {
  chat: 3,
  responses: 8,
  messages: 5,
};

/** One request body of a format; nothing is asked for that only one side would have to do. */
export function bodyOf(format: Format, model: string, content: string, stream: boolean): string {
  const messages = [{ role: 'user', content }];
  // Padding against eavesdroppers is upstream's; the gateway never asks for it.
  const options = stream ? { stream_options: { include_obfuscation: false } } : {};
  switch (format) {
    case 'chat':
      return JSON.stringify({ model, stream, ...options, messages });
    case 'responses':
      return JSON.stringify({ model, stream, store: false, ...options, input: content });
    case 'messages':
      return JSON.stringify({ model, stream, max_tokens: 4_096, messages });
  }
}

/** One request of a contender in its format, with the simulator's orders in the user's text. */
export function formatTarget(contender: Contender, format: Format, orders: string): Target {
  const content = `[[sim ${orders}]] Please write one short line about relays.`;
  return {
    host: '127.0.0.1',
    port: contender.port,
    path: contender.path,
    headers: contender.headers,
    body: bodyOf(format, contender.model, content, true),
  };
}
