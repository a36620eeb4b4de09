// OpenAI's audio endpoints, and servers compatible with them.
import { readFailure } from '../../generation/openai-chat/failure.ts';
import type { AudioFamily } from '../contract.ts';
import { encodeSpeech } from './speech.ts';
import { encodeTranscription, readTranscript } from './transcription.ts';

export const openaiAudio: AudioFamily = {
  name: 'openai-audio',
  encodeSpeech,
  encodeTranscription,
  readTranscript,
  readFailure,
};
