// Every upstream family that the simulator speaks, in one list for each kind of connection.
import { chatFamily } from './chat/family.ts';
import type { SimFamily, SimSocketFamily } from './contract.ts';
import { geminiFamily } from './gemini/family.ts';
import { imagineFamily } from './imagine/family.ts';
import { liveFamily } from './live/family.ts';
import { messagesFamily } from './messages/family.ts';
import { pagesFamily } from './pages/family.ts';
import { razorpayFamily } from './razorpay/family.ts';
import { realtimeFamily } from './realtime/family.ts';
import { responsesFamily } from './responses/family.ts';
import { searxngFamily } from './searxng/family.ts';
import { serpapiFamily } from './serpapi/family.ts';
import { serperFamily } from './serper/family.ts';
import { sourceFamily } from './source/family.ts';
import { speechFamily } from './speech/family.ts';
import { stripeFamily } from './stripe/family.ts';
import { tavilyFamily } from './tavily/family.ts';
import { transcriptionFamily } from './transcription/family.ts';
import { veoFamily } from './veo/family.ts';
import { videosFamily } from './videos/family.ts';

export const families: readonly SimFamily[] = [
  chatFamily,
  messagesFamily,
  responsesFamily,
  veoFamily,
  geminiFamily,
  imagineFamily,
  videosFamily,
  serperFamily,
  searxngFamily,
  tavilyFamily,
  serpapiFamily,
  speechFamily,
  transcriptionFamily,
  sourceFamily,
  razorpayFamily,
  stripeFamily,
  pagesFamily,
];

export const socketFamilies: readonly SimSocketFamily[] = [realtimeFamily, liveFamily];
