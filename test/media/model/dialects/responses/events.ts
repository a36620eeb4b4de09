// Answers as neutral events, fixed and random, with an identity and a receipt to write them with.
import { type Answer, addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import type { Receipt } from '../../../../../media/model/dialects/contract.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import type { TokenUsage } from '../../../../../media/model/usage.ts';
import { isPlain } from '../../../../../runtime/http/json-pieces.ts';
import { fc } from '../../../../harness/properties.ts';
import { neutralRequest, replyOptions } from '../../../../harness/request.ts';

export const identity = {
  requestId: 'req_0123456789abcdef01234567',
  model: 'svc-sim-responses',
  createdAt: 1_795_000_000,
};

export const usage: TokenUsage = {
  inputTokens: 5,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  outputTokens: 7,
  reasoningTokens: 1,
  searchCalls: 0,
};

export const receipt: Receipt = {
  usage,
  svcUsage: {
    request_id: identity.requestId,
    model: identity.model,
    input_tokens: 5,
    cached_input_tokens: 3,
    cache_write_tokens: 2,
    output_tokens: 7,
    reasoning_tokens: 1,
    search_calls: 0,
    charge_microcredits: 42,
    wallet_type: 'personal',
    source: 'reported',
    credits_exhausted: false,
    replayed: false,
    simulated: true,
  },
  svcRouting: null,
};

export function text(value: string): ModelEvent {
  return { type: 'text', text: value, plain: isPlain(value) };
}

export function reasoning(value: string): ModelEvent {
  return { type: 'reasoning', text: value };
}

export const search = { type: 'web_search_call', id: 'ws_upstream', status: 'completed' };
export const searchItem = { ...search, action: { type: 'search', query: 'köln' } };

export const everything: ModelEvent[] = [
  { type: 'start' },
  reasoning('hm "so"'),
  { type: 'reasoning_end', format: 'responses', value: { id: 'rs_up', encrypted_content: 'x' } },
  { type: 'native', format: 'responses', value: searchItem },
  text('Grüße '),
  text('"quoted"\n🙂'),
  { type: 'citation', citation: { url: 'https://x.test', title: 'X', start: 0, end: 5 } },
  { type: 'refusal', text: 'not ' },
  { type: 'refusal', text: 'that' },
  { type: 'tool_call', index: 0, id: 'call_a', name: 'weather' },
  { type: 'tool_arguments', index: 0, text: '{"city":' },
  { type: 'tool_call', index: 1, id: 'call_b', name: 'clock' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'tool_arguments', index: 0, text: '"Köln"}' },
  { type: 'finish', reason: 'tool_calls' },
];

export function answerOf(events: readonly ModelEvent[]): Answer {
  const answer = emptyAnswer();
  for (const event of events) addToAnswer(answer, event);
  return answer;
}

/** A neutral request as this format reads it from a body. */
export function requestOf(body: Record<string, unknown> = {}): GenerationRequest {
  const source = { format: 'responses', body, headers: {}, rewritten: false } as const;
  return neutralRequest({ model: identity.model, source });
}

export interface EncodeOptions {
  body?: Record<string, unknown>;
  startingAfter?: number | null;
  batch?: number;
  between?: string;
}

/** The whole stream of a good answer. */
export function encode(events: readonly ModelEvent[], options: EncodeOptions = {}): string {
  const { body = {}, startingAfter = null, batch = 1, between = '' } = options;
  const request = requestOf(body);
  const asked = replyOptions({ includeUsage: true, request, startingAfter });
  const encoder = responsesDialect.encoder(identity, asked);
  let written = '';
  for (let at = 0; at < events.length; at += batch) {
    written += encoder.events(events.slice(at, at + batch)) + between;
  }
  return written + encoder.finish(receipt, answerOf(events));
}

export interface WireEvent extends Record<string, unknown> {
  type: string;
  sequence_number: number;
}

/** The events of a stream, each with the name that its `event:` line gives it. */
export function wireEvents(stream: string): { name: string; data: WireEvent }[] {
  const blocks = stream.split('\n\n').filter((block) => block !== '');
  return blocks.map((block) => {
    const lines = block.split('\n').filter((line) => !line.startsWith(':'));
    const name = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? '';
    const data = lines.find((line) => line.startsWith('data: '))?.slice(6) ?? 'null';
    return { name, data: JSON.parse(data) as WireEvent };
  });
}

const someText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom('"', '\\', '\u0000', '\ud800', 'event: x\ndata: {}\n\n', '\u2028'),
);

/** Events as readers give them: calls begin before their arguments, texts are not empty. */
export const someEvents: fc.Arbitrary<ModelEvent[]> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: someText.map((value) => [text(value)]) },
      someText.map((value): ModelEvent[] => [{ type: 'reasoning', text: value }]),
      someText.map((value): ModelEvent[] => [
        {
          type: 'reasoning_end',
          format: 'responses',
          value: { id: 'rs_u', encrypted_content: value },
        },
      ]),
      fc.constant<ModelEvent[]>([
        { type: 'reasoning_end', format: 'messages', value: { signature: 's' } },
      ]),
      someText.map((value): ModelEvent[] => [{ type: 'refusal', text: value }]),
      fc
        .tuple(fc.nat(3), someText)
        .map(([index, value]): ModelEvent[] => [{ type: 'tool_arguments', index, text: value }]),
      fc.constant<ModelEvent[]>([
        { type: 'citation', citation: { url: 'u', title: 't', start: null, end: null } },
      ]),
      fc
        .constantFrom('responses' as const, 'messages' as const)
        .map((format): ModelEvent[] => [{ type: 'native', format, value: searchItem }]),
    ),
    { maxLength: 30 },
  )
  .map((runs) => withCallsOpened(runs.flat()));

function withCallsOpened(events: ModelEvent[]): ModelEvent[] {
  const seen: number[] = [];
  const opened = events.flatMap((event): ModelEvent[] => {
    if (event.type !== 'tool_arguments') return [event];
    const known = seen.indexOf(event.index);
    if (known >= 0) return [{ ...event, index: known }];
    const index = seen.push(event.index) - 1;
    return [
      { type: 'tool_call', index, id: `call_${index}`, name: `f${index}` },
      { ...event, index },
    ];
  });
  return [{ type: 'start' }, ...opened];
}
