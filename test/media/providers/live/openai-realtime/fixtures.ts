// Streams of an OpenAI Realtime server, written by hand from the published types of npm `openai`
// (GA names), in the order that the documentation shows. No recording of the service.
import type { LiveEvent } from '../../../../../media/providers/live/contract.ts';
import { type Message, pcm, summary } from '../streams.ts';

let eventCount = 0;

export function event(type: string, members: Message = {}): Message {
  eventCount += 1;
  return { type, event_id: `event_${eventCount}`, ...members };
}

export const sessionCreated = () => event('session.created', { session: { id: 'sess_1' } });
export const sessionUpdated = () => event('session.updated', { session: { id: 'sess_1' } });

export function delta(item: string, bytes: Buffer, response = 'resp_1'): Message {
  return event('response.output_audio.delta', {
    response_id: response,
    item_id: item,
    output_index: 0,
    content_index: 0,
    delta: bytes.toString('base64'),
  });
}

export const speechStarted = () =>
  event('input_audio_buffer.speech_started', { audio_start_ms: 300, item_id: 'item_user' });
export const speechStopped = () =>
  event('input_audio_buffer.speech_stopped', { audio_end_ms: 1400, item_id: 'item_user' });

export const created = (id = 'resp_1') =>
  event('response.created', {
    response: { id, object: 'realtime.response', status: 'in_progress' },
  });

export const itemAdded = (item: string, response = 'resp_1') =>
  event('response.output_item.added', {
    response_id: response,
    output_index: 0,
    item: { id: item, object: 'realtime.item', type: 'message', role: 'assistant', content: [] },
  });

export const usage = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 64, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

export const usageEvent: LiveEvent = {
  type: 'usage',
  usage: {
    inputSpeechTokens: 13,
    inputTextTokens: 119,
    outputSpeechTokens: 91,
    outputTextTokens: 30,
  },
};

export function done(status = 'completed', members: Message = {}, id = 'resp_1'): Message {
  const response = { id, object: 'realtime.response', status, output: [], usage, ...members };
  return event('response.done', { response });
}

export const functionCall = (callId: string, name: string, args: string, response = 'resp_1') => [
  event('response.function_call_arguments.done', {
    response_id: response,
    item_id: `item_${callId}`,
    output_index: 0,
    call_id: callId,
    name,
    arguments: args,
  }),
  event('response.output_item.done', {
    response_id: response,
    output_index: 0,
    item: {
      id: `item_${callId}`,
      object: 'realtime.item',
      type: 'function_call',
      status: 'completed',
      call_id: callId,
      name,
      arguments: args,
    },
  }),
];

function spokenTurn(item: string): Message[] {
  const ids = { response_id: 'resp_1', item_id: item, output_index: 0, content_index: 0 };
  const part = { type: 'audio', transcript: '' };
  return [
    speechStarted(),
    speechStopped(),
    event('input_audio_buffer.committed', { previous_item_id: null, item_id: 'item_user' }),
    event('conversation.item.added', { item: { id: 'item_user', type: 'message', role: 'user' } }),
    created(),
    event('rate_limits.updated', { rate_limits: [{ name: 'tokens', limit: 1, remaining: 1 }] }),
    itemAdded(item),
    event('response.content_part.added', { ...ids, part }),
    event('response.output_audio_transcript.delta', { ...ids, delta: 'Hi' }),
    delta(item, pcm(1)),
    event('response.output_audio_transcript.delta', { ...ids, delta: ' there.' }),
    delta(item, pcm(2)),
    event('conversation.item.input_audio_transcription.delta', {
      item_id: 'item_user',
      content_index: 0,
      delta: 'Hel',
    }),
    event('response.output_audio.done', ids),
    event('response.output_audio_transcript.done', { ...ids, transcript: 'Hi there.' }),
    event('response.content_part.done', { ...ids, part }),
    event('response.output_item.done', {
      ...ids,
      item: { id: item, type: 'message', role: 'assistant', content: [] },
    }),
    done(),
    event('conversation.item.input_audio_transcription.completed', {
      item_id: 'item_user',
      content_index: 0,
      transcript: 'Hello.',
      usage: { type: 'tokens', input_tokens: 9, output_tokens: 2, total_tokens: 11 },
    }),
  ];
}

export const spoken = spokenTurn('item_1');

export const spokenEvents: unknown[] = summary([
  { type: 'speech_started' },
  { type: 'speech_stopped' },
  { type: 'answer_started', itemId: 'item_1' },
  { type: 'transcript', role: 'assistant', itemId: 'item_1', text: 'Hi', final: false },
  { type: 'audio', itemId: 'item_1', pcm: pcm(1) },
  { type: 'transcript', role: 'assistant', itemId: 'item_1', text: ' there.', final: false },
  { type: 'audio', itemId: 'item_1', pcm: pcm(2) },
  { type: 'transcript', role: 'user', itemId: 'item_user', text: 'Hel', final: false },
  { type: 'audio_done', itemId: 'item_1' },
  { type: 'transcript', role: 'assistant', itemId: 'item_1', text: 'Hi there.', final: true },
  usageEvent,
  { type: 'answer_done', outcome: 'completed' },
  { type: 'transcript', role: 'user', itemId: 'item_user', text: 'Hello.', final: true },
]);

const betaNames: Record<string, string> = {
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
  'conversation.item.added': 'conversation.item.created',
};

export function withBetaName(message: Message): Message {
  const { type } = message;
  return { ...message, type: betaNames[String(type)] ?? type };
}
