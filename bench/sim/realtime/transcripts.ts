// Input transcripts of a Realtime session: they are owed until it is their moment.
import { countWords } from '../answer.ts';
import type { Item } from './items.ts';
import type { Outlet } from './outlet.ts';

const event = 'conversation.item.input_audio_transcription';

export class Transcripts {
  #owed: { item: Item; text: string }[] = [];

  owe(item: Item, text: string): void {
    this.#owed.push({ item, text });
  }

  tell(outlet: Outlet, isFailed: boolean): void {
    for (const { item, text } of this.#owed) {
      if (isFailed) fail(outlet, item);
      else sendOne(outlet, item, text);
    }
    this.#owed = [];
  }
}

function fail(outlet: Outlet, item: Item): void {
  const error = {
    type: 'transcription_error',
    code: 'audio_unintelligible',
    message: 'The audio could not be transcribed.',
  };
  outlet.emit(`${event}.failed`, { item_id: item.id, content_index: 0, error });
}

function sendOne(outlet: Outlet, item: Item, text: string): void {
  const ids = { item_id: item.id, content_index: 0 };
  for (const delta of text.split(/(?= )/)) outlet.emit(`${event}.delta`, { ...ids, delta });
  const words = countWords(text);
  const usage = {
    type: 'tokens',
    total_tokens: item.audioTokens + words,
    input_tokens: item.audioTokens,
    input_token_details: { text_tokens: 0, audio_tokens: item.audioTokens },
    output_tokens: words,
  };
  outlet.emit(`${event}.completed`, { ...ids, transcript: text, usage });
}
