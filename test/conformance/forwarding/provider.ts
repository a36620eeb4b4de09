// A provider as the tests here see it: a call goes to the simulator, and its answer comes back
// without what differs from call to call.
import { type Answer, addToAnswer, emptyAnswer } from '../../../media/model/answer.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import type { TokenUsage } from '../../../media/model/usage.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { StopCut } from '../../../media/providers/generation/stops.ts';

export interface SimulatedFamily {
  name: string;
  basePath: string;
  upstreamModel: string;
}

export const simulatedFamilies: readonly SimulatedFamily[] = [
  {
    name: 'openai-chat',
    basePath: '/v1',
    upstreamModel: 'simulated-chat-large-2026-01-15',
  },
  {
    name: 'openai-responses',
    basePath: '/v1',
    upstreamModel: 'simulated-responses-large-2026-01-15',
  },
  {
    name: 'anthropic-messages',
    basePath: '/v1',
    upstreamModel: 'simulated-messages-large-2026-01-15',
  },
  {
    name: 'gemini',
    basePath: '/v1beta',
    upstreamModel: 'simulated-gemini-large-2026-01-15',
  },
];

export interface Heard {
  answer: Answer;
  usage: TokenUsage | null;
  failure: string | null;
}

/** Sends a request through a family, and reads the answer. */
export async function hear(
  { name, basePath, upstreamModel }: SimulatedFamily,
  simulatorUrl: string,
  request: GenerationRequest,
): Promise<Heard> {
  const family = requireFamily(name);
  const baseUrl = simulatorUrl + basePath;
  const target = { routeId: 'r', family: name, baseUrl, apiKey: null, upstreamModel };
  const outputTokensMax = Math.min(request.outputTokensMax ?? 64, 64);
  const options = { outputTokensMax, nativeSearch: false };
  const { url, method, headers, ...call } = family.encodeRequest(request, target, options);
  const body = JSON.stringify(call.body);
  const response = await fetch(url, { method, headers, body });
  const heard: Heard = { answer: emptyAnswer(), usage: null, failure: null };
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) {
    heard.failure = `${response.status} ${Buffer.from(bytes)} for ${body}`;
    return heard;
  }
  const reader = family.createReader();
  const stop = new StopCut(family.unwatched(request));
  for (const event of stop.keep([...reader.push(bytes), ...reader.end()])) take(heard, event);
  for (const item of heard.answer.items) {
    if (item.type === 'tool_call') item.id = '';
    if (item.type === 'reasoning') item.native = null;
  }
  heard.answer.extra = { delta: {}, choice: {} };
  return heard;
}

function take(heard: Heard, event: ModelEvent): void {
  if (event.type === 'failure') heard.failure = event.failure.detail;
  else if (event.type === 'usage') heard.usage = event.usage;
  else addToAnswer(heard.answer, event);
}
