// The formats that clients speak and the families that upstreams speak: the axes of the table.
import type { ClientFormat } from './ask.ts';
import { chatClient } from './chat.ts';
import { legacyClient } from './legacy.ts';
import { messagesClient } from './messages.ts';
import type { UpstreamFamily } from './play.ts';
import { responsesClient } from './responses.ts';

export const formats: readonly ClientFormat[] = [
  chatClient,
  responsesClient,
  messagesClient,
  legacyClient,
];

export const families: readonly UpstreamFamily[] = [
  { name: 'chat', model: 'svc-sim-chat', refusesInWords: true },
  { name: 'gemini', model: 'svc-sim-gemini', refusesInWords: false },
  { name: 'responses', model: 'svc-sim-responses', refusesInWords: true },
  { name: 'messages', model: 'svc-sim-messages', refusesInWords: false },
];
