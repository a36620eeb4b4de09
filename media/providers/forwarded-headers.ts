// Headers of a client's request that a provider of the same format is to see: name → what it means,
// for the documentation of routes.
import type { WireFormat } from '../model/request.ts';

type Headers = Readonly<Record<string, { description: string }>>;

export const forwardedHeaders: Readonly<Record<WireFormat, Headers>> = {
  chat: {},
  responses: {},
  messages: {
    'anthropic-version': { description: 'Version of the format; 2023-06-01 when left out.' },
    'anthropic-beta': { description: 'Beta features, handed to providers of the same format.' },
  },
};
