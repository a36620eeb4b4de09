// OpenAI's audio endpoints, and servers compatible with them.
import type { AudioFamily } from '../audio-contract.ts';
import { readFailure } from '../openai-chat/failure.ts';
import { encodeSpeech } from './speech.ts';
import { encodeTranscription, readTranscript } from './transcription.ts';

export const openaiAudio: AudioFamily = {
  name: 'openai-audio',
  encodeSpeech,
  encodeTranscription,
  readTranscript,
  readFailure,
};
