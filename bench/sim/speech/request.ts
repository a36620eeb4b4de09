// Reads what the simulator needs from a speech body, and refuses what the provider would.
import { type ChatError, invalidRequest, unknownModel } from '../chat/failure.ts';
import { type Directive, findDirective, withoutDirective } from '../directive.ts';
import { isMembers } from '../members.ts';
import { wordsOf } from './words.ts';

/** Ids with another name and length than any public alias. */
export const speechModels: readonly string[] = ['sim-tts-2026', 'sim-tts-hd-2026'];

const voices = [
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
];
const formats = ['mp3', 'wav', 'pcm'] as const;
const members = [
  'input',
  'instructions',
  'model',
  'response_format',
  'speed',
  'stream_format',
  'voice',
];
const inputCharactersMax = 4096;

export interface SpeechRequest {
  model: string;
  words: string[];
  format: (typeof formats)[number];
  speed: number;
  events: boolean;
  directive: Directive;
}

export function readSpeechRequest(body: unknown): SpeechRequest | { error: ChatError } {
  if (!isMembers(body)) {
    return { error: invalidRequest('We could not parse the JSON body of your request.', null) };
  }
  const strange = Object.keys(body).find((name) => !members.includes(name));
  if (strange !== undefined) {
    return { error: invalidRequest(`Unknown parameter: '${strange}'.`, strange) };
  }
  const { model, input, instructions } = body;
  if (typeof model !== 'string') {
    return { error: invalidRequest('you must provide a model parameter', 'model') };
  }
  if (!speechModels.includes(model)) return { error: unknownModel(model) };
  if (typeof input !== 'string' || input === '' || [...input].length > inputCharactersMax) {
    const message = `Invalid 'input': expected 1 to ${inputCharactersMax} characters.`;
    return { error: invalidRequest(message, 'input') };
  }
  const form = readForm(body);
  if ('error' in form) return form;
  const texts = [typeof instructions === 'string' ? instructions : null, input];
  const { directive } = findDirective(texts);
  return { model, words: wordsOf(withoutDirective(input)), directive, ...form };
}

type Form = Pick<SpeechRequest, 'format' | 'speed' | 'events'>;

function readForm(body: Record<string, unknown>): Form | { error: ChatError } {
  const { voice, speed = 1, response_format: asked = 'mp3', stream_format: stream } = body;
  const isVoice = typeof voice === 'string' ? voices.includes(voice) : isMembers(voice);
  if (!isVoice) return { error: invalidRequest(`Invalid 'voice': ${String(voice)}.`, 'voice') };
  if (typeof speed !== 'number' || !(speed >= 0.25 && speed <= 4)) {
    return { error: invalidRequest("Invalid 'speed': expected 0.25 to 4.", 'speed') };
  }
  const format = formats.find((name) => name === asked);
  if (format === undefined) {
    const message = `Invalid 'response_format': the simulator speaks ${formats.join(', ')}.`;
    return { error: invalidRequest(message, 'response_format') };
  }
  if (stream !== undefined && stream !== 'audio' && stream !== 'sse') {
    return { error: invalidRequest("Invalid 'stream_format'.", 'stream_format') };
  }
  return { format, speed, events: stream === 'sse' };
}
