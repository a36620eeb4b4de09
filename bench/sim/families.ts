// Every upstream family that the simulator speaks, in one list for each kind of connection.
import { chatFamily } from './chat/family.ts';
import type { SimFamily, SimSocketFamily } from './contract.ts';
import { geminiFamily } from './gemini/family.ts';
import { liveFamily } from './live/family.ts';
import { messagesFamily } from './messages/family.ts';
import { realtimeFamily } from './realtime/family.ts';
import { responsesFamily } from './responses/family.ts';
import { serperFamily } from './serper/family.ts';
import { speechFamily } from './speech/family.ts';
import { transcriptionFamily } from './transcription/family.ts';

export const families: readonly SimFamily[] = [
  chatFamily,
  messagesFamily,
  responsesFamily,
  geminiFamily,
  serperFamily,
  speechFamily,
  transcriptionFamily,
];

export const socketFamilies: readonly SimSocketFamily[] = [realtimeFamily, liveFamily];
