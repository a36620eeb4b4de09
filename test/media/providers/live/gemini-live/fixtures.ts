// Streams of a Gemini Live server, written by hand from the published types of npm `@google/genai`
// and reports of its users. No recording of the service.
import type { LiveEvent } from '../../../../../media/providers/live/contract.ts';
import { type Message, pcm, summary } from '../streams.ts';

export const setupComplete: Message = { setupComplete: {} };

export function content(members: Message, more: Message = {}): Message {
  return { serverContent: members, ...more };
}

export function audio(bytes: Buffer, mimeType = 'audio/pcm;rate=24000'): Message {
  const inlineData = { mimeType, data: bytes.toString('base64') };
  return content({ modelTurn: { role: 'model', parts: [{ inlineData }] } });
}

export const heard = (text: string): Message => content({ inputTranscription: { text } });
export const said = (text: string): Message => content({ outputTranscription: { text } });
export const interrupted = content({ interrupted: true });
export const generationComplete = content({ generationComplete: true });

export function usageOf(prompt: number, response: number): Message {
  return {
    promptTokenCount: prompt,
    responseTokenCount: response,
    totalTokenCount: prompt + response,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 10 },
      { modality: 'AUDIO', tokenCount: prompt - 10 },
    ],
    responseTokensDetails: [{ modality: 'AUDIO', tokenCount: response }],
  };
}

export function usageEvent(prompt: number, response: number): LiveEvent {
  return {
    type: 'usage',
    usage: {
      inputSpeechTokens: prompt - 10,
      inputTextTokens: 10,
      outputSpeechTokens: response,
      outputTextTokens: 0,
    },
  };
}

export function turnComplete(prompt = 30, response = 50, more: Message = {}): Message {
  const usageMetadata = usageOf(prompt, response);
  return content({ turnComplete: true, ...more }, { usageMetadata });
}

export const spoken: Message[] = [
  heard(' Hel'),
  heard('lo.'),
  audio(pcm(1)),
  said(' Hi'),
  audio(pcm(2)),
  audio(pcm(3)),
  { sessionResumptionUpdate: { newHandle: 'h', resumable: true } },
  said(' there.'),
  generationComplete,
  turnComplete(),
];

export const spokenEvents: unknown[] = summary([
  { type: 'speech_started' },
  { type: 'transcript', role: 'user', itemId: 'user_0', text: ' Hel', final: false },
  { type: 'transcript', role: 'user', itemId: 'user_0', text: 'lo.', final: false },
  { type: 'speech_stopped' },
  { type: 'answer_started', itemId: 'answer_1' },
  { type: 'audio', itemId: 'answer_1', pcm: pcm(1) },
  { type: 'transcript', role: 'assistant', itemId: 'answer_1', text: ' Hi', final: false },
  { type: 'audio', itemId: 'answer_1', pcm: pcm(2) },
  { type: 'audio', itemId: 'answer_1', pcm: pcm(3) },
  { type: 'transcript', role: 'assistant', itemId: 'answer_1', text: ' there.', final: false },
  { type: 'transcript', role: 'user', itemId: 'user_0', text: ' Hello.', final: true },
  { type: 'audio_done', itemId: 'answer_1' },
  usageEvent(30, 50),
  { type: 'transcript', role: 'assistant', itemId: 'answer_1', text: ' Hi there.', final: true },
  { type: 'answer_done', outcome: 'completed' },
]);
