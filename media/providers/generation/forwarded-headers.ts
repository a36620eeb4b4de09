// Headers of a client's request that a provider of the same format is to see: name → what it means,
// for the documentation of routes.
import type { WireFormat } from '../../model/request.ts';

type Headers = Readonly<Record<string, { description: string }>>;

/** What every client of Messages sends, also to paths that other formats have too. */
export const messagesVersionHeader = 'anthropic-version';

export const forwardedHeaders: Readonly<Record<WireFormat, Headers>> = {
  chat: {},
  responses: {},
  messages: {
    [messagesVersionHeader]: {
      description: 'Version of the format; 2023-06-01 when left out.',
    },
    'anthropic-beta': { description: 'Beta features, handed to providers of the same format.' },
  },
};
